r"""The journal as JSON lines: one event a line, for people, diffs and golden files.

    {"synaptum":"journal/1"}
    {"at":"2026-11-30T12:00:00.000Z","kind":"model",...,"run_id":"run-1","step_id":"000000-model"}

The file is UTF-8; the first line is the header; every other line is a record
(`synaptum.journal.encoding`) with its `run_id`. One file may hold several runs, such as a run
and those of its sub-agents.

What a crash can leave is a last line that is not whole. It was never acknowledged: reading
passes over it, and the next write cuts it off (with a warning in the log `synaptum.journal`).
A last line that is whole JSON and only lacks its newline counts. A line that ends in a
newline and is no record was no crash, and is a `JournalFormatError` naming the line.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import EncodingError, JournalError, JournalFormatError
from synaptum.journal.blocking import ThreadedCheckpointer
from synaptum.journal.file_store import FileStore
from synaptum.journal.run_log import RunLog
from synaptum.journal.store import JOURNAL_FORMAT

__all__ = ["JsonlCheckpointer"]

_logger = logging.getLogger("synaptum.journal")
_HEADER: Final = canonical.encode({"synaptum": f"journal/{JOURNAL_FORMAT}"}).encode() + b"\n"


class JsonlCheckpointer(ThreadedCheckpointer):
    """Keeps journals in one file of JSON lines.

    Args:
        path: the file; made, with its folder, by the first append. `<path>.lock` beside it
            holds the locks of live writers and nothing else.
        durable: wait until the disk has every event, so that it also survives a power cut.
            Without it an event survives `kill -9` of the process, not of the machine.
    """

    def __init__(self, path: str | os.PathLike[str], *, durable: bool = True) -> None:
        super().__init__(_JsonlStore(Path(path), durable))


class _JsonlStore(FileStore):
    def __init__(self, path: Path, durable: bool) -> None:
        super().__init__(path, durable)
        self._fd = -1

    def close(self) -> None:
        super().close()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock_file().mutex():
            yield

    def _catch_up(self, log: RunLog) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(log.position)
                for line in file:
                    if not self._take_in(log, line):
                        return
                    log.position += len(line)
        except FileNotFoundError:
            return
        except OSError as error:
            msg = f"The journal {self._path} cannot be read: {error.strerror}."
            raise JournalError(msg) from error

    def _take_in(self, log: RunLog, line: bytes) -> bool:
        """Read one line into `log`; False for a last line that is not whole."""
        if not line.strip() and log.position > 0:
            return True  # such as the end of a last line that had no newline yet
        value = _parse(line)
        # The next write cuts off what is torn, so it has to be ours.
        is_ours = log.position > 0 or _HEADER.startswith(line)
        if value is None and not line.endswith(b"\n") and is_ours:
            return False
        try:
            if log.position == 0:
                _check_header(value)
            elif value is None or not isinstance(value.get("run_id"), str):
                msg = "it is no record (a JSON object with a run_id)."
                raise JournalFormatError(msg)
            elif value["run_id"] == log.run_id:
                log.read(value)
        except JournalFormatError as error:
            before = self._path.read_bytes()[: log.position].count(b"\n")
            msg = f"Line {before + 1} of the journal {self._path}: {error}"
            raise JournalFormatError(msg) from None
        return True

    def _write(self, log: RunLog, record: dict[str, Any]) -> None:
        data = canonical.encode({**record, "run_id": log.run_id}).encode() + b"\n"
        self._open()
        found = os.fstat(self._fd)
        if found.st_nlink == 0:
            msg = f"The journal {self._path} was deleted or replaced while it was being written."
            raise JournalError(msg)
        with self._system_errors():
            end, lead = self._end(found.st_size)
            if end < found.st_size:
                lost = found.st_size - end
                _logger.warning(
                    "%s: cut off %d bytes of a last line that a crash left torn", self._path, lost
                )
                os.ftruncate(self._fd, end)
            self._put(lead + data, end)
            if end == 0 and self._durable:
                _sync_folder(self._path.parent)
        log.position = end + len(lead) + len(data)

    def _open(self) -> None:
        if self._fd < 0:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            with self._system_errors():
                self._fd = os.open(self._path, flags, 0o666)

    def _end(self, size: int) -> tuple[int, bytes]:
        """Where the next line goes, and what must stand before it."""
        start = size
        tail = b""
        while start > 0 and b"\n" not in tail:
            step = min(65_536, start)
            if not tail and os.pread(self._fd, 1, size - 1) == b"\n":
                return size, b""
            start -= step
            tail = os.pread(self._fd, step, start) + tail
        tail = tail[tail.rfind(b"\n") + 1 :]
        if tail and _parse(tail) is not None:
            return size, b"\n"
        end = size - len(tail)
        return end, b"" if end else _HEADER

    def _put(self, data: bytes, end: int) -> None:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            if self._durable:
                os.fdatasync(self._fd)
        except OSError:
            with suppress(OSError):  # a full disk: take back the part that went through
                os.ftruncate(self._fd, end)
            raise


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        value = canonical.decode(line)
    except EncodingError:
        return None
    return value if isinstance(value, dict) else None


def _check_header(value: dict[str, Any] | None) -> None:
    name = None if value is None else value.get("synaptum")
    if name == f"journal/{JOURNAL_FORMAT}":
        return
    if isinstance(name, str) and name.startswith("journal/"):
        msg = (
            f"the format is {name!r}, and this version of synaptum reads"
            f" 'journal/{JOURNAL_FORMAT}'; read it with the version that wrote it."
        )
        raise JournalFormatError(msg)
    msg = f"a journal begins with the line {_HEADER.decode().strip()}; this is another file."
    raise JournalFormatError(msg)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
