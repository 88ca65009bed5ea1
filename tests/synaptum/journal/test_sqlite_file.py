"""The SQLite file itself: what it is marked with, and what else may lie at its path."""

from __future__ import annotations

import sqlite3

import pytest
from support.runs import conversation

from synaptum.errors import ConfigurationError, JournalError, JournalFormatError
from synaptum.journal.sqlite import SqliteCheckpointer

pytestmark = pytest.mark.asyncio

EVENTS = list(conversation(2))


async def write(path, **options) -> None:
    with SqliteCheckpointer(path, **options) as store:
        for event in EVENTS:
            await store.append(event.run_id, event)


async def read(path):
    with SqliteCheckpointer(path) as store:
        return (await store.load("run-1")).events


def change(path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


async def test_the_file_says_that_it_is_a_journal_and_of_which_format(tmp_path):
    path = tmp_path / "new" / "j.sqlite"
    await write(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (0x53594E4A,)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert connection.execute("SELECT seq, step_id, phase FROM event ORDER BY seq").fetchall() == [
        (seq, event.step_id, event.phase.value) for seq, event in enumerate(EVENTS)
    ]
    connection.close()


async def test_another_version_is_refused(tmp_path):
    path = tmp_path / "j.sqlite"
    await write(path)
    change(path, "PRAGMA user_version = 2")
    with pytest.raises(JournalFormatError, match="has format 2, and this version"):
        await read(path)


async def test_a_database_of_somebody_else_is_left_alone(tmp_path):
    path = tmp_path / "j.sqlite"
    change(path, "CREATE TABLE event (x)")
    before = path.read_bytes()
    with pytest.raises(JournalFormatError, match="is a database, but no journal"):
        await write(path)
    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_is_said_so(tmp_path):
    path = tmp_path / "j.sqlite"
    path.write_text("something else\n" * 100, encoding="utf-8")
    with pytest.raises(JournalFormatError, match="cannot be read as SQLite"):
        await read(path)


async def test_a_missing_or_broken_row_is_named(tmp_path):
    path = tmp_path / "j.sqlite"
    await write(path)
    change(path, "UPDATE event SET record = '{' WHERE seq = 2")
    with pytest.raises(JournalFormatError, match="Event 2 of run 'run-1' in"):
        await read(path)
    change(path, "DELETE FROM event WHERE seq = 1")
    with pytest.raises(JournalFormatError, match="event 1 is missing"):
        await read(path)


async def test_what_cannot_be_written_is_one_sentence_with_the_path(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(JournalError, match="cannot be written: "):
        await write(tmp_path / "file" / "j.sqlite")
    with pytest.raises(JournalError, match="cannot be used: "):
        await read(tmp_path)


async def test_memory_is_not_a_path(tmp_path):
    with pytest.raises(ConfigurationError, match="MemoryCheckpointer"):
        SqliteCheckpointer(":memory:")


async def test_a_durable_journal_waits_for_the_disk_and_reads_the_same(tmp_path):
    await write(tmp_path / "j.sqlite", durable=True)
    assert await read(tmp_path / "j.sqlite") == tuple(EVENTS)
