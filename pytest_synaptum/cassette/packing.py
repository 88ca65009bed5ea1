"""Compressed bodies undone, so that people can review what was recorded.

gzip and deflate are the standard library's. Brotli and zstd come only where the client asked
for them, which it does where it has the library that undoes them: the same one serves here.
A compression that we cannot undo is kept as it came, its header with it.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterable
from importlib import import_module

from synaptum.transport.decompress import decompressor_for

__all__ = ["unpacked"]


def unpacked(encoding: str, chunks: Iterable[bytes], asked: str = "") -> list[bytes] | None:
    """The plain bytes of each chunk (some may be empty), or None where they cannot be had.

    Args:
        encoding: the answer's `content-encoding`.
        chunks: its body.
        asked: the request's `accept-encoding`; a client that did not ask for Brotli or zstd
            reads the compressed bytes, and must on replay.
    """
    if encoding in {"br", "zstd"} and encoding not in asked:
        return None
    for feed in _ways(encoding.strip().lower()):
        # Each library has an error of its own, and some of them more than one.
        with contextlib.suppress(Exception):
            return [feed(chunk) for chunk in chunks]
    return None


def _ways(encoding: str) -> Iterable[Callable[[bytes], bytes]]:
    if encoding == "br":
        for name in ("brotli", "brotlicffi"):
            with contextlib.suppress(ImportError):
                decompressor = import_module(name).Decompressor()
                yield getattr(decompressor, "process", None) or decompressor.decompress
    elif encoding == "zstd":
        for name in ("compression.zstd", "backports.zstd"):
            with contextlib.suppress(ImportError):
                yield import_module(name).ZstdDecompressor().decompress
        with contextlib.suppress(ImportError):
            yield import_module("zstandard").ZstdDecompressor().decompressobj().decompress
    else:
        with contextlib.suppress(LookupError, zlib.error):
            decompressor = decompressor_for(encoding)
            if decompressor is not None:
                yield decompressor.feed
