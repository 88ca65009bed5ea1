"""The check of an agent of any framework: straight, then stopped at every write and resumed."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pytest_synaptum.resume import findings
from pytest_synaptum.resume.boundaries import Boundary, Cell, cells, sampled, stoppable
from pytest_synaptum.resume.children import (
    NotKilledError,
    can_fork,
    patience_s,
    refuse_kills,
    told_by,
    written_in,
)
from pytest_synaptum.resume.fork_server import ForkServer, ServerEndedError
from pytest_synaptum.resume.protocol import AnyAgent, Probe, as_json
from pytest_synaptum.resume.report import Finding, ResumeReport
from pytest_synaptum.resume.stops import KILLS, Gate, Stop, tells_of_stop
from synaptum import canonical
from synaptum.errors import ConfigurationError

__all__ = ["check_any"]


NOTHING_YET: Final = (
    "nothing was on record when the run was stopped, and resume() did not begin it anew"
)


@dataclass(frozen=True, slots=True)
class _Straight:
    journal: list[Any]
    output: Any
    probe: Probe
    took_s: float


class _Stopper:
    """Stops runs and resumes them.

    Args:
        make: gives the agent over a folder.
        straight: the run that was not stopped.
        report: counts what was done again, in its right.
    """

    def __init__(
        self,
        make: Callable[[Path], AnyAgent],
        task: Any,
        straight: _Straight,
        report: ResumeReport,
    ) -> None:
        self._make = make
        self._task = task
        self._straight = straight
        self._report = report
        self._patience_s = patience_s(straight.took_s)
        self._server: ForkServer[tuple[Path, Probe]] | None = None

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def stopped(self, cell: Cell, place: Path) -> Finding | None:
        """Stop a run in an empty folder, resume it, and compare."""
        where, limit_s = str(cell), 2 * self._patience_s
        limit = asyncio.timeout(limit_s)
        try:
            async with limit:
                return await self._stop_and_resume(where, cell, place)
        except ServerEndedError:
            raise
        except Exception as error:
            if limit.expired():
                return findings.hung(where, limit_s)
            return findings.raised(where, error)

    async def _stop_and_resume(self, where: str, cell: Cell, place: Path) -> Finding | None:
        if cell.stop in KILLS:
            probe, finding = self._killed(cell, place)
        else:
            probe, finding = await self._ended(cell, place)
        if finding is not None:
            return finding
        finding = await self._resumed(where, place, probe)
        if finding is not None and probe.gate.writes == 0:
            return replace(finding, cause=NOTHING_YET)
        return finding

    async def _resumed(self, where: str, place: Path, probe: Probe) -> Finding | None:
        """Resume the run that `probe` was stopped in, and compare."""
        resumed = Probe(Gate())
        try:
            agent = self._make(place)
            output = await agent.resume(resumed)
            journal = list(await agent.journal())
        except Exception as error:
            return Finding(
                check="end",
                message="the run cannot be resumed",
                where=where,
                recorded="a run that ends with an output",
                came=f"{type(error).__name__}: {error}",
                cause="what is on record at this boundary is not enough to go on from",
            )
        return _repeated(where, self._straight, probe, resumed, self._report) or _compare(
            where, self._straight, journal, output
        )

    def _killed(self, cell: Cell, place: Path) -> tuple[Probe, Finding | None]:
        if self._server is None:
            self._server = ForkServer(
                self._live,
                patience_s=self._patience_s,
                orphaned=lambda: shutil.rmtree(place.parent, ignore_errors=True),
            )
        number, log = cell.boundary.number, place / "child.log"
        probe = Probe(Gate(number, cell.stop))
        if cell.stop is Stop.KILLED_EFFECT:
            last_effect = self._straight.probe.happened.index(number)
            probe = Probe(Gate(), last_effect=last_effect)
        status = self._server.run((place, probe), log)
        probe.adopt(written_in(log))
        probe.gate.writes = len(probe.names)
        if status == -9:
            return probe, None
        return probe, findings.not_killed(str(cell), status, told_by(log), self._patience_s)

    async def _live(self, job: tuple[Path, Probe], log: int) -> None:
        place, probe = job
        probe.log = log
        output = await self._make(place).start(self._task, probe)
        raise NotKilledError(repr(output))

    async def _ended(self, cell: Cell, place: Path) -> tuple[Probe, Finding | None]:
        probe = Probe(Gate(cell.boundary.number, cell.stop))
        try:
            if await _until_stopped(self._make(place), self._task, probe):
                return probe, None
        except Exception as error:
            return probe, findings.raised(str(cell), error)
        return probe, Finding(
            check="end",
            message="the run was stopped here, and went on",
            where=str(cell),
            recorded="a run that ends where its store fails or its task is cancelled",
            came="the run came to its end",
            cause="the framework swallows the error of the store, or the cancellation; or the"
            " adapter does not tell its probe before it writes",
        )


async def check_any(
    make: Callable[[Path], AnyAgent],
    task: Any,
    folder: Path,
    *,
    stops: Collection[Stop] | None = None,
    sample: int | None = None,
) -> ResumeReport:
    """Check an agent of any framework; see `check_resume` for what is compared.

    In: `make` gives the agent over a folder: a new one on the same folder is a new process.
    """
    report = ResumeReport()
    straight = await _straight(make, task, _sub(folder, "straight"))
    report.boundaries = _boundaries(straight.probe)
    if not report.boundaries:
        msg = (
            "The adapter told its probe of no write, so there is nothing to stop: call"
            " probe.before_write() and probe.after_write() around every durable write."
        )
        raise ConfigurationError(msg)
    again = await _straight(make, task, _sub(folder, "again"))
    where = "the same run again, not stopped"
    finding = _compare(where, straight, again.journal, again.output)
    if finding is not None:
        report.findings.append(finding)
        return report
    wanted = set(Stop if stops is None else stops) - {Stop.ENDED, Stop.IN_STREAM}
    if not can_fork() and wanted & KILLS:
        if stops is not None:
            refuse_kills()
        wanted -= KILLS
        report.notes.append("no process was killed: this system has no fork")
    boundaries = stoppable(report.boundaries, wanted)
    numbers = sampled(boundaries, sample)
    if len(numbers) < len(boundaries):
        report.notes.append(f"sampled: {len(numbers)} of {len(boundaries)} boundaries")
    with closing(_Stopper(make, task, straight, report)) as stopper:
        for cell in cells(boundaries, wanted, numbers):
            report.cells.append(cell)
            place = _sub(folder, f"{cell.boundary.number}-{cell.stop.name}")
            finding = await stopper.stopped(cell, place)
            shutil.rmtree(place, ignore_errors=True)  # there are many, and they may lie in memory
            if finding is not None:
                report.findings.append(findings.at(finding, cell))
    return report


def _sub(folder: Path, name: str) -> Path:
    place = folder / name
    place.mkdir()
    return place


def _boundaries(probe: Probe) -> list[Boundary]:
    """The writes; before one of them an effect may have happened, or behind the last."""
    writes = [
        Boundary(number, "run", name, is_effect=number in probe.happened)
        for number, name in enumerate(probe.names)
    ]
    count = len(writes)
    if writes and count in probe.happened:
        writes.append(Boundary(count, "run", "(the end)", is_effect=True, is_write=False))
    return writes


async def _straight(make: Callable[[Path], AnyAgent], task: Any, place: Path) -> _Straight:
    probe = Probe(Gate())
    agent = make(place)
    lacks = [name for name in ("start", "resume", "journal") if not hasattr(agent, name)]
    if lacks:
        msg = (
            f"agent={make!r} made a {type(agent).__name__}, which has no {lacks[0]}(): a function"
            " of a folder makes an AnyAgent, and one that makes an Agent of synaptum takes nothing."
        )
        raise TypeError(msg)
    started = time.monotonic()
    output = await agent.start(task, probe)
    took_s = time.monotonic() - started
    return _Straight(list(await agent.journal()), output, probe, took_s)


async def _until_stopped(agent: AnyAgent, task: Any, probe: Probe) -> bool:
    running = asyncio.ensure_future(_start(agent, task, probe))
    probe.gate.task = running
    try:
        await running
    except asyncio.CancelledError:
        if running.cancelled() and probe.gate.stop is Stop.CANCELLED:
            return True
        raise
    except Exception as error:
        if tells_of_stop(error):
            return True
        raise
    return False


async def _start(agent: AnyAgent, task: Any, probe: Probe) -> None:
    await agent.start(task, probe)


def _repeated(
    where: str, straight: _Straight, stopped: Probe, resumed: Probe, report: ResumeReport
) -> Finding | None:
    """What was done again that was done before: allowed where no write has told of it."""
    known = stopped.gate.writes
    for kind in ("effects", "asks"):
        before: list[tuple[int, str]] = getattr(stopped, kind)
        done = Counter(text for _, text in [*before, *getattr(resumed, kind)])
        whole = Counter(text for _, text in getattr(straight.probe, kind))
        unrecorded = Counter(text for writes, text in before if writes >= known)
        for text, times in done.items():
            if text not in whole:
                return _strange(where, kind, text, straight, len(stopped.asks))
            again = times - whole[text]
            if kind == "asks" and again <= unrecorded[text]:
                report.asked_again += max(0, again)
            elif again > 0:
                return _done_twice(where, kind, text)
        for text, times in whole.items():
            if kind == "effects" and done[text] < times:
                return _never_done(where, text)
    return None


def _strange(where: str, kind: str, text: str, straight: _Straight, asked: int) -> Finding:
    came = json.loads(text)
    if kind == "effects" or not straight.probe.asks:
        is_effect = kind == "effects"
        return Finding(
            check="effect" if is_effect else "request",
            message=f"the tool {came[0]!r} takes effect as it did not in the straight run"
            if is_effect
            else "the model is asked, and the straight run never asked it",
            where=where,
            step=came[0] if is_effect else "",
            recorded="no such effect" if is_effect else "no question",
            came=canonical.encode(came[1] if is_effect else came),
            cause="changed code or hidden state: the run took another way",
        )
    recorded = json.loads(straight.probe.asks[min(asked, len(straight.probe.asks) - 1)][1])
    return findings.difference(
        "request", "the model is asked something else", where, recorded, came
    )


def _never_done(where: str, text: str) -> Finding:
    name, arguments = json.loads(text)
    return Finding(
        check="effect",
        message=f"the tool {name!r} never took effect",
        where=where,
        step=name,
        recorded=f"an effect, with {canonical.encode(arguments)}",
        came="none, before the stop or after it",
        cause="what is on record says that the effect was begun, and it is taken for done",
    )


def _done_twice(where: str, kind: str, text: str) -> Finding:
    if kind == "effects":
        name, arguments = json.loads(text)
        return Finding(
            check="effect",
            message=f"the tool {name!r} took effect again after the stop",
            where=where,
            step=name,
            recorded="once",
            came=f"twice, with {canonical.encode(arguments)}",
            cause="the framework runs a step again from its start: nothing on record says that"
            " the effect was begun",
        )
    return Finding(
        check="asked again",
        message="the model is asked again for an answer that was followed by a write",
        where=where,
        recorded="an answer",
        came="the same question again",
        cause="the answer was not part of that write: tokens are paid twice",
    )


def _compare(where: str, straight: _Straight, journal: list[Any], output: Any) -> Finding | None:
    shared = min(len(straight.journal), len(journal))
    for place in range(max(len(straight.journal), len(journal))):
        left = straight.journal[place] if place < len(straight.journal) else None
        right = journal[place] if place < len(journal) else None
        if place >= shared or _differ("journal()", left, right):
            return findings.difference(
                "journal", "the journal differs", where, left, right, step=f"entry {place}"
            )
    if _differ("The output", straight.output, output):
        return findings.difference(
            "journal", "the output differs", where, straight.output, output, step="output"
        )
    return None


def _differ(what: str, left: Any, right: Any) -> bool:
    return as_json(what, left) != as_json(what, right)
