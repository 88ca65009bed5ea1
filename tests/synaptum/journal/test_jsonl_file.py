"""The JSON lines file itself: its form, and what a crash or a hand may leave in it."""

from __future__ import annotations

import json
import logging

import pytest
from support.runs import conversation

from synaptum.errors import JournalError, JournalFormatError
from synaptum.journal.jsonl import JsonlCheckpointer

pytestmark = pytest.mark.asyncio

EVENTS = list(conversation(2))


async def write(path, events=EVENTS) -> None:
    with JsonlCheckpointer(path, durable=False) as store:
        for event in events:
            await store.append(event.run_id, event)


async def read(path, run_id="run-1"):
    with JsonlCheckpointer(path) as store:
        return (await store.load(run_id)).events


async def test_the_file_is_a_header_and_one_readable_line_an_event(tmp_path):
    path = tmp_path / "new" / "journal.jsonl"
    await write(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines[0] == '{"synaptum":"journal/1"}'
    assert lines[-1] == ""
    assert [json.loads(line)["step_id"] for line in lines[1:-1]] == [e.step_id for e in EVENTS]
    assert "¿Qué dice el fichero? 你好 🙂" in lines[1]
    assert json.loads(lines[5])["request"] == {
        "as_in": "000000-model",
        "kept": 1,
        "messages": json.loads(lines[5])["request"]["messages"],
    }


async def test_a_file_cut_at_any_byte_keeps_its_whole_lines_and_takes_the_next(tmp_path):
    whole, path = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    await write(whole)
    data = whole.read_bytes()
    # Cuts of the header and the first record, and of the last: some inside multibyte characters.
    first, last = data.index(b"\n", data.index(b"\n") + 1), data.rindex(b"\n", 0, -1)
    for cut in [*range(0, first, 7), first, first + 1, *range(last, len(data), 7), len(data) - 1]:
        path.write_bytes(data[:cut])
        lines = data[: cut + 1].count(b"\n")  # a cut right before a newline loses nothing
        assert await read(path) == tuple(EVENTS[: max(lines - 1, 0)]), cut
        await write(path)
        assert path.read_bytes().rstrip(b"\n") == data.rstrip(b"\n"), cut


async def test_a_torn_line_is_reported_once_when_it_is_cut_off(tmp_path, caplog):
    path = tmp_path / "j.jsonl"
    await write(path, EVENTS[:2])
    path.write_bytes(path.read_bytes() + '{"at":"ñ'.encode()[:-1])
    with caplog.at_level(logging.WARNING, logger="synaptum.journal"):
        await write(path)
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: cut off 8 bytes of a last line that a crash left torn"
    ]
    assert await read(path) == tuple(EVENTS)


async def test_a_last_line_that_only_lacks_its_newline_is_kept(tmp_path):
    path = tmp_path / "j.jsonl"
    await write(path, EVENTS[:3])
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert await read(path) == tuple(EVENTS[:3])
    await write(path, EVENTS[3:4])
    assert await read(path) == tuple(EVENTS[:4])
    assert path.read_bytes().count(b"\n") == 5


async def test_a_store_that_read_a_line_without_newline_goes_on_after_it(tmp_path):
    path = tmp_path / "j.jsonl"
    await write(path, EVENTS[:3])
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    with JsonlCheckpointer(path, durable=False) as store:
        await store.load("run-1")
        for event in EVENTS[3:]:
            await store.append("run-1", event)
        assert (await store.load("run-1")).events == tuple(EVENTS)


@pytest.mark.parametrize("garbage", [b"GARBAGE", b"[1]", b'{"a":1}', b'{"run_id":3}', b"\xff\xfe"])
async def test_garbage_in_the_middle_is_an_error_that_names_the_line(tmp_path, garbage):
    path = tmp_path / "j.jsonl"
    await write(path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:3], garbage, *lines[3:]]))
    with pytest.raises(JournalFormatError, match=r"^Line 4 of the journal .*j\.jsonl: "):
        await read(path)


async def test_garbage_that_ends_in_a_newline_was_no_crash(tmp_path):
    path = tmp_path / "j.jsonl"
    await write(path, EVENTS[:1])
    path.write_bytes(path.read_bytes() + b"GARBAGE\n")
    with pytest.raises(JournalFormatError, match="Line 3"):
        await write(path)


async def test_a_missing_line_is_noticed_by_the_request_that_builds_on_it(tmp_path):
    path = tmp_path / "j.jsonl"
    await write(path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], *lines[3:]]))
    with pytest.raises(JournalFormatError, match="builds on '000000-model', but the last one"):
        await read(path)


async def test_an_unknown_field_of_a_record_names_the_record(tmp_path):
    path = tmp_path / "j.jsonl"
    await write(path, EVENTS[:1])
    path.write_bytes(path.read_bytes().replace(b'"meta":{}', b'"meta":{},"colour":1'))
    with pytest.raises(JournalFormatError, match=r"Line 2 .*000000-model.*'colour'.*newer version"):
        await read(path)


async def test_another_version_and_another_file_are_told_apart(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_text('{"synaptum":"journal/2"}\n', encoding="utf-8")
    with pytest.raises(JournalFormatError, match="the format is 'journal/2'"):
        await read(path)
    path.write_text('{"level":"info"}\n', encoding="utf-8")
    with pytest.raises(JournalFormatError, match=r"Line 1 .*this is another file"):
        await read(path)
    assert path.read_text(encoding="utf-8") == '{"level":"info"}\n'


@pytest.mark.parametrize(
    "content", ["buy milk", '{"level": "in', "\0" * 100], ids=["note", "json", "zeros"]
)
async def test_another_file_without_a_newline_is_not_taken_for_a_torn_journal_and_cut_off(
    tmp_path, content
):
    path = tmp_path / "notes.txt"
    path.write_text(content, encoding="utf-8")

    for act in (read, write):
        with pytest.raises(JournalFormatError, match=r"Line 1 .*this is another file"):
            await act(path)

    assert path.read_text(encoding="utf-8") == content


async def test_what_cannot_be_written_is_one_sentence_with_the_path(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(JournalError, match="cannot be written: "):
        await write(tmp_path / "file" / "j.jsonl")
    with pytest.raises(JournalError, match="cannot be read: Is a directory"):
        await read(tmp_path)


async def test_a_file_taken_away_under_a_writer_is_an_error_and_no_silent_loss(tmp_path):
    path = tmp_path / "j.jsonl"
    with JsonlCheckpointer(path, durable=False) as store:
        await store.append("run-1", EVENTS[0])
        path.unlink()
        with pytest.raises(JournalError, match="deleted or replaced"):
            await store.append("run-1", EVENTS[1])
