"""Bodies as the application saw them: content encodings undone, headers put right."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from typing import Final

__all__ = ["UnreadableEncodingError", "decoded"]

#: Headers that describe how a body travelled; untrue once it is decoded and joined.
_TRANSPORT: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class UnreadableEncodingError(ValueError):
    """A content encoding that cannot be undone; the message says which and what to do."""


def decoded(
    body: bytes, headers: Iterable[tuple[str, str]]
) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """Undo `content-encoding` and drop the headers that no longer hold.

    In: the body, and header fields. Out: the plain body, and the fields with names in lower
    case. A body that does not begin as its encoding does was decoded by whoever wrote the
    file (many recorders do so and keep the header), and stays as it is.

    Raises:
        UnreadableEncodingError: an encoding we have no decoder for, or a damaged body.
    """
    fields = tuple((name.lower(), value) for name, value in headers)
    encodings = [
        word.strip().lower()
        for name, value in fields
        if name == "content-encoding"
        for word in value.split(",")
    ]
    for encoding in reversed(encodings):
        body = _undo(encoding, body)
    return body, tuple(field for field in fields if field[0] not in _TRANSPORT)


def _undo(encoding: str, body: bytes) -> bytes:
    if encoding in ("", "identity") or not body:
        return body
    try:
        if encoding in ("gzip", "x-gzip"):
            return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
        if encoding == "deflate":
            return _inflate(body)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"the body does not decode as {encoding} ({error}); export it decoded"
        raise UnreadableEncodingError(msg) from None
    if _is_plain(body):
        return body
    msg = f"the body is in {encoding}, which the standard library cannot undo; export it decoded"
    raise UnreadableEncodingError(msg)


def _inflate(body: bytes) -> bytes:
    if _is_plain(body):
        return body
    try:
        return zlib.decompress(body)
    except zlib.error:
        return zlib.decompress(body, -zlib.MAX_WBITS)  # some servers send raw deflate


def _is_plain(body: bytes) -> bool:
    """Whether a body already reads as JSON or an event stream."""
    return body.lstrip()[:5].startswith((b"{", b"[", b"data:", b"event", b":", b"id:"))
