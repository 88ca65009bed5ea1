"""What a store of journals is, and the state it gives back.

`Checkpointer` is the seam: memory, SQLite, JSON lines and PostgreSQL stand behind it, and
people write their own (`pytest_synaptum` has the contract tests).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from synaptum.errors import JournalBusyError
from synaptum.vocabulary import Step

__all__ = [
    "JOURNAL_FORMAT",
    "Checkpointer",
    "Claimable",
    "Releasable",
    "RunState",
    "busy",
    "place_of",
]

#: Version of what is written; raised when an old reader could misread a new journal.
JOURNAL_FORMAT = 1


@dataclass(frozen=True, slots=True)
class RunState:
    """The journal of the run `run_id`: its `events` in the order they were written.

    Every step stands there once a phase: ATTEMPTED, then COMPLETED.
    """

    run_id: str
    events: tuple[Step, ...] = ()

    def __repr__(self) -> str:
        # Not the events: each request holds the messages before it, so their text is O(n²), and
        # asyncio.run() alone asks for the repr of what its coroutine returns.
        last = self.events[-1] if self.events else None
        where = "" if last is None else f", the last {last.step_id} {last.phase.value}"
        return f"RunState({self.run_id!r}, {len(self.events)} events{where})"


class Checkpointer(Protocol):
    """Keeps journals."""

    async def append(self, run_id: str, event: Step) -> None:
        """Write one event; when this returns, the event survives the process.

        Idempotent by (run, step, phase): the same event again changes nothing, whatever its
        time (`at`).

        Raises:
            JournalDivergedError: that step and phase are on record with another payload.
            JournalBusyError: another live writer holds the run.
        """
        ...

    async def load(self, run_id: str) -> RunState:
        """The journal of a run; an unknown run is an empty one.

        Raises:
            JournalFormatError: what is on disk cannot be read; says where and why.
        """
        ...


@runtime_checkable
class Releasable(Protocol):
    """A store that holds a run between appends so that no other process writes it.

    The stores on disk do. Whoever stops working on a run that is not closed (it waits for a
    person, it failed) releases it, so that it can be resumed elsewhere.
    """

    async def release(self, run_id: str) -> None:
        """Let other processes write this run; a run that is not held is no error."""
        ...


@runtime_checkable
class Claimable(Protocol):
    """A store whose runs can be claimed before anything is written.

    Whoever resumes a run claims it first: asking a model or running a tool again, only to learn
    by the first append that another process is at it, would be too late.
    """

    async def claim(self, run_id: str) -> None:
        """Hold this run as an append would.

        Raises:
            JournalBusyError: another live writer holds the run, or wrote since it was loaded.
        """
        ...


def place_of(checkpointer: Checkpointer) -> Hashable:
    """Where a store keeps its journals: two stores of one `place` hold the same runs.

    A store of its own kind need not say it (`place`, a property or an attribute); it is then
    taken for the only one of its journals.
    """
    place: Hashable = getattr(checkpointer, "place", None)
    return id(checkpointer) if place is None else place


def busy(run_id: str, holder: str | None) -> JournalBusyError:
    """The error for a run that `holder` (words for it, None where unknown) writes."""
    msg = (
        f"Run {run_id!r} is being written by {holder or 'another process'}; wait until it ends,"
        " or use another run_id."
    )
    return JournalBusyError(msg)
