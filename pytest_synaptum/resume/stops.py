"""How a run is stopped, and the gate in its store that stops it at one exact write.

Writes are numbered from 0, over the journals of the run and of its sub-agents. A *boundary* is
a write; a stop happens just before it, just after it, or between an effect and the write of its
result. `kill` means SIGKILL to the process itself: nothing is flushed, closed or told.
"""

from __future__ import annotations

import asyncio
import os
import signal
from enum import Enum
from typing import Any, Final

__all__ = ["KILLS", "Gate", "Stop", "StoppedError", "die", "tells_of_stop"]


class Stop(Enum):
    """A kind of stop; the value is its column in the report."""

    ENDED = "iteration ended"
    IN_STREAM = "stream left"
    BEFORE = "error before write"
    AFTER = "error after write"
    CANCELLED = "task cancelled"
    KILLED_BEFORE = "killed before write"
    KILLED_AFTER = "killed after write"
    KILLED_EFFECT = "killed after effect"


#: The stops that need a process of their own, and a store that outlives it.
KILLS: Final = frozenset({Stop.KILLED_BEFORE, Stop.KILLED_AFTER, Stop.KILLED_EFFECT})


class StoppedError(Exception):
    """Raised by the store at the boundary, in the place of an error of its own."""


def tells_of_stop(error: BaseException | None) -> bool:
    """Whether an error is, wraps or groups a `StoppedError`: frameworks hand on what they catch."""
    if error is None:
        return False
    if isinstance(error, StoppedError):
        return True
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return any(map(tells_of_stop, (error.__cause__, error.__context__, *inner)))


class Gate:
    """Counts the durable writes of a run, and stops it at one of them.

    Call `before()` and `after()` around each write, in the process and task that writes.

    Args:
        at: number of the write to stop at; None never stops.
        writes: how many there were before, where a run is gone on with.
        stop: how. ENDED and IN_STREAM are left to whoever iterates: they look at `writes`.

    Attributes:
        writes: how many writes were acknowledged.
        task: the one to cancel; the one that writes without it. A framework may write in a task
            of its own, and whoever cancels a run cancels the task that runs all of it.
    """

    def __init__(self, at: int | None = None, stop: Stop | None = None, writes: int = 0) -> None:
        self.at = at
        self.stop = stop
        self.writes = writes
        self.task: asyncio.Task[Any] | None = None

    def before(self) -> None:
        """A write is about to happen. Raises `StoppedError`, or does not return."""
        if self.writes != self.at:
            return
        if self.stop is Stop.KILLED_BEFORE:
            die()
        if self.stop is Stop.BEFORE:
            raise StoppedError

    def after(self) -> None:
        """The write has happened. Raises `StoppedError`, or does not return.

        For CANCELLED it cancels the running task, which learns of it where it next waits.
        """
        number, self.writes = self.writes, self.writes + 1
        if number != self.at:
            return
        if self.stop is Stop.KILLED_AFTER:
            die()
        if self.stop is Stop.AFTER:
            raise StoppedError
        if self.stop is Stop.CANCELLED:
            _cancel(self.task)

    def effect_happened(self) -> None:
        """A tool has done its work, and nothing of it is written yet."""
        if self.stop is Stop.KILLED_EFFECT and self.writes == self.at:
            die()

    @property
    def is_just_after(self) -> bool:
        """Whether the write to stop at was the last one."""
        return self.at is not None and self.writes == self.at + 1


def _cancel(whole: asyncio.Task[Any] | None) -> None:
    try:
        writing = asyncio.current_task()
    except RuntimeError:
        writing = None
    if writing is None:
        msg = "This write is made outside of any task: leave Stop.CANCELLED out of stops=."
        raise RuntimeError(msg)
    (whole or writing).cancel()


def die() -> None:
    """Kill this process by SIGKILL."""
    os.kill(os.getpid(), signal.SIGKILL)
