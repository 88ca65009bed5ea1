"""Compressed bodies are read, whatever piece they come in."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptum.transport.decompress import decompressor_for


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


FORMS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZIP", gzip.compress),
    "two gzip members": ("gzip", lambda d: gzip.compress(d[:3]) + gzip.compress(d[3:])),
    "deflate": ("deflate", zlib.compress),
    "deflate without its header": ("deflate", raw_deflate),
}


@given(data=st.binary(max_size=200), form=st.sampled_from(sorted(FORMS)), size=st.integers(1, 9))
def test_a_compressed_body_is_read_in_any_pieces(data: bytes, form: str, size: int) -> None:
    encoding, compress = FORMS[form]
    body = compress(data)
    decompressor = decompressor_for(encoding)
    assert decompressor is not None

    plain = b"".join(decompressor.feed(body[i : i + size]) for i in range(0, len(body), size))

    assert plain == data
    assert decompressor.is_whole


def test_a_body_that_stops_early_is_not_whole() -> None:
    decompressor = decompressor_for("gzip")
    assert decompressor is not None

    decompressor.feed(gzip.compress(b"some text")[:-1])

    assert not decompressor.is_whole


@pytest.mark.parametrize("encoding", ["", "identity", " Identity "])
def test_a_plain_body_needs_no_decompressor(encoding: str) -> None:
    assert decompressor_for(encoding) is None


def test_an_encoding_beyond_the_standard_library_is_named() -> None:
    with pytest.raises(LookupError, match="br"):
        decompressor_for("br")
