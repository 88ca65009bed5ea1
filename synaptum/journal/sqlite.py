"""The journal in one SQLite file.

One row an event: run, place in the run, step, phase, and the record
(`synaptum.journal.encoding`) as canonical JSON. `PRAGMA user_version` is the format version,
`PRAGMA application_id` says that the file is a journal ("SYNJ"). The database is in WAL mode:
readers and the writers of other runs do not wait for long, and what was committed survives
`kill -9` without any repair of ours.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import ConfigurationError, JournalError, JournalFormatError
from synaptum.journal.blocking import ThreadedCheckpointer
from synaptum.journal.file_store import FileStore
from synaptum.journal.run_log import RunLog
from synaptum.journal.store import JOURNAL_FORMAT

__all__ = ["SqliteCheckpointer"]

_APPLICATION_ID: Final = int.from_bytes(b"SYNJ", "big")

#: Seconds to wait for another process's commit before giving up.
_PATIENCE_S: Final = 30.0

_SCHEMA: Final = """
CREATE TABLE event (
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    step_id TEXT NOT NULL,
    phase TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (run_id, seq),
    UNIQUE (run_id, step_id, phase)
)
"""


class SqliteCheckpointer(ThreadedCheckpointer):
    """Keeps journals in a SQLite database.

    Args:
        path: the file; made, with its folder, by the first append. `<path>.lock` beside it
            holds the locks of live writers and nothing else.
        durable: wait until the disk has every event, so that it also survives a power cut.
            Without it an event survives `kill -9` of the process, not of the machine.
    """

    def __init__(self, path: str | os.PathLike[str], *, durable: bool = True) -> None:
        if os.fspath(path) in ("", ":memory:"):
            msg = "SqliteCheckpointer takes the path of a file; use MemoryCheckpointer() in memory."
            raise ConfigurationError(msg)
        super().__init__(_SqliteStore(Path(path), durable))


class _SqliteStore(FileStore):
    def __init__(self, path: Path, durable: bool) -> None:
        super().__init__(path, durable)
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        super().close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._errors():
            connection = self._database()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _catch_up(self, log: RunLog) -> None:
        if self._connection is None and not self._path.exists():
            return
        with self._errors():
            rows = self._database().execute(
                "SELECT seq, record FROM event WHERE run_id = ? AND seq >= ? ORDER BY seq",
                (log.run_id, len(log)),
            )
            log.read_rows(rows, str(self._path))

    def _write(self, log: RunLog, record: dict[str, Any]) -> None:
        row = (log.run_id, len(log), record["step_id"], record["phase"], canonical.encode(record))
        self._database().execute("INSERT INTO event VALUES (?, ?, ?, ?, ?)", row)

    def _database(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(
                self._path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
                if self._is_empty(connection):
                    # Two processes that make the file at the same moment would get "database
                    # is locked" from the change to WAL, which does not wait.
                    with self._lock_file().mutex():
                        if self._is_empty(connection):
                            _create(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _is_empty(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is new; raises `JournalFormatError` if it is something else."""
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            return True
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION_ID:
            msg = f"{self._path} is a database, but no journal; give the journal its own file."
            raise JournalFormatError(msg)
        if version != JOURNAL_FORMAT:
            msg = (
                f"The journal {self._path} has format {version}, and this version of synaptum"
                f" reads format {JOURNAL_FORMAT}; read it with the version that wrote it."
            )
            raise JournalFormatError(msg)
        return False

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            msg = f"The journal {self._path} cannot be used: {error}."
            raise JournalError(msg) from error
        except sqlite3.DatabaseError as error:
            msg = f"The journal {self._path} cannot be read as SQLite: {error}."
            raise JournalFormatError(msg) from error


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")  # kept in the file
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_SCHEMA)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {JOURNAL_FORMAT}")
    connection.execute("COMMIT")
