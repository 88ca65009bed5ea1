"""A writer killed with SIGKILL at any moment loses nothing that was acknowledged."""

from __future__ import annotations

import asyncio
import os
import random
import select

import pytest
from support.children import fork, kill, reap
from support.runs import conversation
from support.stores import FILE_STORES

from synaptum.errors import JournalError

#: Kills a store in the core suite; SYNAPTUM_KILLS asks for more.
KILLS = int(os.environ.get("SYNAPTUM_KILLS", "100"))
EVENTS = list(conversation(60))


def write_until_killed(open_store, folder, report: int) -> None:
    """Go on with the run where the journal ends, one byte down the pipe for each event kept."""

    async def go() -> None:
        store = open_store(folder)
        there = len((await store.load("run-1")).events)
        for event in EVENTS[there:]:
            await store.append("run-1", event)
            os.write(report, b".")
        await asyncio.sleep(60)

    asyncio.run(go())


@pytest.mark.parametrize("name", FILE_STORES)
def test_nothing_acknowledged_is_lost_by_kill_9_at_random_moments(name, tmp_path):
    chance = random.Random(7)
    open_store = FILE_STORES[name]
    folder = tmp_path / "0"
    on_record = 0
    for attempt in range(KILLS):
        reading, writing = os.pipe()
        pid = fork(lambda f=folder, w=writing: write_until_killed(open_store, f, w))
        os.close(writing)
        # Wait for some acknowledgements, then for a part of the time one append takes.
        wanted = chance.randrange(4)
        acknowledged = 0
        while acknowledged < wanted:
            acknowledged += len(os.read(reading, wanted - acknowledged))
        select.select([], [], [], chance.random() * 0.004)
        assert kill(pid) == -9
        while more := os.read(reading, 4096):
            acknowledged += len(more)
        os.close(reading)

        async def look(f=folder) -> int:
            with open_store(f) as store:
                return len((await store.load("run-1")).events)

        found = asyncio.run(look())
        assert on_record + acknowledged <= found <= on_record + acknowledged + 1, attempt
        on_record = found
        if on_record > len(EVENTS) - 8:
            asyncio.run(check_whole(open_store, folder))
            folder, on_record = tmp_path / str(attempt + 1), 0
    asyncio.run(check_whole(open_store, folder))


async def check_whole(open_store, folder) -> None:
    """Finish the run in this process: no lock is left, and every event is as it was made."""
    with open_store(folder) as store:
        for event in EVENTS:
            await store.append("run-1", event)
        assert (await store.load("run-1")).events == tuple(EVENTS)


@pytest.mark.parametrize("name", FILE_STORES)
def test_a_store_does_not_cross_a_fork(name, tmp_path):
    async def inside(store) -> None:
        with pytest.raises(JournalError, match="before a fork"):
            await store.load("run-1")

    store = FILE_STORES[name](tmp_path)
    pid = fork(lambda: asyncio.run(inside(store)))
    store.close()
    assert reap(pid) == 0
