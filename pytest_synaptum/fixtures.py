"""The fixtures, as doors: each opens on a module of its own when a test asks for it.

Every pytest start loads this module, so it imports pytest and light modules of ours only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_synaptum.session import REPORTS, session_of

if TYPE_CHECKING:
    from pytest_synaptum.golden.fixture import Golden
    from pytest_synaptum.recorded import RecordedHttp, RecordedProvider
    from pytest_synaptum.recording import Recording
    from pytest_synaptum.report.parts import ReportDoor
    from pytest_synaptum.resume.fixture import ResumeCheck


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
