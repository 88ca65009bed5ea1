"""The PostgreSQL store against a real server."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import random
import select
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from support.children import fork, kill, reap
from support.runs import conversation, every_kind
from support.strategies import runs

from synaptum import canonical
from synaptum.errors import (
    ConfigurationError,
    JournalBusyError,
    JournalDivergedError,
    JournalError,
    JournalFormatError,
)
from synaptum.journal.postgres import PostgresCheckpointer
from synaptum.vocabulary.codec import to_json

EVENTS = list(conversation(3, closed=True))
KILLS = int(os.environ.get("SYNAPTUM_KILLS", "60"))


def append(database, events) -> None:
    async def go() -> None:
        with PostgresCheckpointer(database) as store:
            for event in events:
                await store.append(event.run_id, event)

    asyncio.run(go())


def load(database, run_id="run-1"):
    async def go():
        with PostgresCheckpointer(database) as store:
            return await store.load(run_id)

    return asyncio.run(go()).events


def execute(database, statement: str, *values):
    import psycopg

    with psycopg.connect(database, autocommit=True) as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


class Writer:
    """A child that appends some events, says so, and waits to be killed."""

    def __init__(self, database, count: int) -> None:
        ready, said = os.pipe()

        async def work() -> None:
            store = PostgresCheckpointer(database)
            for event in EVENTS[:count]:
                await store.append("run-1", event)
            os.write(said, b".")
            await asyncio.sleep(60)

        self.pid = fork(lambda: asyncio.run(work()))
        os.close(said)
        assert os.read(ready, 1) == b"."
        os.close(ready)


def until_free(database, event) -> None:
    """Append once the server has noticed that the other side died; bounded."""
    for _ in range(200):
        try:
            return append(database, [event])
        except JournalBusyError:
            select.select([], [], [], 0.02)
    raise AssertionError("the lock of a dead process was not released within 4 s")


def test_an_unknown_run_is_empty_and_what_was_appended_is_loaded(database):
    assert load(database) == ()
    append(database, every_kind())
    assert load(database) == tuple(every_kind())


def test_appending_is_idempotent_and_a_diverged_payload_is_refused(database):
    append(database, EVENTS)
    append(database, EVENTS)
    append(database, [dataclasses.replace(EVENTS[1], at="later")])
    assert load(database) == tuple(EVENTS)
    with pytest.raises(JournalDivergedError) as caught:
        append(database, [dataclasses.replace(EVENTS[1], usage=None)])
    assert (caught.value.step_id, caught.value.path) == ("000000-model", "/usage")


def test_any_run_comes_back(database):
    @settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
    @given(runs())
    def check(events):
        execute(database, "DROP TABLE IF EXISTS synaptum_journal, synaptum_journal_event")
        append(database, events)
        loaded = load(database, "run")
        assert loaded == tuple(events)
        assert [canonical.encode(to_json(e)) for e in loaded] == [
            canonical.encode(to_json(e)) for e in events
        ]

    check()


def test_a_run_begun_in_one_process_goes_on_in_another_program(database):
    """As on another machine: nothing is shared but the server."""
    append(database, EVENTS[:5])
    program = """
import asyncio, sys
from support.runs import conversation
from synaptum.journal.postgres import PostgresCheckpointer
async def go():
    with PostgresCheckpointer(sys.argv[1]) as store:
        there = len((await store.load("run-1")).events)
        for event in list(conversation(3, closed=True))[there:]:
            await store.append("run-1", event)
        print(there)
asyncio.run(go())
"""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program, database], env=env, capture_output=True, check=True
    )
    assert done.stdout == b"5\n"
    assert load(database) == tuple(EVENTS)


def test_the_second_writer_is_told_and_gets_the_run_after_kill_9(database):
    writer = Writer(database, 2)
    with pytest.raises(
        JournalBusyError, match=r"'run-1' is being written by PostgreSQL session \d+"
    ):
        append(database, EVENTS[2:3])
    assert load(database) == tuple(EVENTS[:2])
    append(database, [next(conversation(1, run_id="another"))])
    assert kill(writer.pid) == -9
    until_free(database, EVENTS[2])
    assert load(database) == tuple(EVENTS[:3])


def test_two_stores_of_one_process_act_as_one(database):
    async def go():
        with PostgresCheckpointer(database) as one, PostgresCheckpointer(database) as other:
            for index, event in enumerate(EVENTS):
                await (one, other)[index % 2].append("run-1", event)
            return (await one.load("run-1")).events

    assert asyncio.run(go()) == tuple(EVENTS)


def test_a_run_that_moved_on_since_it_was_loaded_must_be_loaded_again(database):
    async def go() -> None:
        with PostgresCheckpointer(database) as store:
            await store.load("run-1")
            assert reap(fork(lambda: append(database, EVENTS[:2]))) == 0
            with pytest.raises(JournalBusyError, match=r"had 0 events .* has 2 now"):
                await store.append("run-1", EVENTS[0])
            await store.load("run-1")
            await store.append("run-1", EVENTS[2])

    asyncio.run(go())
    assert load(database) == tuple(EVENTS[:3])


def test_a_lost_connection_is_an_error_once_and_the_run_goes_on(database):
    async def go() -> None:
        with PostgresCheckpointer(database) as store:
            await store.append("run-1", EVENTS[0])
            execute(
                database,
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                " AND pid <> pg_backend_pid()",
            )
            with pytest.raises(JournalError, match="cannot be used: "):
                await store.append("run-1", EVENTS[1])
            for event in EVENTS[1:]:
                await store.append("run-1", event)

    asyncio.run(go())
    assert load(database) == tuple(EVENTS)


def test_another_format_version_is_refused(database):
    append(database, EVENTS[:1])
    execute(database, "UPDATE synaptum_journal SET format = 2")
    with pytest.raises(JournalFormatError, match="has format 2"):
        load(database)


def test_a_missing_or_broken_row_is_named(database):
    append(database, EVENTS)
    execute(database, "UPDATE synaptum_journal_event SET record = '{' WHERE seq = 2")
    with pytest.raises(JournalFormatError, match="Event 2 of run 'run-1'"):
        load(database)
    execute(database, "DELETE FROM synaptum_journal_event WHERE seq = 1")
    with pytest.raises(JournalFormatError, match="event 1 is missing"):
        load(database)


def test_the_password_shows_in_no_error(database):
    for bad in ("password=hunter2 host=/nowhere", "postgresql://u:hunter2@[", "hunter2 = = '"):
        with pytest.raises((JournalError, ConfigurationError)) as caught:
            load(bad)
        assert "hunter2" not in str(caught.value)


def test_many_processes_that_make_the_tables_at_once_lose_nothing(database):
    def work(index: int) -> None:
        append(database, conversation(5, run_id=f"run-{index}"))

    children = [fork(lambda index=index: work(index)) for index in range(4)]
    assert [reap(pid) for pid in children] == [0] * 4
    for index in range(4):
        name = f"run-{index}"
        assert load(database, name) == tuple(conversation(5, run_id=name))


def test_nothing_acknowledged_is_lost_by_kill_9_at_random_moments(database):
    chance = random.Random(7)
    events = list(conversation(KILLS))

    def work(report: int, there: int) -> None:
        async def go() -> None:
            store = PostgresCheckpointer(database)
            for event in events[there:]:
                await store.append("run-1", event)
                os.write(report, b".")

        asyncio.run(go())

    on_record = 0
    for _ in range(KILLS):
        reading, writing = os.pipe()
        pid = fork(lambda w=writing, there=on_record: work(w, there))
        os.close(writing)
        wanted, acknowledged = chance.randrange(3), 0
        while acknowledged < wanted:
            got = os.read(reading, wanted - acknowledged)
            assert got, "the child ended by itself"
            acknowledged += len(got)
        select.select([], [], [], chance.random() * 0.004)
        assert kill(pid) == -9
        while more := os.read(reading, 4096):
            acknowledged += len(more)
        os.close(reading)
        until_free(database, events[0])
        found = len(load(database))
        # The append above may have been the first; one more may be on record, unacknowledged.
        assert max(on_record + acknowledged, 1) <= found <= max(on_record + acknowledged + 1, 1)
        on_record = found
    append(database, events)
    assert load(database) == tuple(events)
