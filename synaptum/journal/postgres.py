"""The journal in PostgreSQL, so that a run begun on one machine resumes on another.

Two tables, made when absent: `synaptum_journal` (the format version) and
`synaptum_journal_event` (one row an event, the record as canonical JSON text). The writer of a
run holds a session-level advisory lock, which the server drops with the connection; it does
not work through a pooler that shares sessions (PgBouncer in transaction mode).

Needs the extra `postgres` (psycopg 3); imported only when a store is made.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from synaptum import canonical
from synaptum.errors import ConfigurationError, JournalError, JournalFormatError
from synaptum.journal.blocking import BlockingStore, ThreadedCheckpointer
from synaptum.journal.run_log import RunLog
from synaptum.journal.store import JOURNAL_FORMAT, RunState, busy
from synaptum.vocabulary import Step

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresCheckpointer"]

#: A machine that vanished is noticed in about a minute, and its locks are dropped.
_SESSION: Final = (
    "SET synchronous_commit = on",
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
)

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS synaptum_journal (format integer NOT NULL)",
    """
    CREATE TABLE IF NOT EXISTS synaptum_journal_event (
        run_id text NOT NULL,
        seq integer NOT NULL,
        step_id text NOT NULL,
        phase text NOT NULL,
        record text NOT NULL,
        PRIMARY KEY (run_id, seq),
        UNIQUE (run_id, step_id, phase)
    )
    """,
)


class PostgresCheckpointer(ThreadedCheckpointer):
    """Keeps journals in a PostgreSQL database.

    Args:
        conninfo: a libpq connection string or URL, such as
            `postgresql://user@host/database`. It never shows in an error.

    Raises:
        ConfigurationError: psycopg is not installed.
    """

    def __init__(self, conninfo: str) -> None:
        try:
            import psycopg  # noqa: F401  # only to say now what is missing
        except ImportError:
            msg = (
                "PostgresCheckpointer needs psycopg 3: install the extra,"
                " pip install 'pytest-synaptum[postgres]'."
            )
            raise ConfigurationError(msg) from None
        super().__init__(_PostgresStore(conninfo))


class _Session:
    """This process's connection to one database: as with locks on files, a writer is a process.

    Data and locks go over the same connection, so that who lost the locks cannot write.
    `epoch` counts connections: a lock taken in an earlier one is gone.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: psycopg.Connection[Any] | None = None
        self._held: dict[str, int] = {}
        self.users = 0
        self.epoch = 0
        self.thread_lock = threading.RLock()

    def connection(self) -> psycopg.Connection[Any]:
        """The live connection; a new one, in a new epoch, where the last one broke."""
        import psycopg

        if self._connection is None or self._connection.closed:
            self._held.clear()
            self.epoch += 1
            try:
                fresh = psycopg.connect(self._conninfo, autocommit=True)
            except psycopg.OperationalError as error:
                msg = f"PostgreSQL cannot be reached: {_first_line(error)}."
                raise JournalError(msg) from None
            except psycopg.Error:  # its text may quote the connection string, password and all
                msg = "The connection string of PostgresCheckpointer is not one libpq can read."
                raise ConfigurationError(msg) from None
            try:
                _prepare(fresh)
            except BaseException:
                fresh.close()
                raise
            self._connection = fresh
        return self._connection

    def acquire(self, run_id: str) -> bool:
        """Hold a run; False where this process holds it already. Raises `JournalBusyError`."""
        connection, key = self.connection(), _key(run_id)
        count = self._held.get(run_id, 0)
        if count == 0 and not _one(connection, "SELECT pg_try_advisory_lock(%s)", key):
            raise busy(run_id, _holder(connection, key))
        self._held[run_id] = count + 1
        return count == 0

    def release(self, run_id: str) -> None:
        """Undo one `acquire`; nothing where the connection took the lock with it."""
        if run_id not in self._held:
            return
        self._held[run_id] -= 1
        if self._held[run_id] == 0:
            del self._held[run_id]
            if self._connection is not None and not self._connection.closed:
                _one(self._connection, "SELECT pg_advisory_unlock(%s)", _key(run_id))

    def close(self) -> None:
        """Close the connection, and with it every lock."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._held.clear()


_sessions: dict[str, _Session] = {}
_guard = threading.Lock()


class _PostgresStore(BlockingStore):
    def __init__(self, conninfo: str) -> None:
        super().__init__()
        self._conninfo = conninfo
        self._epoch = 0
        with _guard:
            self._session = _sessions.setdefault(conninfo, _Session(conninfo))
            self._session.users += 1

    @property
    def place(self) -> Hashable:
        # Not the connection string itself: it may hold a password, and a key is looked at.
        return "postgres", hashlib.sha256(self._conninfo.encode()).hexdigest()

    def append(self, run_id: str, event: Step) -> None:
        with self._errors():
            self._session.connection()
            self._forget_lost_claims()
            super().append(run_id, event)

    def load(self, run_id: str) -> RunState:
        with self._errors():
            return super().load(run_id)

    def release(self, run_id: str) -> None:
        with self._errors():
            self._forget_lost_claims()
            super().release(run_id)

    def close(self) -> None:
        try:
            with suppress(JournalError):  # a broken connection holds nothing
                super().close()
        finally:
            with _guard:
                self._session.users -= 1
                if self._session.users == 0:
                    self._session.close()
                    if _sessions.get(self._conninfo) is self._session:
                        del _sessions[self._conninfo]

    def _forget_lost_claims(self) -> None:
        if self._epoch != self._session.epoch:  # the locks went with the old connection
            self._seen.update((name, len(log)) for name, log in self._claimed.items())
            self._claimed.clear()
            self._epoch = self._session.epoch

    def _lock(self, run_id: str) -> bool:
        return self._session.acquire(run_id)

    def _unlock(self, run_id: str) -> None:
        self._session.release(run_id)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._session.connection().transaction():
            yield

    def _catch_up(self, log: RunLog) -> None:
        rows = self._session.connection().execute(
            "SELECT seq, record FROM synaptum_journal_event"
            " WHERE run_id = %s AND seq >= %s ORDER BY seq",
            (log.run_id, len(log)),
        )
        log.read_rows(rows, "PostgreSQL")

    def _write(self, log: RunLog, record: dict[str, Any]) -> None:
        row = (log.run_id, len(log), record["step_id"], record["phase"], canonical.encode(record))
        self._session.connection().execute(
            "INSERT INTO synaptum_journal_event VALUES (%s, %s, %s, %s, %s)", row
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        import psycopg

        with self._session.thread_lock:
            try:
                yield
            except psycopg.Error as error:
                msg = f"The journal in PostgreSQL cannot be used: {_first_line(error)}."
                raise JournalError(msg) from error


def _prepare(connection: psycopg.Connection[Any]) -> None:
    for setting in _SESSION:
        connection.execute(setting)
    with connection.transaction():
        # Two processes that make the tables at the same moment would get an error, also with
        # IF NOT EXISTS.
        _one(connection, "SELECT pg_advisory_xact_lock(%s)", _key(""))
        for statement in _SCHEMA:
            connection.execute(statement)
        version = _one(connection, "SELECT max(format) FROM synaptum_journal")
        if version is None:
            connection.execute("INSERT INTO synaptum_journal VALUES (%s)", (JOURNAL_FORMAT,))
        elif version != JOURNAL_FORMAT:
            msg = (
                f"The journal in this database has format {version}, and this version of synaptum"
                f" reads format {JOURNAL_FORMAT}; read it with the version that wrote it."
            )
            raise JournalFormatError(msg)


def _one(connection: psycopg.Connection[Any], query: str, *values: object) -> Any:
    row = connection.execute(query.encode(), values).fetchone()
    return None if row is None else row[0]


def _holder(connection: psycopg.Connection[Any], key: int) -> str | None:
    # pg_locks shows a 64-bit key as its two halves, unsigned.
    row = connection.execute(
        "SELECT l.pid, host(a.client_addr) FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)"
        " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
        " AND l.classid::bigint = %s AND l.objid::bigint = %s",
        ((key >> 32) & 0xFFFFFFFF, key & 0xFFFFFFFF),
    ).fetchone()
    if row is None:
        return None
    return f"PostgreSQL session {row[0]}" + (f" from {row[1]}" if row[1] else "")


def _key(run_id: str) -> int:
    digest = hashlib.sha256(f"synaptum journal {run_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _after_fork() -> None:
    # A child shares the socket of its parent and must not speak on it.
    global _guard
    _guard = threading.Lock()
    _sessions.clear()


os.register_at_fork(after_in_child=_after_fork)
