"""Compressed bodies, piece by piece.

We ask for `identity`; some gateways compress all the same.
"""

from __future__ import annotations

import zlib
from typing import Protocol

__all__ = ["Decompressor", "decompressor_for"]

_GZIP_OR_ZLIB = 47  # zlib's flag for "look at the header", with the largest window
_RAW = -15


class Decompressor(Protocol):
    """Turns compressed pieces into plain ones."""

    def feed(self, data: bytes) -> bytes:
        """What `data` adds. Raises `zlib.error` where it is not what was announced."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether the compressed data reached its end."""
        ...


class _Zlib:
    def __init__(self) -> None:
        self._head = b""
        self._wbits = _GZIP_OR_ZLIB
        self._object: zlib._Decompress | None = None

    def feed(self, data: bytes) -> bytes:
        if self._object is None:
            self._head += data
            if len(self._head) < 2:  # too short to tell the forms apart
                return b""
            data, self._head = self._head, b""
            self._wbits = _form_of(data)
            self._object = zlib.decompressobj(self._wbits)
        plain = self._object.decompress(data)
        while self._object.unused_data:  # gzip allows several members one after the other
            data = self._object.unused_data
            self._object = zlib.decompressobj(self._wbits)
            plain += self._object.decompress(data)
        return plain

    @property
    def is_whole(self) -> bool:
        return not self._head if self._object is None else self._object.eof


def _form_of(head: bytes) -> int:
    """The `wbits` for a body: "deflate" means zlib in the standard, the bare form at some."""
    is_gzip = head.startswith(b"\x1f\x8b")
    is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return _GZIP_OR_ZLIB if is_gzip or is_zlib else _RAW


def decompressor_for(encoding: str) -> Decompressor | None:
    """The decompressor for a `content-encoding`; None where the body is plain.

    Raises:
        LookupError: an encoding the standard library cannot read (such as `br`).
    """
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        return None
    if name in {"gzip", "x-gzip", "deflate"}:
        return _Zlib()
    raise LookupError(name)
