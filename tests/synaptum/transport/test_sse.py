"""Server-sent events are read as the standard says, however the bytes were cut."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptum.transport.sse import SseParser, looks_like_sse, sse_data


def read(*pieces: bytes | str) -> list[str]:
    return list(sse_data(p.encode() if isinstance(p, str) else p for p in pieces))


@pytest.mark.parametrize(
    ("text", "events"),
    [
        pytest.param("data: a\n\ndata: b\n\n", ["a", "b"], id="LF"),
        pytest.param("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"], id="CRLF"),
        pytest.param("data: a\r\rdata: b\r\r", ["a", "b"], id="CR"),
        pytest.param("data: a\r\n\ndata: b\n\r\n", ["a", "b"], id="mixed line ends"),
        pytest.param("data:a\n\n", ["a"], id="no space after the colon"),
        pytest.param("data:  a\n\n", [" a"], id="only one space is stripped"),
        pytest.param("data: a\ndata: b\n\n", ["a\nb"], id="several data lines"),
        pytest.param("data\n\n", [""], id="a data line without colon"),
        pytest.param("data:\ndata:\n\n", ["\n"], id="two empty data lines"),
        pytest.param(": hello\n\n:\n\ndata: a\n\n", ["a"], id="comments"),
        pytest.param("event: x\nid: 7\nretry: 10\ndata: a\n\n", ["a"], id="other fields"),
        pytest.param("event: ping\n\ndata: a\n\n", ["a"], id="an event without data"),
        pytest.param("datax: b\n data: c\ndata: a\n\n", ["a"], id="names that only look alike"),
        pytest.param("\n\n\ndata: a\n\n\n\n", ["a"], id="blank lines in excess"),
        pytest.param("\ufeffdata: a\n\n", ["a"], id="a byte order mark"),
        pytest.param("data: a\n\n\ufeffdata: b\n\n", ["a"], id="a mark elsewhere is a name"),
        pytest.param("data: a\u2028b\u0085c\x0bd\x0c\n\n", ["a\u2028b\u0085c\x0bd\x0c"], id="text"),
        pytest.param("data: a: b\n\n", ["a: b"], id="a colon in the value"),
        pytest.param("data: a\n\ndata: [DONE]\n\ndata: b\n\n", ["a"], id="DONE ends it"),
        pytest.param("data: a\n\ndata:[DONE] \r\n\r\nrubbish", ["a"], id="DONE written otherwise"),
        pytest.param("data: a\n\ndata: b\n", ["a", "b"], id="no blank line at the end"),
        pytest.param("data: a\n\ndata: b", ["a", "b"], id="no line end at the end"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_an_event_stream_gives_the_data_of_its_events(text: str, events: list[str]) -> None:
    assert read(text) == events
    assert read(*(bytes([byte]) for byte in text.encode())) == events


def test_an_event_is_given_as_soon_as_its_blank_line_is_there() -> None:
    parser = SseParser()

    assert parser.feed(b"data: a\r\n\r") == ["a"]
    assert parser.feed(b"\ndata: b\r") == []
    assert parser.feed(b"\r") == ["b"]


def test_done_is_told_apart_from_the_end_of_the_bytes() -> None:
    ended, cut = SseParser(), SseParser()

    ended.feed(b"data: a\n\ndata: [DONE]\n\n")
    cut.feed(b"data: a\n\n")

    assert ended.is_done
    assert ended.feed(b"data: b\n\n") == []
    assert ended.close() == []
    assert not cut.is_done


def test_a_done_without_its_blank_line_counts_at_the_end() -> None:
    parser = SseParser()
    parser.feed(b"data: a\n\ndata: [DONE]")

    assert parser.close() == []
    assert parser.is_done


def test_bytes_that_are_no_utf8_become_replacement_characters() -> None:
    assert read(b"data: a\xffb\n\n") == ["a\ufffdb"]


def test_a_long_line_in_single_bytes_takes_linear_time() -> None:
    """Some 0.1 s; joining what has come at each byte would copy 45 GB."""
    parser = SseParser()
    begun = time.process_time()
    parser.feed(b"data: ")
    for _ in range(300_000):
        parser.feed(b"x")

    assert parser.feed(b"\n\n") == ["x" * 300_000]
    assert time.process_time() - begun < 3


lines = st.one_of(
    st.sampled_from(["data: ", "data:", ": note", "event: e", "id", "", "data", "data: [DONE]"]),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12).map(
        lambda text: f"data: {text}"
    ),
)
streams = st.lists(st.tuples(lines, st.sampled_from(["\n", "\r", "\r\n"])), max_size=20).map(
    lambda pairs: "".join(line + end for line, end in pairs).encode()
)


@given(streams, st.data())
def test_any_cut_gives_the_same_events(stream: bytes, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8).map(sorted))
    edges = [0, *cuts, len(stream)]
    pieces = [stream[start:end] for start, end in itertools.pairwise(edges)]

    assert read(*pieces) == read(stream)


@given(st.lists(st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]))))
def test_what_is_written_as_data_lines_comes_back(texts: list[str]) -> None:
    texts = [text for text in texts if text.strip() != "[DONE]"]
    stream = "".join(
        "".join(f"data: {line}\n" for line in text.split("\n")) + "\n" for text in texts
    )

    assert read(stream) == texts


@pytest.mark.parametrize(
    ("head", "verdict"),
    [
        (b"data: {", True),
        (b": OPENROUTER PROCESSING", True),
        (b"\n\nevent: x", True),
        (b"\xef\xbb\xbfdata:", True),
        (b"\xef\xbb", None),
        (b"da", None),
        (b"", None),
        (b"  \n", None),
        (b'{"data:": 1}', False),
        (b"<html>", False),
        (b"database", False),
    ],
)
def test_a_body_shows_by_its_beginning_whether_it_is_events(
    head: bytes, verdict: bool | None
) -> None:
    assert looks_like_sse(head) is verdict
