"""Where a run is stopped: its writes, and which of them are looked at in which way.

Checking every boundary is work of order n squared, since each stopped run is run to its end.
So what cannot differ is left out, and a long run can be sampled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pytest_synaptum.resume.stops import Stop
from synaptum.errors import ConfigurationError

__all__ = ["Boundary", "Cell", "cells", "sampled", "stoppable"]


@dataclass(frozen=True, slots=True)
class Boundary:
    """One write of the run that was not stopped.

    Attributes:
        number: its place among all writes, from 0.
        run: whose journal it went to: `run`, or `run.000003-delegate` for a sub-agent's.
        what: the step and phase, such as `000001-tool completed`.
        is_yielded: whether the agent's caller sees it at once (a sub-agent's are not).
        is_answer: whether it completes a call of the model that was begun by the write before.
        is_effect: whether it completes a call of a tool that was carried out.
        is_write: whether it is a write at all, and not the end of a run that has an effect
            behind its last write.
    """

    number: int
    run: str
    what: str
    is_yielded: bool = True
    is_answer: bool = False
    is_effect: bool = False
    is_write: bool = True

    @property
    def name(self) -> str:
        """How the report calls it."""
        return self.what if self.run == "run" else f"{self.run.removeprefix('run.')}: {self.what}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One stopped run: where, and how."""

    boundary: Boundary
    stop: Stop

    def __str__(self) -> str:
        return f"{self.stop.value}, {self.boundary.number} {self.boundary.name}"


def cells(
    boundaries: Sequence[Boundary], stops: Collection[Stop], numbers: Collection[int]
) -> list[Cell]:
    """The stopped runs to be made, boundary by boundary.

    Left out is what says nothing of its own: the end of the iteration where nobody iterates,
    a stream left where none is open, a death after an effect where there was none.
    """
    return [
        Cell(boundary, stop)
        for boundary in boundaries
        if boundary.number in numbers
        for stop in Stop
        if stop in stops and _can_differ(boundary, stop)
    ]


def _can_differ(boundary: Boundary, stop: Stop) -> bool:
    if stop is Stop.ENDED:
        return boundary.is_yielded
    if stop is Stop.IN_STREAM:
        return boundary.is_yielded and boundary.is_answer
    if stop is Stop.KILLED_EFFECT:
        return boundary.is_effect
    return boundary.is_write


def stoppable(boundaries: Sequence[Boundary], stops: Collection[Stop]) -> list[Boundary]:
    """The boundaries at which a run can be stopped in one of these ways.

    Raises:
        ConfigurationError: there is none, so that a check would be green for looking at nothing.
    """
    found = [one for one in boundaries if any(_can_differ(one, stop) for stop in stops)]
    if found:
        return found
    names = ", ".join(f"Stop.{stop.name}" for stop in Stop if stop in stops) or "none"
    msg = (
        f"Nothing in this run of {len(boundaries)} writes can be stopped in the ways that are left"
        f" of stops= ({names}): IN_STREAM needs stream=True, KILLED_EFFECT a tool that is carried"
        " out, ENDED and IN_STREAM an agent of synaptum's own. Leave stops= out for all kinds."
    )
    raise ConfigurationError(msg)


def sampled(boundaries: Sequence[Boundary], limit: int | None) -> set[int]:
    """The numbers of the boundaries to look at: all, or about `limit` of them.

    A sample keeps the first and the last two, spreads the rest evenly, and takes them in pairs
    (the intent of a step and its end), since the two fail for different reasons. It is the same
    sample every time.
    """
    count = len(boundaries)
    if limit is None or limit >= count:
        return {boundary.number for boundary in boundaries}
    pairs = max(1, limit // 2)
    starts = [round(index * (count - 2) / max(1, pairs - 1)) for index in range(pairs)]
    places = {place for start in starts for place in (start, start + 1) if 0 <= place < count}
    return {boundaries[place].number for place in places}
