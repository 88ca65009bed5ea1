"""The pytest entry point: what the plugin does at each hook. The fixtures are in `fixtures`.

Every pytest start loads this module, so it imports pytest and light modules of ours only;
what a hook needs besides is imported when there is something to do.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_synaptum import hookspecs
from pytest_synaptum.marker import MARKER_HELP, check_marks, marker_of
from pytest_synaptum.options import add_options, collect_corpus, read_options
from pytest_synaptum.session import DAMAGE, REPORTS, Session, Tally, session_of, set_session
from pytest_synaptum.terminal import TerminalPlugin, attach

#: What a test asks for by name; pytest loads it with this module.
pytest_plugins = ("pytest_synaptum.fixtures",)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare options and ini settings."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks that users may implement."""
    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings once, and refuse those that cannot stand."""
    config.addinivalue_line("markers", MARKER_HELP)
    session = Session(config, read_options(config))
    set_session(config, session)
    if session.options.providers:
        from pytest_synaptum.corpus.providers import check_adapters

        check_adapters(session.options.providers)
    if session.options.corpus is not None:
        collect_corpus(config, session.options.corpus)
    config.pluginmanager.register(TerminalPlugin(config))
    writes = session.options.recording or session.options.update
    if writes and not hasattr(config, "workerinput"):
        from pytest_synaptum.interruptions import InterruptionPlugin

        config.pluginmanager.register(InterruptionPlugin(config))
    if session.options.report is not None and not hasattr(config, "workerinput"):
        from pytest_synaptum.report.collecting import PagePlugin

        config.pluginmanager.register(PagePlugin(config, session.options.report))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Corpus cases are tests: each `case.yaml` below the corpus folder is collected."""
    if file_path.name != "case.yaml":
        return None
    from pytest_synaptum.corpus.collect import collect_case

    return collect_case(file_path, parent)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A misspelt marker argument refuses the run."""
    check_marks(items)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Not every test runs, so files that none needs are not told from those of the others."""
    if items:
        session_of(items[0].config).deselected = True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the outcome of each phase where fixtures find it at teardown."""
    damage = item.stash.get(DAMAGE, [])
    if damage and call.excinfo is not None and call.when == "call":
        # Whatever the client made of it: the sentence says it all.
        call.excinfo = _told(damage[0])
    report = yield
    if report.when == "setup":
        item.stash[REPORTS] = {}  # it may be run again
    item.stash.setdefault(REPORTS, {})[report.when] = report
    redacting = sys.modules.get("pytest_synaptum.redacting")
    if redacting is not None and redacting.REDACTOR in item.stash:
        from pytest_synaptum.failures import clean_report

        clean_report(report, item.stash[redacting.REDACTOR])
    if report.when == "teardown":
        attach(item, report)
    if session_of(item.config).options.report is not None:
        from pytest_synaptum.report.collecting import attach_part, learn

        learn(item)
        if report.when == "teardown":
            attach_part(item, report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Guard the sockets for as long as a test, with its fixtures, is running."""
    from pytest_synaptum.capture.guard import guarded, unguarded

    is_allowed = session_of(item.config).options.allow_network or marker_of(item).allow_network
    with unguarded() if is_allowed else guarded(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """A refused connection fails the test, even if a client swallowed the refusal.

    What the test has to write is written last, when nothing can fail any more.
    """
    reason: str | None = "the teardown of the test failed"
    try:
        result = yield
        reason = None
    except (KeyboardInterrupt, pytest.exit.Exception):
        reason = "the test was interrupted"
        raise
    finally:
        from pytest_synaptum.capture.guard import refusals_of

        refused = refusals_of(item)
        report = item.stash.get(REPORTS, {}).get("call")
        is_refused = refused and report is not None and report.passed
        # What no test of the run has used is not loaded, and has nothing to do here.
        pending = sys.modules.get("pytest_synaptum.pending")
        try:
            if pending is not None:
                pending.settle(item, "the test did not pass" if is_refused else reason)
            if is_refused:
                pytest.fail(refused[0], pytrace=False)
        finally:
            sharing = sys.modules.get("pytest_synaptum.sharing")
            if sharing is not None:
                sharing.release(item)
    return result


def _told(sentence: str) -> pytest.ExceptionInfo[BaseException]:
    """A failure that pytest shows as this sentence, without a traceback."""
    try:
        pytest.fail(sentence, pytrace=False)
    except pytest.fail.Exception as error:
        return pytest.ExceptionInfo.from_exception(error)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop what was started; a worker of xdist sends its numbers home."""
    ours = session_of(session.config)
    ours.close()
    _find_orphans(session, ours)
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["synaptum"] = ours.tally.to_plain()
    elif (
        ours.options.strict
        and (ours.tally.unused_cassettes or ours.tally.unused_goldens)
        and session.exitstatus == 0
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        ours.failed_by_strict = True


def _find_orphans(session: pytest.Session, ours: Session) -> None:
    """Note cassettes and goldens without a test.

    Every worker of xdist sees all tests, so one does it; the controller sees none.
    """
    worker = getattr(session.config, "workerinput", {}).get("workerid", "gw0")
    items = getattr(session, "items", ())
    if worker != "gw0" or not items or session.config.option.collectonly:
        return
    from pytest_synaptum.naming import CASSETTES, GOLDENS, shown

    folders = {item.path.parent for item in items}
    if not any((folder / name).is_dir() for folder in folders for name in (CASSETTES, GOLDENS)):
        return
    from pytest_synaptum.golden.orphans import (
        is_complete,
        orphan_cassettes,
        orphan_goldens,
        unreadable,
    )

    if not is_complete(session):
        return
    gone = "no test of that name was collected"
    for orphans, lines in (
        (orphan_cassettes(session), ours.tally.unused_cassettes),
        (orphan_goldens(session), ours.tally.unused_goldens),
    ):
        lines += [f"{shown(path, session.config)}: {gone}" for path in orphans]
    ours.tally.notes += [
        f"{shown(path, session.config)} cannot be read ({fault}) and belongs to no test; remove it"
        " if nobody needs it"
        for path, fault in unreadable(session)
    ]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add a finished xdist worker's numbers to ours."""
    if session_of(node.config).options.recording:
        from pytest_synaptum.sharing import forget

        run = node.workerinput["testrunuid"]
        node.config.add_cleanup(lambda: forget(run))
    plain = getattr(node, "workeroutput", {}).get("synaptum")
    if plain is not None:
        session_of(node.config).tally.add(Tally.from_plain(plain))


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """A comparison of a run's calls says at which call it parted."""
    trajectories = sys.modules.get("pytest_synaptum.trajectories")
    if op != "==" or trajectories is None:
        return None
    lines: list[str] | None = trajectories.explain(left, right)
    return lines
