"""Errors as servers tell them: many shapes, one `ProviderError`.

Shapes read (seen in recorded exchanges unless marked): `{"error": {...}}` with a code that
is a number, a word or null; `{"error": "text"}` (Venice); `{"detail": ...}` (Mistral);
flat `{"object": "error", "message": ...}` (Mistral) and `{"code", "message", "type"}`
(Doubleword); an empty body; an HTML page (public reports); plain text.

No message quotes a key: servers echo them ("Incorrect API key provided: ..."), so what
looks like one is taken out. No message quotes more than `_LONGEST` characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from synaptum.errors import ProviderError, is_retryable_status
from synaptum.providers.openai_compatible.vocabulary import RETRYABLE_CODES, UNPAYABLE_CODES

__all__ = ["NAME", "error_from_status", "error_in", "snippet"]

#: The provider's name, as errors carry it.
NAME: Final = "openai-compatible"

#: Longest piece of a server's own words in a message, in characters: a paragraph.
_LONGEST: Final = 500

_SECRET: Final = re.compile(
    r"""(?ix)
    (?: \b(?:sk|pk|rk|gsk|xai|pplx|hf|csk|fw|nvapi|key)[-_][\w*.\-]{3,}   # prefixed keys
      | \bsk-                                                            # a cut one
      | \bAIza[\w\-]{10,}
      | \beyJ[\w\-]{8,}(?:\.[\w\-]+)*                                     # JSON web tokens
      | (?<=bearer\s)[^\s"'<>]+
      | (?<=api\skey\sprovided:\s)(?!bearer\s)[^\s"'<>,]+
      | (?<=api\skey:\s)(?!bearer\s)[^\s"'<>,]+
      | (?<=api_key=)[^\s"'<>&]+
      | \b[A-Za-z0-9_\-]{0,8}\*{3,}[A-Za-z0-9_\-]*                        # half-masked ones
    )"""
)
_IGNORED_HTML: Final = re.compile(r"(?is)<(script|style|head)\b.*?(</\1>|$)")
_TITLE: Final = re.compile(r"(?is)<title[^>]*>(.{0,300}?)</title>")
_TAG: Final = re.compile(r"<[^>]{0,1000}>")
#: How much of a body is looked at for a message, in bytes.
_READ: Final = 20_000


def error_from_status(
    status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> ProviderError:
    """The error that an HTTP answer with this status tells.

    Args:
        status: the HTTP status, 400 or more.
        body: the whole body, decompressed.
        headers: names in any case; only the request's id is read.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    told = _told(value, loose=True) if isinstance(value, dict) else None
    request_id = _request_id(headers)
    if told is None:
        text = value if isinstance(value, str) and value else None
        words = _shortened(text) if text else snippet(body)
        msg = f"The server answered {status} with {words}."
        return ProviderError(msg, status=status, provider=NAME, request_id=request_id)
    return _error(told, status, request_id)


def error_in(body: Mapping[str, Any]) -> ProviderError | None:
    """The error in a body or chunk that came under a good status; None where there is none."""
    told = _told(body, loose=not body.get("choices"))
    return None if told is None else _error(told, None, None)


def snippet(body: bytes) -> str:
    """A short, harmless description of a body that is not what it should be."""
    if not body.strip():
        return "an empty body"
    text = body[:_READ].decode("utf-8", "replace")
    if re.match(r"(?i)\s*(<!doctype|<html|<\?xml|<head|<body)", text):
        title = _TITLE.search(text)
        words = _TAG.sub(" ", _IGNORED_HTML.sub(" ", text)).strip() or (
            title.group(1) if title else ""
        )
        return f"an HTML page ({_shortened(words, 120)})"
    return f"the text {_shortened(text, 120)}"


class _Told:
    """What a server said of its error."""

    __slots__ = ("codes", "message", "status")

    def __init__(self, message: str, codes: tuple[str, ...], status: int | None) -> None:
        self.message = message
        self.codes = codes
        self.status = status


def _told(body: Mapping[str, Any], *, loose: bool) -> _Told | None:
    """Read the error in `body`; `loose` also takes the flat shapes, which an answer may hold."""
    error = body.get("error")
    if error:
        if isinstance(error, Mapping):
            return _from_object(error)
        return _Told(_text(error), (), None)
    if not loose:
        return None
    detail = body.get("detail")
    if detail:
        return _Told(_text(detail), (), None)
    message = body.get("message")
    if message and (
        body.get("object") == "error" or "code" in body or "type" in body or len(body) == 1
    ):
        return _from_object(body)
    return None


def _from_object(error: Mapping[str, Any]) -> _Told:
    message = error.get("message") or error.get("detail") or error.get("error")
    codes: list[str] = []
    status = None
    for name in ("type", "code", "status_code", "raw_status_code", "status"):
        value = error.get(name)
        if isinstance(value, bool):
            continue
        number = value
        if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
            number = int(value)
        if isinstance(number, int):
            if 400 <= number <= 599:
                status = status or number
        elif isinstance(value, str) and value and value not in codes and name != "status":
            codes.append(value)
    return _Told(_text(message if message else dict(error)), tuple(codes), status)


def _error(told: _Told, status: int | None, request_id: str | None) -> ProviderError:
    effective = status if status is not None else told.status
    kinds = {code.lower() for code in told.codes}
    if kinds & UNPAYABLE_CODES:
        retryable = False  # a 429 too: no waiting fills an empty account
    elif effective is not None:
        retryable = is_retryable_status(effective)
    else:
        retryable = bool(kinds & RETRYABLE_CODES)
    named = f" ({_shortened(', '.join(told.codes), 100)})" if told.codes else ""
    where = "" if effective is None else f" {effective}"
    msg = f"The server reported an error{where}: {_shortened(told.message)}{named}"
    return ProviderError(
        msg,
        status=effective,
        provider=NAME,
        request_id=request_id,
        retryable=retryable,
    )


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _shortened(text: str, longest: int = _LONGEST) -> str:
    # Enough is cut before the pattern runs, so that a long body costs nothing.
    line = " ".join(_SECRET.sub("***", text[: longest * 8]).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _request_id(headers: Mapping[str, str] | None) -> str | None:
    for name, value in (headers or {}).items():
        if name.lower() in ("x-request-id", "request-id", "apim-request-id"):
            return value
    return None
