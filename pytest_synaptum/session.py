"""What this run has done: counts, what is unused, what was written and what was kept back.

Under xdist every worker sends its `Tally` home as plain values and the controller adds
them up, so that the line is printed once and is the same as without xdist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pytest

from pytest_synaptum.options import Options

__all__ = ["DAMAGE", "REPORTS", "Session", "Tally", "session_of", "set_session"]


@dataclass(slots=True)
class Tally:
    """Numbers and notes of a run; everything here can be added up over processes.

    Attributes:
        tokens: tokens that replayed answers cost when they were recorded.
        tokens_unknown: replayed answers that do not say what they cost.
        seconds: time the recorded server took for the replayed answers.
        unused: one line for each recorded exchange that nobody asked for.
        unused_cassettes: one line for each cassette whose test is gone.
        unused_goldens: one line for each golden that no test checked.
        wrote: one line for each cassette that was written: how much, and what changed.
        kept_back: one line for each file that was not written, with the reason.
    """

    replayed: int = 0
    recorded: int = 0
    goldens_checked: int = 0
    goldens_written: int = 0
    tokens: int = 0
    tokens_unknown: int = 0
    seconds: float = 0.0
    unused: list[str] = field(default_factory=list)
    unused_cassettes: list[str] = field(default_factory=list)
    unused_goldens: list[str] = field(default_factory=list)
    wrote: list[str] = field(default_factory=list)
    kept_back: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add another tally to this one."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def to_plain(self) -> dict[str, Any]:
        """As values that cross a process boundary."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Tally:
        """The inverse of `to_plain`."""
        return cls(**plain)


class Session:
    """This process's part of the run.

    Attributes:
        written: cassettes written in this run, so that a shared one is recorded once.
        failed_by_strict: whether the run failed for unused files and nothing else.
        deselected: whether some tests that were collected are not to run.
        reachable: base URLs that a live server was found at.
        local_server: what keeps the embedded server alive, and its base URL.
    """

    def __init__(self, config: pytest.Config, options: Options) -> None:
        self.config = config
        self.options = options
        self.tally = Tally()
        self.written: set[Path] = set()
        self.failed_by_strict = False
        self.deselected = False
        self.reachable: set[str] = set()
        self.local_server: tuple[Any, str] | None = None

    def close(self) -> None:
        """Stop what the session started."""
        if self.local_server is not None:
            keeper, _ = self.local_server
            self.local_server = None
            keeper.__exit__(None, None, None)


_KEY = pytest.StashKey[Session]()

#: Phase by phase reports of an item, for those who act on its outcome at teardown.
REPORTS = pytest.StashKey[dict[str, pytest.TestReport]]()

#: What a test found wrong inside its cassette, in a sentence each.
DAMAGE = pytest.StashKey[list[str]]()


def set_session(config: pytest.Config, session: Session) -> None:
    """Keep `session` with the configuration."""
    config.stash[_KEY] = session


def session_of(config: pytest.Config) -> Session:
    """The session of this configuration."""
    return config.stash[_KEY]
