"""What one test hands in for the page, as it happens: runs, exchanges, goldens, resume tables.

Handing in is cheap: references are kept, and become JSON when the test is over. Without
`--synaptum-report` there is nothing to hand in to, and `parts_of` says None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_synaptum.resume.repeating import is_repeating
from pytest_synaptum.session import session_of

if TYPE_CHECKING:
    from pytest_synaptum.exchange import Exchange
    from pytest_synaptum.redact import Redactor
    from synaptum.journal.store import RunState
    from synaptum.vocabulary import Phase, Request, Response, Step

__all__ = ["GoldenPart", "Parts", "ReportDoor", "journalled_by", "parts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenPart:
    """One comparison with a golden.

    Attributes:
        status: `same`, `differs`, `missing` or `written`.
        expected, actual: plain JSON values; only of `differs`.
        command: what accepts the value that came; only of `differs` and `missing`.
    """

    file: str
    name: str
    status: str
    expected: Any = None
    actual: Any = None
    command: str = ""


@dataclass(slots=True)
class Parts:
    """The parts of one test.

    Attributes:
        redactor: knows this test's secrets; None until somebody needed one.
        runs: the steps of each run on record, by run and then by step and phase, so that a
            resumed run, which tells its journal again, stands here once.
        exchanges: each with what was done with it: `recorded` or `replayed`.
        unused: recorded exchanges that the test did not ask for.
        scripted: the body of each request to a double, with its answer where one came.
        resumes: the reports of `resume_check`, in their JSON form.
    """

    redactor: Redactor | None = None
    runs: dict[str, dict[tuple[str, Phase], Step]] = field(default_factory=dict)
    exchanges: list[tuple[str, Exchange]] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    scripted: list[tuple[Request, Any, Response | None]] = field(default_factory=list)
    goldens: list[GoldenPart] = field(default_factory=list)
    resumes: list[Any] = field(default_factory=list)

    def journalled(self, step: Step) -> None:
        """Take a step on record; fits `LocalGateway(journalled=)`. Repeated runs are left out."""
        if not is_repeating():
            self._take(step)

    def _take(self, step: Step) -> None:
        self.runs.setdefault(step.run_id, {})[step.step_id, step.phase] = step

    def add_run(self, state: RunState) -> None:
        """Take a whole journal."""
        for step in state.events:
            self._take(step)


class ReportDoor:
    """What the fixture `synaptum_report` gives: a door for runs that no fixture of ours saw."""

    def __init__(self, item: pytest.Item) -> None:
        self._parts = parts_of(item)

    def add(self, state: RunState) -> None:
        """Show a journal. Does nothing where no page is asked for."""
        if self._parts is not None:
            self._parts.add_run(state)

    def journalled(self, step: Step) -> None:
        """Show a step as it comes, for `LocalGateway(journalled=synaptum_report.journalled)`."""
        if self._parts is not None:
            self._parts.journalled(step)


_KEY = pytest.StashKey[Parts]()


def parts_of(item: pytest.Item) -> Parts | None:
    """Where a test hands in its parts; None where no page is asked for."""
    if session_of(item.config).options.report is None:
        return None
    return item.stash.setdefault(_KEY, Parts())


def journalled_by(item: pytest.Item) -> Callable[[Step], None] | None:
    """Who is told of the steps of this test's runs, for gateways that our fixtures make."""
    parts = parts_of(item)
    return None if parts is None else parts.journalled
