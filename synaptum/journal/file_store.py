"""A store in one file: its path, and beside it the file with the locks of its writers."""

from __future__ import annotations

import os
from abc import ABC
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path

from synaptum.errors import JournalError
from synaptum.journal.blocking import BlockingStore
from synaptum.journal.locks import LockFile

__all__ = ["FileStore"]


class FileStore(BlockingStore, ABC):
    """What the stores on disk share; the file itself is the subclass's.

    Args:
        path: of the journal. Its folder, and `<path>.lock`, are made by the first claim.
        durable: whether an event is acknowledged only once the disk has it.
    """

    def __init__(self, path: Path, durable: bool) -> None:
        super().__init__()
        self._path = path
        self._durable = durable
        self._locks: LockFile | None = None

    @property
    def place(self) -> Hashable:
        """See `synaptum.journal.store.place_of`."""
        return "file", os.path.realpath(self._path)

    def close(self) -> None:
        """Let go of every run and of the locks; a subclass then closes its file."""
        super().close()
        if self._locks is not None:
            self._locks.close()
            self._locks = None

    def _lock(self, run_id: str) -> bool:
        return self._lock_file().acquire(run_id)

    def _unlock(self, run_id: str) -> None:
        self._lock_file().release(run_id)

    def _lock_file(self) -> LockFile:
        if self._locks is None:
            with self._system_errors():
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._locks = LockFile.open(self._path.with_name(f"{self._path.name}.lock"))
        return self._locks

    @contextmanager
    def _system_errors(self) -> Iterator[None]:
        """A block in which what the system refuses is told as a `JournalError`."""
        try:
            yield
        except OSError as error:
            msg = f"The journal {self._path} cannot be written: {error.strerror}."
            raise JournalError(msg) from error
