"""The pytest entry point: hooks, options and fixtures as doors.

Every pytest start loads this module, so it imports pytest and light modules of ours only;
what a fixture needs is imported when a test asks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_synaptum import hookspecs
from pytest_synaptum.marker import MARKER_HELP, check_marks, marker_of
from pytest_synaptum.options import add_options, collect_corpus, read_options
from pytest_synaptum.pending import settle
from pytest_synaptum.session import DAMAGE, REPORTS, Session, Tally, session_of, set_session
from pytest_synaptum.terminal import TerminalPlugin, attach

if TYPE_CHECKING:
    from pytest_synaptum.golden.fixture import Golden
    from pytest_synaptum.recorded import RecordedHttp, RecordedProvider
    from pytest_synaptum.recording import Recording
    from pytest_synaptum.report.parts import ReportDoor
    from pytest_synaptum.resume.fixture import ResumeCheck


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
        if refused and report is not None and report.passed:
            settle(item, "the test did not pass")
            pytest.fail(refused[0], pytrace=False)
        settle(item, reason)
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
    from pytest_synaptum.golden.orphans import is_complete, orphan_cassettes, orphan_goldens

    if not is_complete(session):
        return
    gone = "no test of that name was collected"
    for orphans, lines in (
        (orphan_cassettes(session), ours.tally.unused_cassettes),
        (orphan_goldens(session), ours.tally.unused_goldens),
    ):
        lines += [f"{shown(path, session.config)}: {gone}" for path in orphans]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add a finished xdist worker's numbers to ours."""
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


@pytest.fixture
def synaptum_base_url(request: pytest.FixtureRequest) -> str | None:
    """Base URL of the live server; override it to set it for a folder or a module."""
    return session_of(request.config).options.base_url


@pytest.fixture
def synaptum_model(request: pytest.FixtureRequest) -> str | None:
    """The model that is asked while recording; override it to set it for a folder or a module."""
    return session_of(request.config).options.model


@pytest.fixture
def synaptum_cassette_path(request: pytest.FixtureRequest) -> Path:
    """The cassette of this test; override it to keep cassettes somewhere else."""
    from pytest_synaptum.naming import CASSETTES, file_for

    return file_for(request.node, CASSETTES)


@pytest.fixture
def synaptum_replay_pace() -> float:
    """How much of the recorded delays a replay waits: 0.0 nothing (default), 1.0 all of it."""
    return 0.0


@pytest.fixture
def synaptum_recording(
    request: pytest.FixtureRequest,
    synaptum_base_url: str | None,
    synaptum_model: str | None,
    synaptum_cassette_path: Path,
    synaptum_replay_pace: float,
) -> Iterator[Recording]:
    """This test's exchanges, being recorded or replayed; the recorded fixtures share it."""
    from pytest_synaptum.recording import open_recording

    with open_recording(
        request.node,
        base_url=synaptum_base_url,
        model=synaptum_model,
        path=synaptum_cassette_path,
        pace=synaptum_replay_pace,
    ) as recording:
        yield recording


@pytest.fixture
def recorded_provider(synaptum_recording: Recording) -> RecordedProvider:
    """A model whose exchanges with a live server are recorded once and replayed from then on.

    `complete`, `stream`, `gateway(tools=, policy=)`, `model`, `exchanges`.
    """
    from pytest_synaptum.recorded import RecordedProvider

    return RecordedProvider(synaptum_recording)


@pytest.fixture
def recorded_http(synaptum_recording: Recording) -> Iterator[RecordedHttp]:
    """Any HTTP client of the test's process (`openai`, `httpx` ...), recorded and replayed.

    Send to `recorded_http.base_url`; it captures for as long as the test runs.
    """
    from pytest_synaptum.recorded import RecordedHttp

    with RecordedHttp.capturing(synaptum_recording) as http:
        yield http


@pytest.fixture
def model_double(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """A model that answers from a script: `model_double(calls("search", q="x"), "Found.")`.

    The items are of `pytest_synaptum`; turns that nobody asked for fail the test.
    """
    from pytest_synaptum.doubles import scripted_models
    from pytest_synaptum.report.parts import parts_of

    with scripted_models(lambda: _passed(request.node), parts_of(request.node)) as make:
        yield make


@pytest.fixture
def synaptum_report(request: pytest.FixtureRequest) -> ReportDoor:
    """Show a run on the page of `--synaptum-report`: `synaptum_report.add(state)`.

    Runs of a gateway made by `model_double` or `recorded_provider` stand there by themselves.
    """
    from pytest_synaptum.report.parts import ReportDoor

    return ReportDoor(request.node)


@pytest.fixture
def synaptum_golden(request: pytest.FixtureRequest) -> Iterator[Golden]:
    """Compare values with this test's golden file: `synaptum_golden.check(value)`.

    Also `wire`, `response`, `events`, `journal`, `catalogue`; `--synaptum-update` writes.
    """
    from pytest_synaptum.golden.fixture import golden_of

    with golden_of(request.node) as golden:
        yield golden


@pytest.fixture
def resume_check(request: pytest.FixtureRequest) -> ResumeCheck:
    """A run stopped anywhere, in any way, ends as the one that was not stopped."""
    from pytest_synaptum.resume.fixture import ResumeCheck

    return ResumeCheck(request.node)


def _passed(item: pytest.Item) -> bool:
    """Whether the test's body passed; for fixtures, at teardown."""
    report = item.stash.get(REPORTS, {}).get("call")
    return report is not None and report.passed
