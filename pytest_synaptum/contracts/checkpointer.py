"""What every store of journals promises, as tests to subclass."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_synaptum.contracts.sample import sample_run
from pytest_synaptum.resume.children import can_fork, run_in_child, start_child, wait_for_child
from pytest_synaptum.resume.stops import Gate, Stop
from pytest_synaptum.resume.stores import GatedStore, close_store, refuse_no_store
from synaptum.errors import (
    ConfigurationError,
    EncodingError,
    JournalBusyError,
    JournalDivergedError,
)
from synaptum.journal.store import Claimable, Releasable, RunState, place_of
from synaptum.vocabulary import Step, ToolResult, ToolStep

__all__ = ["CheckpointerContract"]

#: Exit code of a child whose write was refused.
_REFUSED = 7


class CheckpointerContract:
    """Subclass it, name the subclass `Test...`, and say how a store is opened.

    Attributes:
        outlives: whether a store opened again knows what was written; a store in memory sets
            it to False, and the promises about processes are skipped, visibly.
    """

    outlives = True

    def open_store(self, folder: Path) -> Any:
        """Open the store in `folder`; twice on one folder is the same store."""
        msg = f"{type(self).__name__} must say how its store is opened: open_store(folder)."
        raise TypeError(msg)

    def _with_store(self, folder: Path, work: Callable[[Any], Awaitable[Any]]) -> Any:
        async def go() -> Any:
            store = self.open_store(folder)
            refuse_no_store(store, f"{type(self).__name__}.open_store(folder)")
            try:
                return await work(store)
            finally:
                await close_store(store)

        return asyncio.run(go())

    def _only_if_it_outlives(self) -> None:
        if not self.outlives:
            pytest.skip("the store does not outlive its process, and says so (outlives = False)")

    def test_an_unknown_run_is_an_empty_journal(self, tmp_path: Path) -> None:
        """Asking for a run that nobody wrote is no error."""

        async def work(store: Any) -> None:
            state = await store.load("nobody")
            assert state == RunState("nobody", ()), "load() of an unknown run gives no empty state"

        self._with_store(tmp_path, work)

    def test_what_was_appended_is_loaded_as_it_was_and_in_order(self, tmp_path: Path) -> None:
        """1, 1.0 and True stay apart, so do null, an empty text and nothing."""
        events = list(sample_run())

        async def work(store: Any) -> None:
            await _fill(store, events)
            _same(await _load(store), events)

        self._with_store(tmp_path, work)

    def test_a_store_opened_again_knows_what_was_written(self, tmp_path: Path) -> None:
        """What was acknowledged is on record, not in an object."""
        self._only_if_it_outlives()
        events = list(sample_run())
        self._with_store(tmp_path, lambda store: _fill(store, events))

        _same(self._with_store(tmp_path, _load), events)

    def test_the_same_event_twice_is_on_record_once(self, tmp_path: Path) -> None:
        """A write whose acknowledgement was lost is made again."""
        events = list(sample_run(closed=False))

        async def work(store: Any) -> None:
            await _fill(store, events)
            await _fill(store, events)
            _same(await _load(store), events)

        self._with_store(tmp_path, work)

    def test_the_time_of_an_event_does_not_make_it_another(self, tmp_path: Path) -> None:
        """`at` never counts; the first one stays."""
        events = list(sample_run(1, closed=False))

        async def work(store: Any) -> None:
            await _fill(store, events)
            await store.append("run-1", dataclasses.replace(events[1], at="2027-01-01T00:00:00Z"))
            _same(await _load(store), events)

        self._with_store(tmp_path, work)

    def test_another_payload_is_refused_and_what_is_on_record_stays(self, tmp_path: Path) -> None:
        """The same step with another result is a divergence, named by step."""
        events = list(sample_run(2, closed=False))
        other = _with_result(events[3], ToolResult.of("call_0", "other"))

        async def work(store: Any) -> None:
            await _fill(store, events)
            with pytest.raises(JournalDivergedError) as caught:
                await store.append("run-1", other)
            assert caught.value.step_id == "000001-tool"
            _same(await _load(store), events)

        self._with_store(tmp_path, work)

    def test_one_and_one_point_zero_are_two_payloads(self, tmp_path: Path) -> None:
        """They are equal to Python, and two things to a server."""
        event = dataclasses.replace(next(sample_run()), meta={"n": 1})

        async def work(store: Any) -> None:
            await store.append("run-1", event)
            with pytest.raises(JournalDivergedError):
                await store.append("run-1", dataclasses.replace(event, meta={"n": 1.0}))

        self._with_store(tmp_path, work)

    def test_runs_of_one_store_do_not_mix(self, tmp_path: Path) -> None:
        """A run and the run of its sub-agent are written in turns."""
        ours = list(sample_run(2, run_id="run-1"))
        theirs = list(sample_run(2, run_id="run-1.000001-delegate"))

        async def work(store: Any) -> None:
            for one, other in zip(ours, theirs, strict=True):
                await _fill(store, [one, other])
            _same(await _load(store), ours)
            _same(await _load(store, "run-1.000001-delegate"), theirs)

        self._with_store(tmp_path, work)

    def test_an_event_of_another_run_is_refused(self, tmp_path: Path) -> None:
        """An event knows its run."""

        async def work(store: Any) -> None:
            with pytest.raises(ConfigurationError):
                await store.append("run-2", next(sample_run()))

        self._with_store(tmp_path, work)

    def test_a_value_without_json_is_refused_and_leaves_no_trace(self, tmp_path: Path) -> None:
        """The journal goes on behind the refusal."""
        events = list(sample_run(1, closed=False))
        bad: Any = ToolResult("call_0", (), structured=Decimal(1))

        async def work(store: Any) -> None:
            await _fill(store, events[:3])
            with pytest.raises(EncodingError):
                await store.append("run-1", _with_result(events[3], bad))
            await store.append("run-1", events[3])
            _same(await _load(store), events)

        self._with_store(tmp_path, work)

    def test_events_appended_at_once_keep_their_order(self, tmp_path: Path) -> None:
        """Order is that of the calls, not of whoever finishes first."""
        events = list(sample_run(10))

        async def work(store: Any) -> None:
            await asyncio.gather(*(store.append("run-1", event) for event in events))
            _same(await _load(store), events)

        self._with_store(tmp_path, work)

    def test_a_cancelled_write_can_be_made_again(self, tmp_path: Path) -> None:
        """It may be on record or not; afterwards it is, once."""
        events = list(sample_run(2))

        async def work(store: Any) -> None:
            for event in events:
                writing = asyncio.ensure_future(store.append("run-1", event))
                await asyncio.sleep(0)
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                await store.append("run-1", event)
            _same(await _load(store), events)

        self._with_store(tmp_path, work)

    @pytest.mark.parametrize("stop", [Stop.KILLED_BEFORE, Stop.KILLED_AFTER])
    def test_a_killed_process_leaves_exactly_what_was_acknowledged(
        self, tmp_path: Path, stop: Stop
    ) -> None:
        """SIGKILL before a write or after it, at every write; then another process goes on."""
        self._only_if_it_outlives()
        if not can_fork():
            pytest.skip("this system has no fork")
        events = list(sample_run(2))
        for number in range(len(events)):
            folder = tmp_path / str(number)
            folder.mkdir()
            gate = Gate(number, stop)
            status = run_in_child(self._writer(folder, gate, events), folder / "log")
            assert status == -9, "the store did not come to the boundary in a process of its own"
            there = number + (stop is Stop.KILLED_AFTER)
            _same(self._with_store(folder, _load), events[:there])
            self._with_store(folder, lambda store: _fill(store, events))
            _same(self._with_store(folder, _load), events)

    def _writer(
        self, folder: Path, gate: Gate, events: list[Step]
    ) -> Callable[[int], Awaitable[None]]:
        async def work(_: int) -> None:
            await _fill(GatedStore(self.open_store(folder), gate, lambda event: None), events)

        return work

    def test_a_run_has_one_writer_at_a_time(self, tmp_path: Path) -> None:
        """A second process is refused while a first one holds the run, and not afterwards."""
        self._only_in_two_processes()
        events = list(sample_run(1, closed=False))

        async def first(store: Any) -> None:
            await store.append("run-1", events[0])

        status = self._beside(tmp_path, first, events[1])
        assert status == _REFUSED, "a second process wrote a run that another one holds"

        status = run_in_child(self._one_write(tmp_path, events[1]), tmp_path / "third.log")
        assert status == 0, "the run is still held although its store was closed"

    def test_a_claimed_run_is_held_as_if_it_were_written(self, tmp_path: Path) -> None:
        """Where runs can be claimed: whoever resumes one claims it before it does anything."""
        self._only_in_two_processes()
        events = list(sample_run(1, closed=False))
        is_claimable = self._with_store(tmp_path, _is_claimable)
        if not is_claimable:
            pytest.skip("the store's runs cannot be claimed before they are written (no claim)")
        self._with_store(tmp_path, lambda store: _fill(store, events[:1]))

        async def first(store: Any) -> None:
            await store.load("run-1")
            await store.claim("run-1")

        status = self._beside(tmp_path, first, events[1])
        assert status == _REFUSED, "a second process wrote a run that another one has claimed"

    def test_a_run_that_was_let_go_of_can_be_written_elsewhere(self, tmp_path: Path) -> None:
        """Where a store holds runs, `release` lets another one write them, in any process."""
        self._only_if_it_outlives()
        events = list(sample_run(1, closed=False))

        async def let_go(store: Any) -> None:
            await store.append("run-1", events[0])
            if isinstance(store, Releasable):
                await store.release("run-1")
                await store.release("nobody")

        async def work(store: Any) -> None:
            await let_go(store)
            other = self.open_store(tmp_path / "here")
            try:
                await other.load("run-1")
                await other.append("run-1", events[1])
            finally:
                await close_store(other)
            _same(await _load(store), events[:2])

        (tmp_path / "here").mkdir()
        self._with_store(tmp_path / "here", work)
        if can_fork():
            (tmp_path / "there").mkdir()
            status = self._beside(tmp_path / "there", let_go, events[1])
            assert status == 0, "another process cannot write a run that was let go of"

    def test_stores_that_name_their_place_name_the_same_for_the_same_runs(
        self, tmp_path: Path
    ) -> None:
        """A run is gone through once at a time by its place: two journals, two places."""
        self._only_if_it_outlives()
        for name in ("one", "other"):
            (tmp_path / name).mkdir()

        async def place(store: Any) -> Any:
            return None if getattr(store, "place", None) is None else place_of(store)

        first, again = (self._with_store(tmp_path / "one", place) for _ in range(2))
        other = self._with_store(tmp_path / "other", place)
        assert first == again, "two stores of the same journals say that they are at two places"
        assert first is None or first != other, "two journals say that they are at one place"

    def _only_in_two_processes(self) -> None:
        self._only_if_it_outlives()
        if not can_fork():
            pytest.skip("this system has no fork")

    def _beside(self, folder: Path, first: Callable[[Any], Awaitable[None]], event: Step) -> int:
        """The exit code of a process that writes `event` while a store is open here.

        In: what is done with the store here before that; the child is forked before it is opened.
        """
        begin, go = os.pipe()

        async def second(descriptor: int) -> None:
            os.read(begin, 1)  # until the first writer is done
            await self._one_write(folder, event)(descriptor)

        child = start_child(second, folder / "second.log")

        async def work(store: Any) -> int:
            try:
                await first(store)
            finally:
                os.write(go, b".")
                status = wait_for_child(child)
            return status

        try:
            return int(self._with_store(folder, work))
        finally:
            os.close(begin)
            os.close(go)

    def _one_write(self, folder: Path, event: Step) -> Callable[[int], Awaitable[None]]:
        async def write(_: int) -> None:
            store = self.open_store(folder)
            await store.load("run-1")
            try:
                await store.append("run-1", event)
            except JournalBusyError:
                os._exit(_REFUSED)

        return write


async def _is_claimable(store: Any) -> bool:
    return isinstance(store, Claimable)


def _with_result(event: Step, result: ToolResult) -> Step:
    assert isinstance(event, ToolStep)
    return dataclasses.replace(event, result=result)


async def _fill(store: Any, events: list[Step]) -> None:
    for event in events:
        await store.append(event.run_id, event)


async def _load(store: Any, run_id: str = "run-1") -> tuple[Step, ...]:
    state = await store.load(run_id)
    assert state.run_id == run_id, "load() gives the state of a run of another name"
    return tuple(state.events)


def _same(came: tuple[Step, ...], expected: list[Step]) -> None:
    names = [f"{event.step_id} {event.phase.value}" for event in came]
    wanted = [f"{event.step_id} {event.phase.value}" for event in expected]
    assert names == wanted, "the store does not give back what was written, once and in order"
    for one, other in zip(came, expected, strict=True):
        assert one == other, f"{other.step_id} came back as another event"
