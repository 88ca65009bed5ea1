"""What a store knows of one run it writes: the steps on record, and how to write the next.

Every store does the same three things with an event: is it on record already, if so is it the
same, if not what does its record look like. They stand here once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from synaptum import canonical
from synaptum.errors import (
    ConfigurationError,
    EncodingError,
    JournalDivergedError,
    JournalFormatError,
)
from synaptum.journal.encoding import RunCodec, first_difference
from synaptum.journal.store import RunState
from synaptum.vocabulary import FinalStep, Phase, Step
from synaptum.vocabulary.codec import to_json

__all__ = ["RunLog"]


class RunLog:
    """The steps of one run, as far as they were read or written here.

    Memory is O(n) for n steps: the requests of the steps share their messages.
    """

    def __init__(self, run_id: str) -> None:
        if not run_id or not run_id.isprintable():
            msg = f"The run id {run_id!r} must be printable text of at least one character."
            raise ConfigurationError(msg)
        self.run_id = run_id
        self._events: list[Step] = []
        self._places: dict[tuple[str, Phase], int] = {}
        self._codec = RunCodec(run_id)
        #: Where the store goes on reading; its meaning is the store's own.
        self.position = 0

    def __len__(self) -> int:
        return len(self._events)

    @property
    def closed(self) -> bool:
        """Whether the run's end is on record."""
        last = self._events[-1] if self._events else None
        return isinstance(last, FinalStep) and last.phase is Phase.COMPLETED

    def state(self) -> RunState:
        """The journal as a value."""
        return RunState(self.run_id, tuple(self._events))

    def read(self, record: Any) -> None:
        """Take in the next record of the store. Raises `JournalFormatError`."""
        self._add(self._codec.decode(record))

    def read_rows(self, rows: Iterable[tuple[int, str]], where: str) -> None:
        """Take in what a database holds beyond the last step read.

        In: `rows` are places in the run, from `len(self)` on, each with its record as text;
        `where` names the database in errors.

        Raises:
            JournalFormatError: a row is missing, or is no record; names it.
        """
        for seq, text in rows:
            try:
                if seq != len(self):
                    msg = f"event {len(self)} is missing."
                    raise JournalFormatError(msg)
                self.read(canonical.decode(text))
            except (EncodingError, JournalFormatError) as error:
                msg = f"Event {seq} of run {self.run_id!r} in {where}: {error}"
                raise JournalFormatError(msg) from None

    def pending(self, event: Step) -> dict[str, Any] | None:
        """The record to write for `event`, as plain JSON; None where it is on record.

        Everything counts in the comparison but `at`; `meta` counts too, since it holds what
        happened (the attempts) and not when.

        Raises:
            JournalDivergedError: the step and phase are on record with another payload.
            EncodingError: the event holds something without a JSON form.
            ConfigurationError: the event is of another run.
        """
        if event.run_id != self.run_id:
            msg = (
                f"Step {event.step_id} belongs to run {event.run_id!r} and was appended to the"
                f" journal of {self.run_id!r}; append it to its own."
            )
            raise ConfigurationError(msg)
        place = self._places.get((event.step_id, event.phase))
        if place is None:
            return self._codec.encode(event)
        path = first_difference(_payload(self._events[place]), _payload(event))
        if path is not None:
            msg = (
                f"Run {self.run_id!r}, step {event.step_id} ({event.phase.value}): the journal"
                f" holds another payload; the first difference is at {path or '/'}. What is on"
                " record stays; find out why the same step came out differently."
            )
            raise JournalDivergedError(msg, event.step_id, path)
        return None

    def written(self, event: Step) -> None:
        """Tell that the record of `event` is in the store."""
        self._add(event)

    def _add(self, event: Step) -> None:
        self._places[event.step_id, event.phase] = len(self._events)
        self._events.append(event)
        self._codec.advance(event)


def _payload(event: Step) -> Any:
    return to_json(dataclasses.replace(event, at=""))
