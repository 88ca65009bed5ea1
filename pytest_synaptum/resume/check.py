"""The check: one straight run, then a stopped and resumed one for every boundary and stop.

A long run is first stopped at all its boundaries one after the other in one run a kind of stop
(see `chain`), and then at some of them each in a run of its own: stopping n boundaries each in
a run of its own is n squared steps.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Final

from pytest_synaptum.resume.baseline import boundaries_of
from pytest_synaptum.resume.boundaries import cells, sampled, stoppable
from pytest_synaptum.resume.chain import Chain
from pytest_synaptum.resume.children import can_fork, refuse_kills
from pytest_synaptum.resume.passage import Setup
from pytest_synaptum.resume.repeating import repeating
from pytest_synaptum.resume.report import Finding, ResumeReport
from pytest_synaptum.resume.runner import Runner
from pytest_synaptum.resume.stops import KILLS, Stop
from synaptum.errors import ConfigurationError

__all__ = ["Checker"]

#: From this many boundaries on a run counts as long.
LONG: Final = 40
#: Boundaries of a long run that are looked at each in a run of its own.
ON_THEIR_OWN: Final = 12


class Checker:
    """Checks one agent with one task.

    Args:
        setup: what is checked.
        folder: an empty folder, for stores and logs.

    Attributes:
        runner: makes the runs, and has the report and the straight run.
    """

    def __init__(self, setup: Setup, folder: Path) -> None:
        self.runner = Runner(setup, folder)
        self._setup = setup

    @property
    def report(self) -> ResumeReport:
        """What was found so far."""
        return self.runner.report

    async def run(self, *, stops: Collection[Stop] | None, sample: int | None) -> ResumeReport:
        """Check everything that `stops` and `sample` ask for.

        Raises:
            ConfigurationError: there is nothing to stop.
            Exception: whatever the straight run raises that is no end of a run.
        """
        self._add(await self.runner.straight())
        self.report.boundaries = boundaries_of(self.runner.baseline)
        if not self.report.boundaries:
            msg = (
                f"The run wrote nothing to its journal ({self.runner.baseline.end}), so there is"
                " nothing to stop: let it begin."
            )
            raise ConfigurationError(msg)
        if self.report.ok:
            self._add(await self.runner.repeat())
        if not self.report.ok:
            return self.report
        with repeating():
            self._add(await self.runner.another_configuration())
            if stops is None or len(stops):
                with closing(self.runner.killer):
                    await self._stops(self._wanted(stops), sample)
        return self.report

    async def _stops(self, wanted: set[Stop], sample: int | None) -> None:
        boundaries = stoppable(self.report.boundaries, wanted)
        everything = cells(boundaries, wanted, sampled(boundaries, None))
        if sample is None and len(boundaries) > LONG:
            for stop in Stop:
                links = [cell for cell in everything if cell.stop is stop]
                if links and not await Chain(self.runner, links).holds():
                    break  # something is wrong: every boundary tells in a run of its own
            else:
                self.report.cells = everything
                sample = ON_THEIR_OWN
        numbers = sampled(boundaries, sample)
        on_their_own = cells(boundaries, wanted, numbers)
        if not self.report.cells:
            self.report.cells = on_their_own
        if len(numbers) < len(boundaries):
            self.report.notes.append(_told(len(numbers), len(boundaries), self.report))
        for cell in on_their_own:
            self._add(await self.runner.stopped(cell))

    def _add(self, finding: Finding | None) -> None:
        if finding is not None:
            self.report.findings.append(finding)

    def _wanted(self, stops: Collection[Stop] | None) -> set[Stop]:
        wanted = set(Stop) if stops is None else set(stops)
        if not self._setup.is_streamed:
            wanted.discard(Stop.IN_STREAM)
        outlives = self.runner.outlives
        if outlives and can_fork():
            return wanted
        if stops is not None and KILLS & wanted and outlives:
            refuse_kills()
        if stops is not None and KILLS & wanted:
            msg = (
                "A killed process is asked for, but the store does not outlive one: opened a"
                " second time, it does not know the run. Give a store on disk that takes its"
                " folder, such as lambda folder: SqliteCheckpointer(folder / 'journal.db')."
            )
            raise ConfigurationError(msg)
        why = "this system has no fork" if outlives else "the store does not outlive one"
        self.report.notes.append(f"no process was killed: {why}")
        return wanted - KILLS


def _told(looked: int, count: int, report: ResumeReport) -> str:
    if len({cell.boundary.number for cell in report.cells}) == count:
        return (
            f"a long run: all {count} boundaries one after the other in one run a kind of stop,"
            f" {looked} of them also each in a run of its own"
        )
    return f"sampled: {looked} of {count} boundaries"
