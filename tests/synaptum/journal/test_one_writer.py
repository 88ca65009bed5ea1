"""One live writer a run: the second process gets a clear error, and nothing goes stale."""

from __future__ import annotations

import asyncio
import os
import time

import pytest
from support.children import fork, kill, reap
from support.runs import conversation
from support.stores import FILE_STORES

from synaptum.errors import JournalBusyError
from synaptum.journal import locks

EVENTS = list(conversation(3, closed=True))

pytestmark = pytest.mark.parametrize("name", FILE_STORES)


class Writer:
    """A child that appends some events, says so, and waits to be told to go on or be killed."""

    def __init__(self, name, folder, count: int, *, release: bool = False, run_id="run-1") -> None:
        ready, said = os.pipe()

        async def work() -> None:
            store = FILE_STORES[name](folder)
            for event in list(conversation(3, closed=True, run_id=run_id))[:count]:
                await store.append(run_id, event)
            if release:
                await store.release(run_id)
            os.write(said, b".")
            await asyncio.sleep(60)

        self.pid = fork(lambda: asyncio.run(work()))
        os.close(said)
        assert os.read(ready, 1) == b"."
        os.close(ready)


async def append(name, folder, event) -> None:
    with FILE_STORES[name](folder) as store:
        await store.append(event.run_id, event)


def test_the_second_writer_is_told_who_holds_the_run_and_gets_it_after_kill_9(name, tmp_path):
    writer = Writer(name, tmp_path, 2)
    with pytest.raises(
        JournalBusyError, match=rf"'run-1' is being written by process {writer.pid};"
    ):
        asyncio.run(append(name, tmp_path, EVENTS[2]))
    assert kill(writer.pid) == -9
    asyncio.run(append(name, tmp_path, EVENTS[2]))


def test_reading_a_run_that_another_process_writes_is_no_error(name, tmp_path):
    writer = Writer(name, tmp_path, 3)

    async def read():
        with FILE_STORES[name](tmp_path) as store:
            return (await store.load("run-1")).events

    assert asyncio.run(read()) == tuple(EVENTS[:3])
    kill(writer.pid)


def test_another_run_of_the_same_store_can_be_written_at_the_same_time(name, tmp_path):
    writer = Writer(name, tmp_path, 2, run_id="other")
    asyncio.run(append(name, tmp_path, EVENTS[0]))
    kill(writer.pid)


@pytest.mark.parametrize("how", ["released", "closed by its final step"])
def test_a_run_that_was_let_go_can_be_written_elsewhere(name, tmp_path, how):
    released = how == "released"
    writer = Writer(name, tmp_path, 2 if released else len(EVENTS), release=released)
    asyncio.run(append(name, tmp_path, EVENTS[2]))
    kill(writer.pid)


def test_a_closed_store_in_the_same_process_holds_nothing(name, tmp_path):
    asyncio.run(append(name, tmp_path, EVENTS[0]))
    kill(Writer(name, tmp_path, 2).pid)


def test_a_store_that_is_forgotten_holds_nothing(name, tmp_path):
    async def forget() -> None:
        await FILE_STORES[name](tmp_path).append("run-1", EVENTS[0])

    asyncio.run(forget())
    while locks._files:  # its thread may hold it for a moment longer than anybody else
        time.sleep(0.001)
    kill(Writer(name, tmp_path, 2).pid)


def test_a_run_that_moved_on_since_it_was_loaded_must_be_loaded_again(name, tmp_path):
    """Else two processes that resume the same run would both do what comes next."""

    async def go() -> None:
        with FILE_STORES[name](tmp_path) as store:
            await store.append("run-1", EVENTS[0])
            await store.release("run-1")
            assert len((await store.load("run-1")).events) == 1
            assert reap(fork(lambda: asyncio.run(append(name, tmp_path, EVENTS[1])))) == 0
            with pytest.raises(JournalBusyError, match=r"had 1 events .* has 2 now"):
                await store.append("run-1", EVENTS[1])
            await store.load("run-1")
            await store.append("run-1", EVENTS[2])
            assert (await store.load("run-1")).events == tuple(EVENTS[:3])

    asyncio.run(go())


def test_many_processes_that_write_their_own_runs_lose_nothing(name, tmp_path):
    def work(index: int) -> None:
        async def go() -> None:
            with FILE_STORES[name](tmp_path) as store:
                for event in conversation(8, run_id=f"run-{index}"):
                    await store.append(event.run_id, event)

        asyncio.run(go())

    children = [fork(lambda index=index: work(index)) for index in range(5)]
    assert [reap(pid) for pid in children] == [0] * 5

    async def read(index: int):
        with FILE_STORES[name](tmp_path) as store:
            return (await store.load(f"run-{index}")).events

    for index in range(5):
        assert asyncio.run(read(index)) == tuple(conversation(8, run_id=f"run-{index}"))


def test_of_processes_that_start_the_same_run_at_once_one_writes_it(name, tmp_path):
    until, done = os.pipe()

    def work() -> None:
        os.close(done)

        async def go() -> None:
            with FILE_STORES[name](tmp_path) as store:
                for event in EVENTS[:-1]:
                    await store.append("run-1", event)
                os.read(until, 1)  # hold the run until the others have tried

        try:
            asyncio.run(go())
        except JournalBusyError:
            os._exit(7)

    children = [fork(work) for _ in range(4)]
    os.close(until)
    ended = [os.waitpid(-1, 0) for _ in range(3)]
    os.close(done)
    (last,) = set(children) - {pid for pid, _ in ended}
    assert [os.waitstatus_to_exitcode(status) for _, status in ended] == [7, 7, 7]
    assert reap(last) == 0
