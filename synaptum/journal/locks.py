"""One live writer a run, across processes: locks of the operating system, never rows or pids.

The kernel drops a lock when its process ends, however it ends, so nothing can go stale. All
runs of one store share one lock file (`<path>.lock`): a run is one byte of it, at a place
derived from its name; byte 0 is the short lock around a write (`mutex`).

POSIX record locks belong to a process, and closing any descriptor of the file drops all of
them. Hence one `LockFile` a path in each process, shared by every store on that path: **a
writer is a process**, and stores within one process act as one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from synaptum.journal.store import busy

__all__ = ["LockFile"]

_files: dict[str, LockFile] = {}
_guard = threading.Lock()


class LockFile:
    """The locks of one store in this process; get it by `LockFile.open`, give it back once."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._users = 0
        self._held: dict[str, int] = {}
        self._thread_lock = threading.RLock()

    @classmethod
    def open(cls, path: Path) -> LockFile:
        """The lock file at `path`, made if absent. Raises `OSError`."""
        key = os.path.realpath(path)
        with _guard:
            found = _files.get(key)
            if found is None:
                found = _files[key] = cls(key)
            found._users += 1
            return found

    def close(self) -> None:
        """Give it back; the last one to do so closes the file, and with it every lock."""
        with _guard:
            self._users -= 1
            if self._users == 0:
                if _files.get(self._path) is self:
                    del _files[self._path]
                os.close(self._fd)

    def acquire(self, run_id: str) -> bool:
        """Hold a run; False where this process holds it already.

        Raises:
            JournalBusyError: another process holds it.
        """
        with self._thread_lock:
            if run_id not in self._held:
                place = _place(run_id)
                try:
                    fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                except (BlockingIOError, PermissionError):  # POSIX allows EAGAIN and EACCES
                    raise busy(run_id, self._holder(place)) from None
            count = self._held.get(run_id, 0)
            self._held[run_id] = count + 1
            return count == 0

    def release(self, run_id: str) -> None:
        """Undo one `acquire`."""
        with self._thread_lock:
            self._held[run_id] -= 1
            if self._held[run_id] == 0:
                del self._held[run_id]
                fcntl.lockf(self._fd, fcntl.LOCK_UN, 1, _place(run_id))

    @contextmanager
    def mutex(self) -> Iterator[None]:
        """Nobody else writes to the store inside this block; waits for whoever does."""
        with self._thread_lock:
            fcntl.lockf(self._fd, fcntl.LOCK_EX, 1, 0)
            try:
                yield
            finally:
                fcntl.lockf(self._fd, fcntl.LOCK_UN, 1, 0)

    def _holder(self, place: int) -> str | None:
        # Python packs no struct flock; this is Linux's, whose l_pid names the holder.
        if not sys.platform.startswith("linux"):
            return None
        form = "hhqqi4x"
        asked = struct.pack(form, fcntl.F_WRLCK, os.SEEK_SET, place, 1, 0)
        kind, _, _, _, pid = struct.unpack(form, fcntl.fcntl(self._fd, fcntl.F_GETLK, asked))
        return f"process {pid}" if kind != fcntl.F_UNLCK and pid > 0 else None


def _place(run_id: str) -> int:
    digest = hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).digest()
    return 1 + (int.from_bytes(digest[:8], "big") >> 2)


def _after_fork() -> None:
    # A child inherits the descriptors and none of the locks: it starts with a table of its own.
    global _guard
    _guard = threading.Lock()
    _files.clear()


os.register_at_fork(after_in_child=_after_fork)
