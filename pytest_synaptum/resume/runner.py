"""Single runs for the check: the straight one, its repetition, and stopped and resumed ones.

Each run is a world of its own: a store on a fresh place, a fresh view of the answers, and tools
that are really run. Stops inside this process share the outside world (the gateway's tools)
over the stop, as a crash does not undo what was done; a killed process takes what it held in
memory with it.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_synaptum.resume import children, findings, judge
from pytest_synaptum.resume.baseline import Baseline, Journals, read_journals
from pytest_synaptum.resume.boundaries import Cell
from pytest_synaptum.resume.children import told_by
from pytest_synaptum.resume.fork_server import ServerEndedError
from pytest_synaptum.resume.killing import Killer, differs_in
from pytest_synaptum.resume.passage import End, Setup, passage
from pytest_synaptum.resume.repeating import repeating
from pytest_synaptum.resume.report import Finding, ResumeReport
from pytest_synaptum.resume.scripts import unknown_fate
from pytest_synaptum.resume.stops import KILLS, Gate, Stop
from pytest_synaptum.resume.stores import (
    GatedStore,
    StoreFailedError,
    close_store,
    is_ours,
    loaded,
)
from pytest_synaptum.resume.tape import RecordingGateway, ReplayingGateway, Tape
from pytest_synaptum.resume.variants import refuses_another
from pytest_synaptum.resume.world import World
from synaptum.errors import ConfigurationError, JournalError
from synaptum.journal.blocking import on_this_thread
from synaptum.vocabulary import ModelStep, Phase

__all__ = ["SAME_PROCESS", "Place", "Runner", "answered_in", "on_record"]

#: After these the run goes on with the store and the agent that are there, as a server does;
#: after the others both are made anew, as by a process that starts again.
SAME_PROCESS = frozenset({Stop.ENDED, Stop.IN_STREAM, Stop.CANCELLED})

#: Of these the write at the boundary did not happen.
_NOT_WRITTEN = frozenset({Stop.BEFORE, Stop.IN_STREAM, Stop.KILLED_BEFORE, Stop.KILLED_EFFECT})


def on_record(cell: Cell) -> int:
    """How many writes were acknowledged when the run was stopped."""
    return cell.boundary.number + (cell.stop not in _NOT_WRITTEN)


@dataclass(frozen=True, slots=True)
class Place:
    """A world, and the folder of its store, which exists once the store was opened."""

    world: World
    folder: Path

    def log(self, day: int = 0) -> Path:
        """Where a child that goes on with the run tells what it does."""
        return self.folder.with_name(f"{self.folder.name}-{day}.log")


class Runner:
    """Makes runs of one agent with one task.

    Attributes:
        report: what was counted so far.
        baseline: the straight run, once there was one.
        killer: makes the passages that are killed, likewise.
        outlives: whether the store knows a run when it is opened a second time.
        patience_s: seconds after which a run counts as hung.
    """

    def __init__(self, setup: Setup, folder: Path) -> None:
        self.setup = setup
        self.report = ResumeReport()
        self.baseline: Baseline
        self.killer: Killer
        self.outlives = False
        self.patience_s: float = children.PATIENCE_S
        self._folder = folder
        self._token = secrets.token_hex(4)
        self._count = 0
        self._wire: Any = None

    def new(self) -> Place:
        """A world of its own."""
        self._count += 1
        folder = self._folder / str(self._count)
        return Place(World(f"check-{self._token}-{self._count}"), folder)

    async def straight(self) -> Finding | None:
        """Run without a stop, and find out whether the store outlives the process.

        Raises: what the agent, the gateway or the store raised.
        """
        started = time.monotonic()
        try:
            finding = await self._straight()
        except StoreFailedError as failed:
            raise failed.error from None
        self.patience_s = children.patience_s(time.monotonic() - started)
        self.killer = Killer(self.setup, self.baseline, self._folder, self.patience_s)
        return finding

    async def tried(
        self, where: str, work: Callable[[], Awaitable[Finding | None]]
    ) -> Finding | None:
        """What `work` finds; that it raised or hung is a finding too.

        Raises:
            ServerEndedError: nothing can be killed any more.
        """
        limit_s = 2 * self.patience_s  # it is stopped, and it is resumed
        limit = asyncio.timeout(limit_s)
        try:
            async with limit:
                return await work()
        except ServerEndedError:
            raise
        except (StoreFailedError, JournalError) as error:
            return findings.store_failed(where, getattr(error, "error", error))
        except Exception as error:
            if limit.expired():
                return findings.hung(where, limit_s)
            return findings.raised(where, error)

    async def _straight(self) -> Finding | None:
        place, tape, gate = self.new(), Tape(), Gate()
        store = self.setup.open_store(place.folder)
        try:
            inner = self.setup.gateway()
            gateway = RecordingGateway(inner, place.world, gate, tape)
            end = await self.run_once(place.world, store, gateway, gate)
            if isinstance(end.error, ConfigurationError | JournalError):
                raise end.error
            journals = await self.journals_of(store, place.world)
        finally:
            await close_store(store)
        self._wire = getattr(inner, "wire_body", None)
        self.baseline = Baseline.of(place.world, tape, journals, end)
        again = self.setup.open_store(place.folder)
        try:
            # One and the same object is in this process's memory, whatever it holds.
            is_another = again is not store
            self.outlives = is_another and bool((await loaded(again, place.world.run_id)).events)
        finally:
            await close_store(again)
        return judge.kept_whole("the straight run", self.baseline.writes, journals)

    async def repeat(self) -> Finding | None:
        """Run a second time without a stop: what differs now has nothing to do with stopping."""
        where = "the same run again, not stopped"
        return await self.tried(where, lambda: self._repeat(where))

    async def _repeat(self, where: str) -> Finding | None:
        place, gate = self.new(), Gate()
        store = self.setup.open_store(place.folder)
        try:
            with repeating():
                inner = self.setup.gateway()
                gateway = ReplayingGateway(inner, place.world, gate, self.baseline.tape)
                end = await self.run_once(place.world, store, gateway, gate)
            journals = await read_journals(store, place.world, self.baseline.journals)
        finally:
            await close_store(store)
        return (
            judge.same_events(where, self.baseline, place.world)
            or judge.stray(where, self.baseline, place.world)
            or judge.ended_alike(where, self.baseline, end, place.world)
            or judge.same_journals(where, self.baseline, place.world, journals)
            or judge.same_wire(where, self.baseline, self._wire, getattr(inner, "wire_body", None))
        )

    async def another_configuration(self) -> Finding | None:
        """A run goes on with the configuration that began it, or not at all."""
        return await self.tried("resumed with another configuration", self._another_configuration)

    async def _another_configuration(self) -> Finding | None:
        place = self.new()
        middle = len(self.baseline.writes) // 2
        gate = Gate(middle, Stop.AFTER)
        store = self.setup.open_store(place.folder)
        try:
            inner = self.setup.gateway()
            gateway = ReplayingGateway(inner, place.world, gate, self.baseline.tape)
            await self.run_once(place.world, store, gateway, gate)
            return await refuses_another(self.setup, self.baseline, place.world, store, inner)
        finally:
            await close_store(store)

    async def stopped(self, cell: Cell) -> Finding | None:
        """Stop a run at a boundary, resume it, and compare."""
        place = self.new()
        finding = await self.tried(str(cell), lambda: self._stop_and_resume(cell, place))
        # There are many of them, and they may lie in memory.
        shutil.rmtree(place.folder, ignore_errors=True)
        if finding is None:
            return None
        return findings.at(finding, cell)

    async def _stop_and_resume(self, cell: Cell, place: Place) -> Finding | None:
        where = str(cell)
        world = place.world
        store: Any
        gate = Gate(cell.boundary.number, cell.stop)
        agent = self.setup.agent()
        if cell.stop in KILLS:
            finding = self.kill(place, gate, cell)
            if finding is not None:
                return finding
            inner = self.setup.gateway()
            with on_this_thread():
                store = self.setup.open_store(place.folder)
        else:
            store = self.setup.open_store(place.folder)
            inner = self.setup.gateway()
            gateway = ReplayingGateway(inner, world, gate, self.baseline.tape)
            end = await self.run_once(world, store, gateway, gate, agent)
            if end.kind != "stopped" or world.strays:
                await close_store(store)
                return (
                    judge.same_events(where, self.baseline, world)
                    or judge.stray(where, self.baseline, world)
                    or findings.not_stopped(where, world, end)
                )
        try:
            if cell.stop not in SAME_PROCESS:
                agent = self.setup.agent()
                if cell.stop not in KILLS and self.outlives:
                    await close_store(store)
                    store = self.setup.open_store(place.folder)
            return await self._resume(cell, where, world, store, inner, agent)
        finally:
            await close_store(store)

    async def _resume(
        self, cell: Cell, where: str, world: World, store: Any, inner: Any, agent: Any
    ) -> Finding | None:
        writes = self.baseline.writes[: on_record(cell)]
        # What a store of ours keeps, its own tests hold: reading it back at the resume is enough.
        reads_at_stop = not is_ours(store)
        runs = list(self.baseline.journals)
        at_stop: Journals = {}
        if reads_at_stop:
            at_stop = await read_journals(store, world, runs)
            finding = judge.kept_whole(where, writes, at_stop)
            if finding is not None:
                return finding
        asked = len(world.asks)
        gateway = ReplayingGateway(inner, world, Gate(), self.baseline.tape)
        gated = GatedStore(store, Gate(), world.wrote)
        end = await passage(
            self.setup,
            world,
            gated,
            gateway,
            Gate(),
            day=1,
            settle=self.baseline.settled,
            agent=agent,
        )
        self.count_repeats(world, asked)
        journals: Journals | None = None
        if cell.stop in KILLS or reads_at_stop:
            journals = await self.journals_of(store, world)
        if not reads_at_stop:
            at_stop = {world.name_of(run_id): found for run_id, found in gated.found.items()}
            writes = [key for key in writes if key[0] in at_stop]
        return (
            judge.kept_whole(where, writes, at_stop)
            or judge.asked_once(where, world, asked, answered_in(at_stop))
            or judge.effects_once(where, self.baseline, world)
            or judge.uncertain_exactly(where, self.baseline, world, self.unknown(at_stop))
            or judge.same_events(where, self.baseline, world)
            or judge.stray(where, self.baseline, world)
            or judge.ended_alike(where, self.baseline, end, world)
            or self._same_journals(where, world, journals)
        )

    def _same_journals(self, where: str, world: World, journals: Journals | None) -> Finding | None:
        if journals is not None:
            finding = judge.kept_whole(where, world.acknowledged, journals)
            if finding is not None:
                return finding
        if world.is_shifted:
            return judge.same_output(where, self.baseline, world)
        if journals is not None:
            return judge.same_journals(where, self.baseline, world, journals)
        return None

    async def journals_of(self, store: Any, world: World) -> Journals:
        """The journals of a run and of all sub-agents that wrote or were expected to."""
        runs = ["run", *(run for run, _, _ in world.acknowledged)]
        if hasattr(self, "baseline"):
            runs += self.baseline.journals
        return await read_journals(store, world, dict.fromkeys(runs))

    async def run_once(
        self, world: World, store: Any, gateway: Any, gate: Gate, agent: Any = None
    ) -> End:
        """The first passage of a run."""
        gated = GatedStore(store, gate, world.wrote)
        return await passage(self.setup, world, gated, gateway, gate, agent=agent)

    def kill(self, place: Place, gate: Gate, cell: Cell) -> Finding | None:
        """Run in a child that kills itself at the boundary."""
        log = place.log()
        status = self.killer.killed(place.world, place.folder, gate, log)
        if status != -9:
            differs = differs_in(log)
            if differs is not None:
                return replace(differs, where=str(cell))
            return findings.not_killed(str(cell), status, told_by(log), self.patience_s)
        if len(place.world.acknowledged) != on_record(cell):
            return findings.killed_elsewhere(str(cell))
        return None

    def unknown(self, journals: Journals) -> set[tuple[str, str]]:
        """Calls that were begun, as far as the journal knows, and may not be repeated."""
        ran = set(self.baseline.world.effects)
        fates = ((run, unknown_fate(events)) for run, events in journals.items())
        open_calls = {(run, step.step_id) for run, step in fates if step is not None}
        return open_calls & ran

    def count_repeats(self, world: World, asked: int) -> None:
        """Count what was done again, in its right."""
        again = set(world.asks[:asked]) & set(world.asks[asked:])
        self.report.asked_again += len(again)
        self.report.uncertain += len(world.uncertain)
        self.report.run_again += sum(times - 1 for times in world.times_run().values())


def answered_in(journals: Journals) -> set[tuple[str, str]]:
    """The steps whose answer is on record."""
    return {
        (run, event.step_id)
        for run, events in journals.items()
        for event in events
        if isinstance(event, ModelStep) and event.phase is Phase.COMPLETED
    }
