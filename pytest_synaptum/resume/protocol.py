"""Agents of any framework: what the check needs to see of them, and the check over it.

    class MyAgent:                       # one run of the agent, over a store in a folder
        async def start(self, task, probe): ...
        async def resume(self, probe): ...
        async def journal(self): ...     # what is on record, as JSON, oldest first

The adapter tells the probe of every durable write (`probe.before_write()`,
`probe.after_write()`), every question to the model (`probe.asked(request)`) and every tool that
takes effect (`probe.effect(name, arguments)`, then `probe.effect_happened()`). The model is the
adapter's own: give it one that answers the same every time.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pytest_synaptum.resume import findings
from pytest_synaptum.resume.boundaries import Boundary, Cell, cells, sampled
from pytest_synaptum.resume.children import can_fork, refuse_kills, run_in_child
from pytest_synaptum.resume.report import Finding, ResumeReport
from pytest_synaptum.resume.stops import KILLS, Gate, Stop, StoppedError
from synaptum import canonical

__all__ = ["AnyAgent", "Probe", "check_any", "is_any_agent"]


class AnyAgent(Protocol):
    """One run of an agent. A new one over the same folder goes on with the run."""

    async def start(self, task: Any, probe: Probe) -> Any:
        """Begin the run and go on to its end; the final output, as JSON."""
        ...

    async def resume(self, probe: Probe) -> Any:
        """Go on with the run that is on record, if any, to its end; the final output."""
        ...

    async def journal(self) -> Sequence[Any]:
        """What is on record, oldest first, as JSON without times and drawn ids."""
        ...


@dataclass(slots=True)
class Probe:
    """What an adapter tells of a run, and what stops it.

    Attributes:
        gate: counts the writes, and stops the run at one.
        asks: questions to the model, as canonical JSON, with the number of writes before each.
        effects: tools that took effect, likewise.
        names: what each write was called, in order.
        log: descriptor to which a child process writes what it did, for its parent; None in
            the parent itself.
    """

    gate: Gate
    asks: list[tuple[int, str]] = field(default_factory=list)
    effects: list[tuple[int, str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    log: int | None = None

    def before_write(self) -> None:
        """A durable write is about to happen."""
        self.gate.before()

    def after_write(self, name: str = "write") -> None:
        """A durable write has happened; `name` says in the report which."""
        self._keep("names", name)
        self.gate.after()

    def asked(self, request: Any) -> None:
        """The model is asked; `request` is JSON."""
        self._keep("asks", (self.gate.writes, canonical.encode(request)))

    def effect(self, name: str, arguments: Any = None) -> None:
        """A tool that may not be repeated is about to take effect."""
        self._keep("effects", (self.gate.writes, canonical.encode([name, arguments])))

    def effect_happened(self) -> None:
        """It has."""
        self.gate.effect_happened()

    def _keep(self, kind: str, what: Any) -> None:
        getattr(self, kind).append(what)
        if self.log is not None:
            os.write(self.log, json.dumps([kind, what]).encode() + b"\n")

    def adopt(self, log: bytes) -> None:
        """Take over what a child did."""
        for line in log.splitlines():
            kind, what = json.loads(line)
            getattr(self, kind).append(tuple(what) if isinstance(what, list) else what)


@dataclass(frozen=True, slots=True)
class _Straight:
    journal: list[Any]
    output: Any
    probe: Probe


def is_any_agent(given: Any) -> bool:
    """Whether it makes an `AnyAgent`: a class or function of a folder."""
    if isinstance(given, type):
        return all(hasattr(given, name) for name in ("start", "resume", "journal"))
    if not callable(given) or hasattr(given, "run"):
        return False
    try:
        parameters = inspect.signature(given).parameters
    except (TypeError, ValueError):
        return False
    return len(parameters) == 1


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
    report.boundaries = [
        Boundary(number, "run", name) for number, name in enumerate(straight.probe.names)
    ]
    report.boundaries = _with_effects(report.boundaries, straight.probe)
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
    for cell in cells(report.boundaries, wanted, sampled(report.boundaries, sample)):
        report.cells.append(cell)
        place = _sub(folder, f"{cell.boundary.number}-{cell.stop.name}")
        finding = await _stopped(make, task, place, cell, straight, report)
        if finding is not None:
            report.findings.append(findings.at(finding, cell))
    return report


def _sub(folder: Path, name: str) -> Path:
    place = folder / name
    place.mkdir()
    return place


def _with_effects(boundaries: Sequence[Boundary], probe: Probe) -> list[Boundary]:
    after = {writes for writes, _ in probe.effects}
    return [
        Boundary(one.number, one.run, one.what, is_effect=one.number in after) for one in boundaries
    ]


async def _straight(make: Callable[[Path], AnyAgent], task: Any, place: Path) -> _Straight:
    probe = Probe(Gate())
    agent = make(place)
    output = await agent.start(task, probe)
    return _Straight(list(await agent.journal()), output, probe)


async def _stopped(
    make: Callable[[Path], AnyAgent],
    task: Any,
    place: Path,
    cell: Cell,
    straight: _Straight,
    report: ResumeReport,
) -> Finding | None:
    probe = Probe(Gate(cell.boundary.number, cell.stop))
    where = str(cell)
    if cell.stop in KILLS:
        log = place / "child.log"

        async def life(descriptor: int) -> None:
            probe.log = descriptor
            await make(place).start(task, probe)

        status = run_in_child(life, log)
        probe.adopt(log.read_bytes())
        probe.gate.writes = len(probe.names)
        if status != -9:
            error = log.with_suffix(".error")
            told = error.read_text(encoding="utf-8") if error.exists() else ""
            return findings.not_killed(where, status, told)
    else:
        stopped = await _until_stopped(make(place), task, probe)
        if not stopped:
            return Finding(
                check="end",
                message="the run was stopped here, and went on",
                where=where,
                recorded="a run that ends where its store fails or its task is cancelled",
                came="the run came to its end",
                cause="the framework swallows the error of the store, or the cancellation",
            )
    resumed = Probe(Gate())
    agent = make(place)
    try:
        output = await agent.resume(resumed)
    except Exception as error:
        return Finding(
            check="end",
            message="the run cannot be resumed",
            where=where,
            recorded="a run that ends with an output",
            came=f"{type(error).__name__}: {error}",
            cause="what is on record at this boundary is not enough to go on from",
        )
    return _repeated(where, straight, probe, resumed, report) or _compare(
        where, straight, list(await agent.journal()), output
    )


async def _until_stopped(agent: AnyAgent, task: Any, probe: Probe) -> bool:
    running = asyncio.ensure_future(_start(agent, task, probe))
    try:
        await running
    except StoppedError:
        return True
    except asyncio.CancelledError:
        if running.cancelled() and probe.gate.stop is Stop.CANCELLED:
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
    allowed = Counter(text for _, text in straight.probe.asks)
    for kind in ("effects", "asks"):
        before: list[tuple[int, str]] = getattr(stopped, kind)
        again = Counter(text for _, text in getattr(resumed, kind))
        whole = Counter(text for _, text in getattr(straight.probe, kind))
        for writes, text in before:
            if again[text] + sum(text == one for _, one in before) <= whole[text]:
                continue
            if kind == "asks" and writes >= known:
                report.asked_again += 1
                continue
            return _done_twice(where, kind, text)
    strange = Counter(text for _, text in resumed.asks) - allowed
    if strange:
        recorded = [json.loads(text) for _, text in straight.probe.asks]
        came = json.loads(next(iter(strange)))
        place = min(len(stopped.asks), len(recorded) - 1)
        return findings.difference(
            "request", "the model is asked something else", where, recorded[place], came
        )
    return None


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
    for place in range(max(len(straight.journal), len(journal))):
        left = straight.journal[place] if place < len(straight.journal) else None
        right = journal[place] if place < len(journal) else None
        if left is None or right is None or canonical.encode(left) != canonical.encode(right):
            return findings.difference(
                "journal", "the journal differs", where, left, right, step=f"entry {place}"
            )
    if canonical.encode(straight.output) != canonical.encode(output):
        return findings.difference(
            "journal", "the output differs", where, straight.output, output, step="output"
        )
    return None
