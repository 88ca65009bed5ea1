"""Which reader a file takes, by what it holds; the name of the file does not count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.corpus.importers.finding import Finding, Found, LeftOut, Origin
from pytest_synaptum.corpus.importers.har import read_har
from pytest_synaptum.corpus.importers.public import is_public, read_public
from pytest_synaptum.corpus.importers.vcr import read_vcr
from pytest_synaptum.errors import FileFormatError
from synaptum import canonical
from synaptum.errors import EncodingError

__all__ = ["read_file"]

#: Largest file read, in bytes; vcrpy's form takes some ten times its size in memory.
_MAX_BYTES: Final = 200_000_000

_KINDS: Final = "our own cassettes, vcrpy cassettes, HAR files, collected public exchanges"


def read_file(path: Path) -> Iterator[Finding]:
    """Everything in one file: exchanges with their origin, and what was left out and why.

    Raises:
        FileFormatError: the file is of no kind we import, or damaged; says what to do.
    """
    try:
        size = path.stat().st_size
        if size > _MAX_BYTES:
            msg = f"{path} has {size:,} bytes and the importer reads {_MAX_BYTES:,}; split it."
            raise FileFormatError(msg)
        data = path.read_bytes()
    except OSError as error:
        msg = f"{path} cannot be read ({error.strerror}); check the path and its permissions."
        raise FileFormatError(msg) from None
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"synaptum:"):
        yield from _own(path)
    elif head.startswith(b"{"):
        yield from _json(path, data)
    elif b"interactions:" in data:
        yield from read_vcr(path)
    else:
        raise _unknown(path)


def _json(path: Path, data: bytes) -> Iterator[Finding]:
    try:
        value = canonical.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except EncodingError as error:
        msg = f"{path} begins like JSON and is none ({error}); export or record it again."
        raise FileFormatError(msg) from None
    if isinstance(value, Mapping) and "log" in value:
        yield from read_har(path, value)
    elif isinstance(value, Mapping) and "interactions" in value:
        yield from read_vcr(path)
    elif isinstance(value, Mapping) and is_public(value):
        yield from read_public(path, value)
    else:
        raise _unknown(path)


def _own(path: Path) -> Iterator[Finding]:
    cassette = load_cassette(path)
    for number, exchange in enumerate(cassette.exchanges(), start=1):
        if exchange.response is None:
            reason = "the connection failed before any answer"
            yield LeftOut(file=str(path), number=number, reason=reason)
            continue
        origin = Origin(
            file=str(path),
            number=number,
            server=cassette.recorded.get("server"),
            date=(cassette.recorded.get("at") or "")[:10] or None,
        )
        yield Found(exchange=exchange, origin=origin)


def _unknown(path: Path) -> FileFormatError:
    return FileFormatError(f"{path} is none of what the importer reads: {_KINDS}.")
