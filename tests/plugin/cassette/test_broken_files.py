"""A file that is no cassette of ours gets one sentence: what, where, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_synaptum.cassette.format import MAX_BYTES, load_cassette, parse_cassette
from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.errors import FileFormatError
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse

WHOLE = dump_cassette(
    [
        Exchange(
            request=RecordedRequest(method="POST", path="/v1/x", body=b'{"a":1}'),
            response=RecordedResponse(
                status=200,
                headers=(("content-type", "text/event-stream"),),
                chunks=(b'data: {"b":2}\n\n', b"data: [DONE]\n\n"),
                headers_after_s=0.25,
                delays_s=(0.001, 0.002),
            ),
        )
    ]
    * 2,
    {"at": "2026-11-30T12:00:00Z"},
)


def refused(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(FileFormatError) as caught:
        cassette = parse_cassette(data, "cassettes/a.yaml")
        cassette.exchanges()
    message = str(caught.value)
    assert "cassettes/a.yaml" in message
    assert "\n" not in message
    return message


def test_the_whole_file_is_read() -> None:
    assert len(parse_cassette(WHOLE.encode(), "a").exchanges()) == 2


@pytest.mark.parametrize("size", range(0, len(WHOLE) - 1, 7))
def test_a_file_cut_anywhere_is_refused(size: int) -> None:
    refused(WHOLE[:size])


def test_a_file_that_was_edited_by_hand_is_still_read() -> None:
    edited = WHOLE.replace("    method: POST\n", "    # by hand\n    method:   'POST'\n")

    assert (
        parse_cassette(edited.encode(), "a").exchanges()
        == parse_cassette(WHOLE.encode(), "a").exchanges()
    )


def test_windows_line_ends_change_nothing() -> None:
    windows = WHOLE.replace("\n", "\r\n").encode()

    assert (
        parse_cassette(windows, "a").exchanges() == parse_cassette(WHOLE.encode(), "a").exchanges()
    )


def test_a_newer_version_asks_for_an_upgrade() -> None:
    message = refused(WHOLE.replace("cassette/1", "cassette/2"))

    assert "format cassette/2, newer than the cassette/1" in message
    assert "upgrade pytest-synaptum" in message


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "    method: POST\n",
            "    method: POST\n    colour: red\n",
            "exchange 1 (line 4), request has an unknown key 'colour'",
        ),
        ("timings:\n", "colour: red\ntimings:\n", "unknown key 'colour'"),
        ("    status: 200\n", "    status: ok\n", "exchange 1 (line 4), response.status is 'ok'"),
        ("    status: 200\n", "    status: true\n", "response.status is True"),
        ("    method: POST\n", "", "exchange 1 (line 4), request.method is missing"),
        ("    method: POST\n", "    method: [POST]\n", "request.method is not a text"),
        ("    chunks: events\n", "    chunks: [3, 4]\n", "add up to 7 bytes"),
        ("    chunks: events\n", "    chunks: [-1]\n", "neither `events` nor a list of sizes"),
        ("- [250, 1, 2]", "- [250, 1]", "1 delays for 2 chunks"),
        ("- [250, 1, 2]", "- [250, 1, x]", "not a list of milliseconds"),
        ('{"a": 1}', '{"a": 1', "request.json is not JSON: Expecting ',' delimiter in line 2 of"),
        ("    sse: |", "    text: hi\n    sse: |", "two bodies"),
    ],
)
def test_a_wrong_field_is_named(old: str, new: str, says: str) -> None:
    assert says in refused(WHOLE.replace(old, new, 1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello\n",
        "[1, 2]\n",
        "synaptum: corpus/1\n",
        "synaptum: cassette/1\nrecorded: {\n",
        "synaptum: cassette/1\nexchanges: !!python/object/apply:os.system [ls]\ntimings: []\n",
        "synaptum: cassette/1\na: &a [1]\nexchanges: *a\ntimings: []\n",
        "synaptum: cassette/1\nexchanges: []\nexchanges: []\ntimings: []\n",
        "synaptum: cassette/1\nexchanges: 3\ntimings: []\n",
        "synaptum: cassette/1\nexchanges: [3]\ntimings: []\n",
        "synaptum: cassette/1\nexchanges: " + "[" * 5000 + "\n",
        b"synaptum: cassette/1\nexchanges: []\n\x00",
        b"synaptum: cassette/1\n\xff\xfe",
        b"\x80\x81",
    ],
)
def test_hostile_or_foreign_text_is_refused(text: str | bytes) -> None:
    refused(text)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(2 * MAX_BYTES)

    with pytest.raises(FileFormatError, match="a cassette of more than 100,000,000 is not read"):
        load_cassette(path)
