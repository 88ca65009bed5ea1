"""What came of the check: a table of boundary by kind of stop, and what differed.

    report.ok, report.findings, str(report), report.to_json()

A finding has four facts: the step, what was recorded, what came, and the likely cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_synaptum.resume.boundaries import Boundary, Cell
from pytest_synaptum.resume.stops import Stop

__all__ = ["REPORT_FORMAT", "Finding", "ResumeReport"]

#: Version of `ResumeReport.to_json`.
REPORT_FORMAT: Final = "resume-report/1"

#: Findings that are printed whole; the table says where the others are.
_SHOWN: Final = 3
#: Lines of a traceback that are printed.
_TRACEBACK: Final = 12
#: Rows of a table that is printed; a longer one shows the boundaries that failed.
_ROWS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is not as it was in the straight run.

    Attributes:
        check: which promise broke: `journal`, `request`, `asked again`, `effect`, `uncertain`,
            `configuration`, `store`, `end` or `wire`.
        message: what happened, one sentence.
        where: the stop and the boundary, or which run without a stop.
        run: whose journal: `run`, or `run.000003-delegate` for a sub-agent's.
        step: the step, such as `000001-tool completed`; empty where it is none.
        path: where in the event or request, as a path; empty where that says nothing.
        recorded: what the straight run has there, as it is printed.
        came: what this run has there.
        cause: the likely cause.
        lines: the difference by path, for people; or a traceback.
    """

    check: str
    message: str
    where: str
    run: str = "run"
    step: str = ""
    path: str = ""
    recorded: str = ""
    came: str = ""
    cause: str = ""
    lines: Sequence[str] = ()
    cell: Cell | None = None

    def text(self) -> str:
        """The finding as it is printed."""
        owner = "" if self.run == "run" else f" of {self.run}"
        rows = [f"{self.where}: {self.message}"]
        if self.step:
            rows.append(f"  step      {self.step}{owner}")
        if self.path:
            rows.append(f"  at        {self.path}")
        if self.recorded or self.came:
            rows += [f"  recorded  {self.recorded}", f"  came      {self.came}"]
        if self.cause:
            rows.append(f"  likely    {self.cause}")
        if not self.path:  # a traceback, of which the end tells most
            rows += [f"  {line}" for line in self.lines[-_TRACEBACK:]]
        elif len(self.lines) > 3:  # the first place is what the four facts say already
            rows += ["  all differences:", *(f"  {line}" for line in self.lines)]
        return "\n".join(rows)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "check": self.check,
            "message": self.message,
            "where": self.where,
            "boundary": None if self.cell is None else self.cell.boundary.number,
            "stop": None if self.cell is None else self.cell.stop.value,
            "run": self.run,
            "step": self.step,
            "path": self.path,
            "recorded": self.recorded,
            "came": self.came,
            "cause": self.cause,
            "difference": list(self.lines),
        }


@dataclass(slots=True)
class ResumeReport:
    """What a check found; true where it found nothing wrong.

    Attributes:
        boundaries: all writes of the straight run.
        cells: the stopped runs that were made.
        findings: what differed, in the order in which it was found.
        asked_again: questions whose answer died unrecorded and that were asked again.
        run_again: idempotent calls that were carried out again.
        uncertain: stops after which the fate of a call was not known, and the run said so.
        perturbed: the surroundings under which the run was repeated in fresh processes.
        notes: what was not looked at, and why.
    """

    boundaries: Sequence[Boundary] = ()
    cells: list[Cell] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    asked_again: int = 0
    run_again: int = 0
    uncertain: int = 0
    perturbed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every run ended as the straight one."""
        return not self.findings

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """The report as it is printed."""
        rows = [self._headline()]
        rows += [f"  {note}" for note in self.notes]
        for finding in self.findings[:_SHOWN]:
            rows += ["", finding.text()]
        if len(self.findings) > _SHOWN:
            rows += ["", f"and {len(self.findings) - _SHOWN} more, see the table"]
        if self.cells:
            rows += ["", *self._table()]
        return "\n".join(rows)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON.

        Out: `boundaries` and `stops` are the rows and columns of the table; `cells[row][column]`
        is `ok`, `failed`, or null where no such run was made.
        """
        stops = self._stops()
        state = self._state()
        return {
            "synaptum": REPORT_FORMAT,
            "ok": self.ok,
            "boundaries": [
                {"number": one.number, "run": one.run, "step": one.what} for one in self.boundaries
            ],
            "stops": [stop.value for stop in stops],
            "cells": [[state.get((one.number, s)) for s in stops] for one in self.boundaries],
            "runs": len(self.cells),
            "asked_again": self.asked_again,
            "run_again": self.run_again,
            "uncertain": self.uncertain,
            "perturbed": list(self.perturbed),
            "notes": list(self.notes),
            "findings": [finding.to_json() for finding in self.findings],
        }

    def _headline(self) -> str:
        checked = len({cell.boundary.number for cell in self.cells})
        looked = f"{checked} of {len(self.boundaries)} boundaries, {len(self.cells)} stopped runs"
        if not self.ok:
            kinds = Counter(finding.check for finding in self.findings)
            told = ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
            return f"resume_check: NOT the same run after a stop ({looked}): {told}"
        known = [
            f"{self.asked_again} answers died unrecorded and were asked for again",
            f"{self.run_again} idempotent calls ran again",
            f"{self.uncertain} calls were left uncertain",
        ]
        if self.perturbed:
            known.append(f"{len(self.perturbed)} fresh processes agreed")
        return f"resume_check: the same run after every stop ({looked}); {', '.join(known)}"

    def _stops(self) -> list[Stop]:
        made = {cell.stop for cell in self.cells}
        return [stop for stop in Stop if stop in made]

    def _state(self) -> dict[tuple[int, Stop], str]:
        state = {(cell.boundary.number, cell.stop): "ok" for cell in self.cells}
        for finding in self.findings:
            if finding.cell is not None:
                state[finding.cell.boundary.number, finding.cell.stop] = "failed"
        return state

    def _table(self) -> list[str]:
        stops, state = self._stops(), self._state()
        looked = {number for number, _ in state}
        failed = {number for (number, _), value in state.items() if value == "failed"}
        rows = [one for one in self.boundaries if one.number in looked]
        if len(rows) > _ROWS:
            rows = [one for one in rows if one.number in failed] or rows
        left = len(rows) - _ROWS
        names = [f"{one.number:>4} {one.name}" for one in rows[:_ROWS]]
        width = max(map(len, ["boundary", *names]))
        columns = [max(len(stop.value), 6) for stop in stops]
        lines = [_row("boundary".ljust(width), [s.value for s in stops], columns)]
        for one, name in zip(rows, names, strict=False):
            marks = [_MARKS[state.get((one.number, stop))] for stop in stops]
            lines.append(_row(name.ljust(width), marks, columns))
        if left > 0:
            lines.append(f"and {left} boundaries more")
        return lines


_MARKS: Final = {"ok": "ok", "failed": "FAILED", None: "-"}


def _row(name: str, values: Sequence[str], widths: Sequence[int]) -> str:
    cells = (value.center(width) for value, width in zip(values, widths, strict=True))
    return "  ".join([name, *cells]).rstrip()
