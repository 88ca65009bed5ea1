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
from synaptum.schema.foreign import is_foreign_model

__all__ = ["to_plain"]


def to_plain(value: Any, *, sets: bool = False) -> Any:
    """Plain JSON of a value; it may still hold a NaN, which `canonical.encode` refuses.

    Args:
        value: what to turn into JSON.
        sets: write sets as arrays sorted by their canonical text; refused otherwise, because
            a set has no order and a journal must not depend on one.

    Raises:
        EncodingError: a value, or a key, has no JSON form, or the nesting has no end; the
            message names path and type.
    """
    return _plain(value, "$", 0, sets=sets)


def _plain(value: Any, path: str, depth: int, *, sets: bool) -> Any:
    if depth > canonical.MAX_DEPTH:
        limit, place = str(canonical.MAX_DEPTH), f"{path[:60]}…"
        msg = f"The value is nested deeper than {limit} levels at {place}."
        raise EncodingError(msg, "too_deep", limit=limit, path=place)
    if isinstance(value, enum.Enum):
        return _plain(value.value, path, depth + 1, sets=sets)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, uuid.UUID | decimal.Decimal | pathlib.PurePath):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = [member.name for member in dataclasses.fields(value) if member.init]
        return {
            name: _plain(getattr(value, name), f"{path}.{name}", depth + 1, sets=sets)
            for name in members
        }
    if is_foreign_model(type(value)):
        return _dumped(value, path)
    if isinstance(value, Mapping):
        return {
            _key(key, path): _plain(inner, f"{path}.{key}", depth + 1, sets=sets)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            _plain(inner, f"{path}[{index}]", depth + 1, sets=sets)
            for index, inner in enumerate(value)
        ]
    if sets and isinstance(value, set | frozenset):
        plain = [_plain(inner, path, depth + 1, sets=True) for inner in value]
        return sorted(plain, key=canonical.encode)
    if isinstance(value, set | frozenset):
        msg = f"The value at {path} is a set, which has no order: return a sorted list instead."
        raise EncodingError(msg, "set", path=path)
    kind = type(value).__name__
    msg = f"The value at {path} is a {kind}, which JSON has no form for."
    raise EncodingError(msg, "type", path=path, type=kind)


def _dumped(model: Any, path: str) -> Any:
    try:
        return model.model_dump(mode="json")
    except Exception as error:  # a member that Pydantic cannot serialise
        kind = type(model).__name__
        msg = f"The {kind} at {path} gives no JSON: {error}"
        raise EncodingError(msg, "model", path=path, type=kind, reason=str(error)) from None


def _key(key: Any, path: str) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if not isinstance(key, str):
        kind = type(key).__name__
        msg = f"The key {key!r} at {path} is a {kind}; JSON names are strings."
        raise EncodingError(msg, "key", key=repr(key), path=path, type=kind)
    return key
