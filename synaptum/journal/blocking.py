"""A store whose reads and writes block: the rules once, the medium in the subclass.

Stores are written as plain synchronous code (`BlockingStore`) and handed to the event loop by
`ThreadedCheckpointer`, which runs every call on one thread of its own: appends keep their
order, and the loop never waits for a disk.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self, TypeVar

from synaptum.errors import JournalBusyError, JournalError
from synaptum.journal.run_log import RunLog
from synaptum.journal.store import RunState
from synaptum.vocabulary import Step

__all__ = ["BlockingStore", "ThreadedCheckpointer", "on_this_thread"]

_Result = TypeVar("_Result")


class BlockingStore(ABC):
    """Append and load with the promises of `Checkpointer`, over the medium of a subclass.

    A run is claimed by `claim` or its first append, and let go of when it is closed (its
    `FinalStep` is on record), by `release`, or by `close`. Inside a claim the store remembers the
    run's steps, and reads only what is new before it writes: another store of the same process
    may have written since.
    """

    def __init__(self) -> None:
        self._claimed: dict[str, RunLog] = {}
        self._seen: dict[str, int] = {}  # steps a run had when it was last loaded here
        self._loaded: RunLog | None = None  # the last one, so that resuming reads it once

    @property
    def place(self) -> Hashable:
        """What the medium is told from others by; None: this store is the only one on it."""
        return None

    def append(self, run_id: str, event: Step) -> None:
        """See `Checkpointer.append`."""
        log = self._claimed.get(run_id)
        if log is None:
            log = self._take(run_id)
        with self._writing():
            self._catch_up(log)
            record = log.pending(event)
            if record is not None:
                self._write(log, record)
        if record is not None:
            log.written(event)
        if log.closed:
            self.release(run_id)

    def load(self, run_id: str) -> RunState:
        """See `Checkpointer.load`."""
        log = RunLog(run_id)
        self._catch_up(log)
        self._seen[run_id] = len(log)
        self._loaded = log
        return log.state()

    def claim(self, run_id: str) -> None:
        """See `Claimable.claim`."""
        if run_id not in self._claimed:
            self._take(run_id)

    def release(self, run_id: str) -> None:
        """Let another process write this run; it is claimed again by the next append."""
        log = self._claimed.pop(run_id, None)
        if log is not None:
            self._seen[run_id] = len(log)
            self._unlock(run_id)

    def close(self) -> None:
        """Let go of every run and of the medium."""
        for run_id in list(self._claimed):
            self.release(run_id)

    def _take(self, run_id: str) -> RunLog:
        log, self._loaded = self._loaded, None
        if log is None or log.run_id != run_id:
            log = RunLog(run_id)
        fresh = self._lock(run_id)
        try:
            self._catch_up(log)
            seen = self._seen.get(run_id)
            if fresh and seen is not None and len(log) > seen:
                # Whoever loaded the run here decides on an old journal: it would do again what
                # the other writer did.
                msg = (
                    f"Run {run_id!r} had {seen} events when it was loaded here and has"
                    f" {len(log)} now: another process wrote it meanwhile. Load it again."
                )
                raise JournalBusyError(msg)
        except BaseException:
            self._unlock(run_id)
            raise
        self._claimed[run_id] = log
        return log

    @abstractmethod
    def _lock(self, run_id: str) -> bool:
        """Claim a run for this process; False if it holds it already.

        Raises `JournalBusyError`.
        """

    @abstractmethod
    def _unlock(self, run_id: str) -> None:
        """Undo one `_lock`."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[None]:
        """A block in which nobody else writes to the medium; left without error, it is kept."""

    @abstractmethod
    def _catch_up(self, log: RunLog) -> None:
        """Read into `log` what the medium holds of its run beyond what it has."""

    @abstractmethod
    def _write(self, log: RunLog, record: dict[str, Any]) -> None:
        """Write the next record of a run."""


_without_thread: ContextVar[bool] = ContextVar("synaptum_without_thread", default=False)


@contextmanager
def on_this_thread() -> Iterator[None]:
    """A block in which stores are opened that make their calls on the event loop's own thread.

    The loop waits for the disk then, and no other task runs meanwhile: for a process that does
    one run and nothing else. It saves two changes of thread a call.
    """
    token = _without_thread.set(True)
    try:
        yield
    finally:
        _without_thread.reset(token)


class ThreadedCheckpointer:
    """A `Checkpointer` over a `BlockingStore`, on one thread of its own.

    A cancelled append may still be written: it was not acknowledged, and appending it again
    changes nothing. A store does not cross a fork: make a new one in the child.
    """

    def __init__(self, store: BlockingStore) -> None:
        self._store = store
        self._pid = os.getpid()
        self._is_direct = _without_thread.get()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="synaptum-journal")
        self._finalizer = weakref.finalize(self, _shut, self._thread, store, self._pid)

    @property
    def place(self) -> Hashable:
        """Where the journals are; see `synaptum.journal.store.place_of`."""
        return self._store.place

    async def append(self, run_id: str, event: Step) -> None:
        """Write one event; see `Checkpointer.append`."""
        await self._call(lambda: self._store.append(run_id, event))

    async def load(self, run_id: str) -> RunState:
        """The journal of a run; an unknown run is an empty one. See `Checkpointer.load`."""
        return await self._call(lambda: self._store.load(run_id))

    async def claim(self, run_id: str) -> None:
        """Hold a run before anything is written; see `Claimable`."""
        await self._call(lambda: self._store.claim(run_id))

    async def release(self, run_id: str) -> None:
        """Let another process write this run; see `Releasable`. A closed store holds none."""
        if self._finalizer.alive:
            await self._call(lambda: self._store.release(run_id))

    def close(self) -> None:
        """Finish what was begun, and let go of the runs and the medium. Twice is once."""
        if self._pid == os.getpid():
            self._thread.shutdown(wait=True)
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def _call(self, job: Callable[[], _Result]) -> _Result:
        # The job holds `self`, so that no finalizer closes the store under it.
        if self._pid != os.getpid():
            msg = "This journal store was opened before a fork; make a new one in the child."
            raise JournalError(msg)
        if not self._finalizer.alive:
            msg = "This journal store is closed; make a new one."
            raise JournalError(msg)
        if self._is_direct:
            return job()
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)


def _shut(thread: ThreadPoolExecutor, store: BlockingStore, pid: int) -> None:
    if pid != os.getpid():
        return  # a forked child: thread, connections and locks are its parent's
    # Without waiting: no job can be running, each of them keeps its checkpointer alive.
    thread.shutdown(wait=False)
    store.close()
