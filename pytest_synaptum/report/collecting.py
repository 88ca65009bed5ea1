"""From a finished test to the page.

`attach_part` runs where the test ran, and puts the test's part, clean and as JSON, on the report
of its teardown; xdist carries reports, so `PagePlugin` finds it in the controller as it does
without xdist. Nothing is kept of a test between the two.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_synaptum.cassette.writing import write_atomically
from pytest_synaptum.redact import Redactor
from pytest_synaptum.redacting import redactor_of
from pytest_synaptum.report.cleaning import clean
from pytest_synaptum.report.page import Page, embedded
from pytest_synaptum.report.parts import Parts, parts_of
from pytest_synaptum.report.payload import plain_test
from pytest_synaptum.session import REPORTS
from synaptum.clock import SystemClock, isoformat

__all__ = ["PagePlugin", "attach_part", "learn"]

_ATTRIBUTE: Final = "synaptum_part"
#: A page says within so many bytes that it is one.
_HEAD_BYTES: Final = 4_096
_COUNTED: Final = ("exchanges", "scripted", "runs", "goldens", "resumes")


class PagePlugin:
    """Registered where the run is reported: takes in the tests, and writes the page at the end.

    Tests are kept by node id, so that one that is run again replaces what it was.
    """

    def __init__(self, config: pytest.Config, name: str) -> None:
        self.path = config.invocation_params.dir / Path(name).expanduser()
        if self.path.is_dir():
            msg = f"--synaptum-report needs the name of a file, and {name!r} is a folder."
            raise pytest.UsageError(msg)
        if self.path.suffix.lower() not in {".html", ".htm"}:
            msg = f"--synaptum-report needs the name of a page, such as run.html, not {name!r}."
            raise pytest.UsageError(msg)
        if not _may_be_replaced(self.path):
            msg = f"--synaptum-report={name}: that file is no page of ours; name another one."
            raise pytest.UsageError(msg)
        self._config = config
        self._tests: dict[str, tuple[dict[str, Any], str]] = {}
        self._line = ""
        self._failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the part that a report brings; or that a test brought its process down."""
        text = getattr(report, _ATTRIBUTE, None)
        if text is not None:
            self._keep(json.loads(text))
        elif report.when not in {"setup", "call", "teardown"}:
            self._keep_lost(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what could not be collected."""
        if report.failed:
            self._keep_lost(report)

    def _keep(self, part: dict[str, Any]) -> None:
        self._tests[part["id"]] = (_row(part), embedded(part))

    def _keep_lost(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        lost = {
            "id": report.nodeid,
            "order": len(self._tests),
            "outcome": "error",
            "took_s": 0.0,
            "failure": report.longreprtext,
        }
        self._keep(clean(lost, redactor_of(self._config)))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the page; a run whose page could not be written has not succeeded."""
        tests = sorted(self._tests.values(), key=lambda one: (one[0]["order"], one[0]["id"]))
        at = isoformat(SystemClock().now_s())[:16].replace("T", " ") + " UTC"
        text = Page(title=self._config.rootpath.name, at=at, tests=tests).text()
        try:
            write_atomically(self.path, text)
        except OSError as error:
            cause = error.strerror or str(error)
            self._line = (
                f"synaptum: the page {self.path} cannot be written ({cause}); make its folder"
                " writable, or name another file with --synaptum-report"
            )
            self._failed = True
            if session.exitstatus == 0:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        else:
            size = len(text.encode("utf-8"))
            self._line = f"synaptum: the page of the run is {self.path} ({size:,} bytes)"

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say where the page is."""
        terminalreporter.write_line(self._line, red=self._failed)


def _may_be_replaced(path: Path) -> bool:
    """Whether there is nothing, nothing inside, or a page of an earlier run."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return True  # writing it will tell
    return not head or b"synaptum report</title>" in head


def learn(item: pytest.Item) -> None:
    """Look at the environment while the test's own variables are still set."""
    parts = parts_of(item)
    if parts is not None:
        _redactor(item, parts).refresh()


def _redactor(item: pytest.Item, parts: Parts) -> Redactor:
    if parts.redactor is None:
        parts.redactor = redactor_of(item.config)
    return parts.redactor


def attach_part(item: pytest.Item, report: pytest.TestReport) -> None:
    """Put a finished test's part on the report of its teardown."""
    parts = parts_of(item)
    if parts is None:
        return
    resume = sys.modules.get("pytest_synaptum.resume.fixture")
    if resume is not None:
        parts.resumes = item.stash.get(resume.RESUME_REPORTS, [])
    order = {id(one): place for place, one in enumerate(item.session.items)}.get(id(item), 0)
    reports: dict[str, pytest.TestReport] = item.stash.get(REPORTS, {})
    cleaned = partial(clean, redactor=_redactor(item, parts))
    plain = plain_test(item.nodeid, order, reports, parts, cleaned)
    # As JSON text here already: what crosses to xdist's controller must be plain.
    setattr(report, _ATTRIBUTE, json.dumps(cleaned(plain)))


def _row(part: Mapping[str, Any]) -> dict[str, Any]:
    """What the list shows of a test before it is opened."""
    return {
        **{name: part[name] for name in ("id", "order", "outcome", "took_s")},
        "counts": {name: len(part[name]) for name in _COUNTED if part.get(name)},
        "tokens": _tokens(part.get("runs", ())),
    }


def _tokens(runs: Sequence[Any]) -> int | None:
    """Tokens of all turns of all runs; None where one was not measured."""
    total = 0
    for turn in (turn for run in runs for turn in run["turns"]):
        if turn["input"] is None or turn["output"] is None:
            return None
        total += turn["input"] + turn["output"]
    return total if runs else None
