"""Agents and stores that fail in a way of their own after a stop: told with the boundary."""

from __future__ import annotations

import asyncio

import pytest
from support.resumable import check, small
from support.stores import FILE_STORES

from pytest_synaptum import Stop
from pytest_synaptum.resume import children
from pytest_synaptum.resume.stops import Gate
from pytest_synaptum.resume.stores import GatedStore
from synaptum import JsonlCheckpointer, MemoryCheckpointer, SqliteCheckpointer
from synaptum.errors import JournalBusyError
from synaptum.journal.store import Claimable, place_of
from synaptum.testing import calls

READS = (calls("read", path="a"), "Done.")


class Locked:
    """A store with a lock file, which a killed process leaves behind."""

    error: Exception = OSError("the journal is locked")

    def __init__(self, folder):
        self.inner = FILE_STORES["jsonl"](folder)
        self.lock = folder / "lock"
        self.is_mine = False

    async def append(self, run_id, event):
        if not self.is_mine:
            if self.lock.exists():
                await self.wait()
            self.lock.touch()
            self.is_mine = True
        await self.inner.append(run_id, event)

    async def wait(self):
        raise self.error

    async def load(self, run_id):
        return await self.inner.load(run_id)

    async def release(self, run_id):
        await self.inner.release(run_id)
        if self.is_mine:
            self.lock.unlink()
            self.is_mine = False

    def close(self):
        self.inner.close()


class Busy(Locked):
    error = JournalBusyError("the run is being written by somebody")


class Waiting(Locked):
    async def wait(self):
        await asyncio.Event().wait()


class Opening(Locked):
    """As `Locked`, but takes the lock when it is opened."""

    def __init__(self, folder):
        super().__init__(folder)
        if self.lock.exists():
            raise self.error
        self.lock.touch()
        self.is_mine = True


def first(report):
    assert not report.ok
    return report.findings[0]


@pytest.mark.skipif(not children.can_fork(), reason="this system has no fork")
@pytest.mark.parametrize("store", [Locked, Busy, Opening])
def test_a_store_that_keeps_its_lock_over_a_kill_is_named(store):
    found = first(check(small, *READS, checkpointer=store, stops={Stop.KILLED_AFTER, Stop.AFTER}))

    assert str(found.cell) == "killed after write, 0 000000-model attempted"
    assert found.came == f"{type(store.error).__name__}: {store.error}"
    assert found.cause == "the store: what it leaves behind when a run is stopped here"


@pytest.mark.skipif(not children.can_fork(), reason="this system has no fork")
def test_a_store_that_waits_for_a_lock_for_ever_does_not_hang_the_test(monkeypatch):
    monkeypatch.setattr(children, "PATIENCE_S", 0.5)

    found = first(check(small, *READS, checkpointer=Waiting, stops={Stop.KILLED_AFTER}, sample=1))

    assert (found.message, found.came) == ("the run hangs", "no end after 1 seconds")


@pytest.mark.skipif(not children.can_fork(), reason="this system has no fork")
def test_a_store_that_is_slow_is_waited_for_as_long_as_the_straight_run_took_ten_times(monkeypatch):
    """In children too: they end themselves by an alarm."""
    monkeypatch.setattr(children, "PATIENCE_S", 1)

    class Slow(Locked):
        async def append(self, run_id, event):
            await asyncio.sleep(0.2)
            await self.inner.append(run_id, event)

        async def release(self, run_id):
            await self.inner.release(run_id)

    # The last of eight writes is killed after 1.6 seconds.
    report = check(small, *READS, checkpointer=Slow, stops={Stop.KILLED_AFTER}, sample=4)

    assert report.ok, str(report)


@pytest.mark.parametrize("kind", [Stop.ENDED, Stop.AFTER])
def test_an_error_of_the_agents_own_is_told_with_its_boundary_and_where_it_was_raised(kind):
    asked = []

    def instructions():
        asked.append(1)
        if len(asked) > 10:
            raise LookupError("the server of instructions is down")
        return "Be exact."

    report = check(lambda: small(instructions=instructions), *READS, stops={kind})

    found = report.findings[-1]
    assert (found.check, found.came) == ("end", "LookupError: the server of instructions is down")
    assert found.cell is not None
    assert "in instructions" in found.text()


def test_the_straight_runs_own_error_is_raised_as_it_is():
    class Broken(Locked):
        async def append(self, run_id, event):
            raise self.error

    with pytest.raises(OSError, match="the journal is locked") as caught:
        check(small, *READS, checkpointer=Broken)
    assert caught.value is Locked.error


def test_a_run_that_is_gone_on_with_is_claimed_as_outside_of_a_test():
    claimed = []

    class Claiming(Locked):
        async def claim(self, run_id):
            claimed.append(run_id)
            await self.inner.claim(run_id)

        async def append(self, run_id, event):
            await self.inner.append(run_id, event)

    report = check(small, *READS, checkpointer=Claiming, stops={Stop.AFTER})

    assert report.ok, str(report)
    assert len(set(claimed)) >= len(report.cells) - 1, "all but the run that was closed"


def test_a_gated_store_is_at_the_place_of_the_store(tmp_path):
    with JsonlCheckpointer(tmp_path / "j") as store:
        gated = GatedStore(store, Gate(), lambda event: None)

        assert place_of(gated) == place_of(store)
        assert isinstance(gated, Claimable)


async def later(folder):
    return SqliteCheckpointer(folder / "j")


@pytest.mark.parametrize(
    ("given", "made"), [(later, "made a coroutine"), (lambda: None, "made a NoneType")]
)
def test_a_factory_that_opens_no_store_says_so(given, made):
    with pytest.raises(TypeError, match=made):
        check(small, *READS, checkpointer=given)


def test_one_store_in_memory_for_all_runs_outlives_no_process():
    shared = MemoryCheckpointer()

    report = check(small, *READS, checkpointer=lambda: shared)

    assert report.ok, str(report)
    assert report.notes == ["no process was killed: the store does not outlive one"]
