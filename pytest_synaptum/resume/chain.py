"""One run that is stopped at every boundary, again and again, and resumed each time.

For long runs: it costs one run and n readings of the journal, where a run of its own for each
boundary costs n runs. Each link of the chain is a stop and a resume for real: the next passage
starts from what the last one left. Killed processes make a chain too: each child goes on where
the one before was killed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pytest_synaptum.resume import judge
from pytest_synaptum.resume.baseline import Key
from pytest_synaptum.resume.boundaries import Cell
from pytest_synaptum.resume.fork_server import ServerEndedError
from pytest_synaptum.resume.passage import End, passage
from pytest_synaptum.resume.runner import SAME_PROCESS, Place, Runner, answered_in, on_record
from pytest_synaptum.resume.stops import KILLS, Gate
from pytest_synaptum.resume.stores import GatedStore, close_store
from pytest_synaptum.resume.tape import ReplayingGateway

__all__ = ["Chain"]


class Chain:
    """A run stopped at each of some boundaries, by one kind of stop.

    Args:
        runner: makes the runs of this check.
        links: the boundaries, in order.
    """

    def __init__(self, runner: Runner, links: Sequence[Cell]) -> None:
        self._runner = runner
        self._links = links
        self._place: Place = runner.new()
        self._inner: Any = None
        self._agent: Any = None
        self._store: Any = None

    async def holds(self) -> bool:
        """Whether the run ends as the straight one; says nothing of where it does not."""
        try:
            return await self._holds()
        except ServerEndedError:
            raise
        except Exception:
            return False

    async def _holds(self) -> bool:
        self._inner = self._runner.setup.gateway()
        self._agent = self._runner.setup.agent()
        try:
            for day, cell in enumerate(self._links):
                async with asyncio.timeout(self._runner.patience_s):
                    if not await self._link(cell, day):
                        return False
            async with asyncio.timeout(self._runner.patience_s):
                return await self._end()
        finally:
            await self._close()

    async def _link(self, cell: Cell, day: int) -> bool:
        if cell.stop in KILLS:
            return self._killed(cell, day)
        if cell.stop not in SAME_PROCESS:
            self._agent = self._runner.setup.agent()
            if self._runner.outlives:
                await self._close()
        asked, written = len(self._place.world.asks), list(self._place.world.acknowledged)
        end, store = await self._passage(self._gate(cell), day)
        return end.kind == "stopped" and self._is_well(cell, store, asked, written)

    def _gate(self, cell: Cell) -> Gate:
        on_record = len(self._place.world.acknowledged)
        return Gate(cell.boundary.number, cell.stop, writes=on_record)

    async def _passage(self, gate: Gate, day: int) -> tuple[End, GatedStore]:
        setup, world = self._runner.setup, self._place.world
        if self._store is None:
            self._store = setup.open_store(self._place.folder)
        gated = GatedStore(self._store, gate, world.wrote)
        tape = self._runner.baseline.tape
        end = await passage(
            setup,
            world,
            gated,
            ReplayingGateway(self._inner, world, gate, tape),
            gate,
            day=day,
            settle=self._runner.baseline.settled,
            agent=self._agent,
        )
        return end, gated

    def _killed(self, cell: Cell, day: int) -> bool:
        world, folder = self._place.world, self._place.folder
        log = self._place.log(day)
        status = self._runner.killer.killed(world, folder, self._gate(cell), log, day)
        return status == -9 and len(world.acknowledged) == on_record(cell)

    def _is_well(self, cell: Cell, store: GatedStore, asked: int, written: list[Key]) -> bool:
        """What can be told at a link: what was read, what was asked for again.

        In: how many questions there were before it, and what was written.
        """
        world, baseline = self._place.world, self._runner.baseline
        found = {world.name_of(run_id): events for run_id, events in store.found.items()}
        where = str(cell)
        return not (
            judge.kept_whole(where, [key for key in written if key[0] in found], found)
            or judge.stray(where, baseline, world)
            or judge.asked_once(where, world, asked, answered_in(found))
            or world.is_shifted
        )

    async def _end(self) -> bool:
        """Run to the end, and compare all of it."""
        runner, world = self._runner, self._place.world
        baseline, where = runner.baseline, f"{self._links[0].stop.value} at every boundary"
        if runner.outlives:
            await self._close()
        self._agent = runner.setup.agent()
        end, _ = await self._passage(Gate(), len(self._links))
        journals = await runner.journals_of(self._store, world)
        return not (
            world.is_shifted
            or judge.stray(where, baseline, world)
            or judge.effects_once(where, baseline, world)
            or judge.ended_alike(where, baseline, end, world)
            or judge.kept_whole(where, world.acknowledged, journals)
            or judge.same_journals(where, baseline, world, journals)
        )

    async def _close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            await close_store(store)
