"""`surface_report`: the same task on several surfaces, side by side.

A comparison holds for the conditions it was made under, so they stand in it: model, server,
task, permitted operations, number of runs. Runs of another task, or that may do something else,
are refused: their difference would be read as the surface's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from synaptum.errors import ConfigurationError
from synaptum.surfaces.measure import Measures, SurfaceRun, measure
from synaptum.surfaces.plot import bars

__all__ = ["SurfaceReport", "SurfaceRow", "surface_report"]

_NOT_MEASURED: Final = "not measured"

#: Title and value of each column, in order. "≈" marks what is estimated.
_COLUMNS: Final[tuple[tuple[str, Callable[[Measures], float | None]], ...]] = (
    ("catalogue ≈", lambda m: m.catalogue),
    ("discovery ≈", lambda m: m.discovery),
    ("failed discovery", lambda m: m.failed_discovery),
    ("input", lambda m: m.input),
    ("input uncached", lambda m: m.uncached),
    ("output", lambda m: m.output),
    ("execution ≈", lambda m: m.execution),
    ("turns", lambda m: m.turns),
    ("retries", lambda m: m.retries),
    ("recoveries", lambda m: m.recoveries),
    ("escalations", lambda m: m.escalations),
    ("syntax errors", lambda m: m.syntax_errors),
    ("runtime errors", lambda m: m.runtime_errors),
    ("partial endings", lambda m: m.partial_endings),
    ("time s", lambda m: m.time_s),
)


@dataclass(frozen=True, slots=True)
class SurfaceRow:
    """One surface: its runs, how many of them ended right, and the numbers of each."""

    surface: str
    right: int
    measures: tuple[Measures, ...]

    @property
    def runs(self) -> int:
        """How many runs."""
        return len(self.measures)

    def mean(self, value: Callable[[Measures], float | None]) -> float | None:
        """The mean of a number over the runs; None where one of them did not measure it."""
        found = [value(measures) for measures in self.measures]
        known = [number for number in found if number is not None]
        return None if len(known) < len(found) else sum(known) / len(known)


@dataclass(frozen=True, slots=True)
class SurfaceReport:
    """Surfaces under the same conditions. Made by `surface_report`.

    Attributes:
        task, operations: the same for all runs.
        models, servers: every one that took part; more than one of either is a warning in
            itself, and stands in the report as such.
        rows: the surfaces, in the order in which their first run was given.
    """

    task: str
    operations: tuple[str, ...]
    models: tuple[str, ...]
    servers: tuple[str, ...]
    rows: tuple[SurfaceRow, ...]

    @property
    def conditions(self) -> list[str]:
        """What the comparison holds for, a line each."""
        runs = ", ".join(f"{row.surface} {row.runs}" for row in self.rows)
        lines = [
            f"model: {', '.join(self.models)}",
            f"server: {', '.join(self.servers)}",
            f"task: {' '.join(self.task.split())}",
            f"permitted: {', '.join(self.operations)}",
            f"runs: {runs}",
        ]
        if len(self.models) > 1 or len(self.servers) > 1:
            lines.append("NOT ALIKE: more than one model or server took part.")
        return lines

    def table(self) -> str:
        """The conditions, then a Markdown table: a surface a line, means over its runs."""
        header = ["surface", "right", *(title for title, _ in _COLUMNS)]
        body = [
            [
                row.surface,
                f"{row.right}/{row.runs}",
                *(_number(row.mean(value)) for _, value in _COLUMNS),
            ]
            for row in self.rows
        ]
        lines = [*(f"- {line}" for line in self.conditions), ""]
        lines += [_line(header), _line(["---"] * len(header)), *(_line(cells) for cells in body)]
        lines += ["", "Tokens unless said otherwise, means over the runs; ≈ is estimated (4"]
        lines[-1] += " characters a token). Input includes catalogue, discovery and execution."
        return "\n".join(lines)

    def svg(self) -> str:
        """A plot as SVG text, which stands alone: no script, no font, no other file."""
        names = [row.surface for row in self.rows]
        measured = {
            "input uncached": [row.mean(lambda m: m.uncached) for row in self.rows],
            "input cached": [row.mean(lambda m: m.cached) for row in self.rows],
            "output": [row.mean(lambda m: m.output) for row in self.rows],
        }
        estimated = {
            "catalogue ≈": [row.mean(lambda m: m.catalogue) for row in self.rows],
            "discovery ≈": [row.mean(lambda m: m.discovery) for row in self.rows],
            "execution ≈": [row.mean(lambda m: m.execution) for row in self.rows],
        }
        effort = {
            "turns": [row.mean(lambda m: m.turns) for row in self.rows],
            "time s": [row.mean(lambda m: m.time_s) for row in self.rows],
        }
        right = [f"{row.surface} {row.right}/{row.runs} right" for row in self.rows]
        panels = [("tokens, measured", measured), ("tokens, estimated", estimated), ("", effort)]
        return bars(names, panels, [*self.conditions, ", ".join(right)])


def surface_report(runs: Iterable[SurfaceRun]) -> SurfaceReport:
    """Compare runs of one task on several surfaces.

    Raises:
        ConfigurationError: no runs, one without a request on record, or two that differ in
            task or in permitted operations; names the two.
    """
    runs = list(runs)
    if not runs:
        msg = "surface_report() was given no runs: there is nothing to compare."
        raise ConfigurationError(msg)
    first = runs[0]
    for run in runs[1:]:
        for what, mine, theirs in (
            ("task", first.task, run.task),
            ("permitted operations", sorted(first.operations), sorted(run.operations)),
        ):
            if mine != theirs:
                msg = (
                    f"Runs {first.state.run_id!r} ({first.surface}) and {run.state.run_id!r}"
                    f" ({run.surface}) differ in {what}: {mine!r} and {theirs!r}. Compare runs"
                    " that differ in their surface alone."
                )
                raise ConfigurationError(msg)
    surfaces = dict.fromkeys(run.surface for run in runs)
    rows = []
    for surface in surfaces:
        own = [run for run in runs if run.surface == surface]
        measures = tuple(measure(run) for run in own)
        rows.append(SurfaceRow(surface, sum(run.right for run in own), measures))
    return SurfaceReport(
        first.task,
        tuple(sorted(first.operations)),
        tuple(dict.fromkeys(run.model for run in runs)),
        tuple(dict.fromkeys(run.server for run in runs)),
        tuple(rows),
    )


def _number(value: float | None) -> str:
    if value is None:
        return _NOT_MEASURED
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
