"""What a tool returned, as a `ToolResult`.

A string stands as it is, None is `""`, content parts stand as they are; a dataclass, dict,
list, number, boolean, enum or Pydantic model becomes canonical JSON, and its plain value is
kept as `structured`. Anything else is an error result naming the type, never a `repr`.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

from synaptum import canonical
from synaptum.errors import EncodingError
from synaptum.schema.dump import to_plain
from synaptum.schema.foreign import is_foreign_model
from synaptum.tools.base import unwritable
from synaptum.vocabulary import Audio, Document, Image, ResultPart, Text, ToolResult
from synaptum.wording import current_wording

__all__ = ["result_of"]

_PARTS = (Text, Image, Audio, Document)


def result_of(call_id: str, name: str, value: Any) -> ToolResult:
    """The result of the tool `name` that returned `value`."""
    if isinstance(value, ToolResult):
        return dataclasses.replace(value, call_id=call_id)
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None:
        return ToolResult.of(call_id, "")
    if isinstance(value, str):
        return ToolResult.of(call_id, str(value))
    parts = _parts(value)
    if parts is not None:
        return ToolResult(call_id, parts)
    if not _has_json_form(value):
        return _refused(call_id, name, type(value).__name__)
    try:
        plain = to_plain(value)
        text = canonical.encode(plain)
    except EncodingError as error:
        return _refused(call_id, name, type(value).__name__, unwritable(error))
    return ToolResult(call_id, (Text(text),), structured=plain)


def _parts(value: Any) -> tuple[ResultPart, ...] | None:
    if isinstance(value, _PARTS):
        return (value,)
    if (
        isinstance(value, list | tuple)
        and any(isinstance(item, _PARTS) for item in value)
        and all(isinstance(item, (*_PARTS, str)) for item in value)
    ):
        return tuple(Text(item) if isinstance(item, str) else item for item in value)
    return None


def _has_json_form(value: Any) -> bool:
    return (
        isinstance(value, bool | int | float | Mapping | list | tuple)
        or (dataclasses.is_dataclass(value) and not isinstance(value, type))
        or is_foreign_model(type(value))
    )


def _refused(call_id: str, name: str, type_name: str, detail: str = "") -> ToolResult:
    text = current_wording().tool_returned_unusable.format(name=name, type=type_name)
    return ToolResult.of(call_id, f"{text} {detail}".rstrip(), is_error=True)
