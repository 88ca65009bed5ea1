"""Python values to plain JSON: the inverse of `coerce`.

Takes what shapes stand for: dataclasses, enums, dates, UUIDs, decimals, paths, Pydantic
models and containers of these. Dictionaries keep their order; nothing is guessed.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from collections.abc import Mapping
from typing import Any

from synaptum import canonical
from synaptum.errors import EncodingError
from synaptum.schema.reader import is_foreign_model

__all__ = ["to_plain"]


def to_plain(value: Any, *, sets: bool = False, path: str = "$") -> Any:
    """Plain JSON of a value; it may still hold a NaN, which `canonical.encode` refuses.

    Args:
        value: what to turn into JSON.
        sets: write sets as arrays sorted by their canonical text; refused otherwise, because
            a set has no order and a journal must not depend on one.
        path: where this value stands, for the error.

    Raises:
        EncodingError: a value, or a key, has no JSON form; the message names path and type.
    """
    if isinstance(value, enum.Enum):
        return to_plain(value.value, sets=sets, path=path)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, uuid.UUID | decimal.Decimal | pathlib.PurePath):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            member.name: to_plain(
                getattr(value, member.name), sets=sets, path=f"{path}.{member.name}"
            )
            for member in dataclasses.fields(value)
            if member.init
        }
    if is_foreign_model(type(value)):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {
            _key(key, path): to_plain(inner, sets=sets, path=f"{path}.{key}")
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            to_plain(inner, sets=sets, path=f"{path}[{index}]") for index, inner in enumerate(value)
        ]
    if sets and isinstance(value, set | frozenset):
        return sorted((to_plain(inner, sets=True, path=path) for inner in value), key=_order)
    msg = f"The value at {path} is a {type(value).__name__}, which JSON has no form for."
    if isinstance(value, set | frozenset):
        msg = f"The value at {path} is a set, which has no order: return a sorted list instead."
    raise EncodingError(msg)


def _key(key: Any, path: str) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if not isinstance(key, str):
        msg = f"The key {key!r} at {path} is a {type(key).__name__}; JSON names are strings."
        raise EncodingError(msg)
    return key


def _order(value: Any) -> str:
    return canonical.encode(value)
