"""What a test is going to write, held until all of the test is over: all of it, or nothing.

A test's files belong together: a golden is a conclusion from its cassette. The fixtures hand in
their texts when they are torn down, in whatever order that happens; `settle` is called once,
after the last of them, and writes the files together, or none where anything stands against it
(the cassette is not to be kept, the teardown failed, the run was interrupted).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_synaptum.session import REPORTS, Tally, session_of

__all__ = ["Pending", "Write", "pending_of", "settle", "why_not_passed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One file to be written.

    Attributes:
        noun: what messages call it, such as `cassette`.
        where: the file, as messages name it.
        done: called when the file stands; may fail the test.
    """

    noun: str
    path: Path
    where: str
    text: str
    done: Callable[[], None]


class Pending:
    """The writes of one test.

    Args:
        tally: takes a line for each file that is not written.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._writes: list[Write] = []
        self._reason: str | None = None

    def hold(self, write: Write) -> None:
        """Write this file when the test is over, if nothing stands against it."""
        self._writes.append(write)

    def keep_back(self, where: str, reason: str) -> None:
        """Tell that this file is not written, and why."""
        self._tally.kept_back.append(f"{where}: {reason}")

    def refuse(self, where: str, reason: str) -> None:
        """Tell that this file is not written, and write no other of the test."""
        self.keep_back(where, reason)
        self._reason = f"{where} was not written"

    def settle(self, reason: str | None) -> None:
        """Write all, or nothing where there is a reason against it. Fails the test where it must.

        Args:
            reason: what ended the test badly after its files were handed in.
        """
        reason = self._reason or reason
        if reason is not None:
            for write in self._writes:
                self.keep_back(write.where, reason)
            return
        self._write()
        faults = []
        for write in self._writes:
            # An earlier attempt of a test that is run again may not have passed.
            start = f"{write.where}: "
            kept_back = self._tally.kept_back
            kept_back[:] = [line for line in kept_back if not line.startswith(start)]
            try:
                write.done()
            except pytest.fail.Exception as error:
                faults.append(error)
        if faults:
            raise faults[0]

    def _write(self) -> None:
        from pytest_synaptum.files import write_together

        try:
            write_together([(write.path, write.text) for write in self._writes])
        except OSError as error:
            bad = next(one for one in self._writes if str(one.path) == error.filename)
            for write in self._writes:
                cause = error.strerror if write is bad else f"{bad.where} cannot be written"
                self.keep_back(write.where, str(cause))
            msg = (
                f"The {bad.noun} {bad.where} cannot be written ({error.strerror}), so nothing of"
                " this test was, and what stood there is as it was; make its folder writable, and"
                " run again."
            )
            raise pytest.fail.Exception(msg, pytrace=False) from None


_KEY = pytest.StashKey[Pending]()


def pending_of(item: pytest.Item) -> Pending:
    """Where the fixtures of a test hand in what they have to write."""
    return item.stash.setdefault(_KEY, Pending(session_of(item.config).tally))


def settle(item: pytest.Item, reason: str | None) -> None:
    """The test and all of its teardown are over: write, or say what was not and why."""
    pending = item.stash.get(_KEY, None)
    if pending is not None:
        del item.stash[_KEY]
        pending.settle(reason)


def why_not_passed(item: pytest.Item) -> str | None:
    """Why nothing of a test is to be written, where it did not pass; for fixtures, at teardown."""
    reports = item.stash.get(REPORTS, {})
    call, setup = reports.get("call"), reports.get("setup")
    if call is not None:
        return None if call.passed else "the test did not pass"
    if setup is not None and not setup.passed:
        return "the test did not pass"
    return "the test was interrupted"
