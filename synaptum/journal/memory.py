"""The journal in memory: for tests, and for runs that need not survive the process."""

from __future__ import annotations

from synaptum import canonical
from synaptum.journal.run_log import RunLog
from synaptum.journal.store import RunState
from synaptum.vocabulary import Step

__all__ = ["MemoryCheckpointer"]


class MemoryCheckpointer:
    """Keeps journals as long as it lives itself.

    It holds the encoded records, as the stores on disk do: what they refuse, it refuses.
    """

    def __init__(self) -> None:
        self._records: dict[str, list[str]] = {}
        self._logs: dict[str, RunLog] = {}

    async def append(self, run_id: str, event: Step) -> None:
        """Keep one event; see `Checkpointer.append`."""
        log = self._logs.get(run_id)
        if log is None:
            log = RunLog(run_id)
        record = log.pending(event)
        if record is not None:
            text = canonical.encode(record)
            self._logs[run_id] = log
            self._records.setdefault(run_id, []).append(text)
            log.written(event)

    async def load(self, run_id: str) -> RunState:
        """The journal of a run; an unknown run is an empty one."""
        log = RunLog(run_id)
        for record in self._records.get(run_id, ()):
            log.read(canonical.decode(record))
        return log.state()
