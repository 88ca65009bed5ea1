"""Bytes and event data to JSON, tolerantly where servers stray and never losing a number.

`NaN` and `Infinity` (no JSON, but written by servers in Python) and floats beyond range come
out as their own text, so that what is kept of an answer can still be journalled.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import NetworkError, ProviderError
from synaptum.providers.openai_compatible.failures import NAME, snippet

__all__ = ["DONE", "decode_body", "decode_event"]

#: What `[DONE]` decodes to: the server's own word that its stream is whole.
DONE: Final[Mapping[str, Any]] = MappingProxyType({})


def _float(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


_decoder = json.JSONDecoder(parse_float=_float, parse_constant=str)


def _decode(text: str) -> Any:
    value = _decoder.decode(text)
    # Only a text with that many brackets can be nested so deep: the walk is rarely needed.
    if text.count("{") + text.count("[") > canonical.MAX_DEPTH and not canonical.is_plain(value):
        raise RecursionError
    return value


def decode_body(body: bytes) -> dict[str, Any]:
    """A whole body as a JSON object.

    Raises:
        ProviderError: it is empty, a page, or other text, of which a short part is quoted, or a
            damaged answer, which is not.
    """
    text = body.decode("utf-8-sig", "replace")
    try:
        value = _decode(text)
    except (ValueError, RecursionError) as error:
        msg = f"The server's answer is no JSON: {_described(text, error)}."
        raise ProviderError(msg, provider=NAME) from None
    if not isinstance(value, dict):
        msg = f"The server's answer is JSON, but no object: {_kind(value)}."
        raise ProviderError(msg, provider=NAME)
    return value


def decode_event(data: str) -> Mapping[str, Any]:
    """The data of one server-sent event as a chunk; `[DONE]` gives `DONE`.

    Raises:
        NetworkError: the JSON stops in its middle: the connection was lost in this event.
        ProviderError: it is no JSON object.
    """
    if data.strip() == "[DONE]":
        return DONE
    try:
        value = _decode(data)
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and _is_torn(data, error):
            msg = f"The stream broke off inside an event, after {len(data)} characters of it."
            raise NetworkError(msg) from None
        msg = f"An event of the stream is no JSON: {_described(data, error)}."
        raise ProviderError(msg, provider=NAME) from None
    if not isinstance(value, dict):
        msg = f"An event of the stream is JSON, but no object: {_kind(value)}."
        raise ProviderError(msg, provider=NAME)
    return value


def _described(text: str, error: Exception) -> str:
    """What was found in place of JSON. A page is quoted; what began as an answer may be private."""
    if text.lstrip()[:1] not in ("{", "["):
        return snippet(text.encode("utf-8", "replace"))
    where = "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        where = f"wrong at character {error.pos}"
    return f"{len(text)} characters that begin like it, {where}"


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return snippet(value.encode("utf-8", "replace"))
    return f"a list of {len(value)}" if isinstance(value, list) else canonical.encode(value)


def _is_torn(data: str, error: json.JSONDecodeError) -> bool:
    """Whether the text is the beginning of an object whose rest is missing."""
    if not data.lstrip().startswith("{"):
        return False
    rest = data[error.pos :].strip()
    # Nothing left, a string that never closes, or a literal or escape that was cut.
    return (
        not rest or error.msg.startswith(("Unterminated string", "Invalid \\")) or "}" not in rest
    )
