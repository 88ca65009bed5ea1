"""A cassette that several tests share is never cut down to what one of them asked."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

MARK = """
import os, pathlib, time
pytestmark = pytest.mark.synaptum(cassette="shared")
"""
ONE = """
def test_one(recorded_provider):
    ask(recorded_provider, "A")
    ask(recorded_provider, "B")
"""
TWO = """
def test_two(recorded_provider):
    ask(recorded_provider, "B")
"""
CHANGED = TWO.replace('"B"', '"C"')
ALONE = "test_chat.py::test_two"
TOGETHER = "pytest --synaptum-rerecord *test_chat.py::test_one test_chat.py::test_two"


def answering() -> LoopbackServer:
    return LoopbackServer(lambda _: Answer(body=chat_body("Hello.")))


@pytest.fixture
def shared(suite: RecordedSuite) -> RecordedSuite:
    """A suite of two tests whose cassette is recorded."""
    suite.write(MARK + ONE + TWO)
    with answering() as server:
        suite.record(server).assert_outcomes(passed=2)
    return suite


def cassette(suite: RecordedSuite) -> Path:
    return suite.pytester.path / "cassettes" / "shared.yaml"


def test_recording_one_of_them_again_is_refused_where_the_others_would_lose(
    shared: RecordedSuite,
) -> None:
    before = cassette(shared).read_bytes()

    with answering() as server:
        result = shared.record(server, ALONE, flag="--synaptum-rerecord")

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "The cassette cassettes/shared.yaml was not written: it would lose an exchange that"
            " test_chat.py::test_two does not ask for, and it is shared with"
            f" test_chat.py::test_one: record them together, {TOGETHER}, or delete *"
        ]
    )
    assert cassette(shared).read_bytes() == before
    shared.run("--synaptum-strict").assert_outcomes(passed=2)


def test_the_test_that_asks_for_all_may_be_recorded_again_alone(shared: RecordedSuite) -> None:
    with answering() as server:
        result = shared.record(server, "test_chat.py::test_one", flag="--synaptum-rerecord")

    result.assert_outcomes(passed=1)
    shared.run("--synaptum-strict").assert_outcomes(passed=2)


def test_together_they_are_recorded_again_whatever_they_ask(shared: RecordedSuite) -> None:
    shared.write(MARK + ONE.replace('"A"', '"Other"') + TWO)

    with answering() as server:
        result = shared.record(server, flag="--synaptum-rerecord")

    result.assert_outcomes(passed=2)
    shared.run("--synaptum-strict").assert_outcomes(passed=2)


def test_a_named_cassette_of_one_test_is_recorded_again_whatever_it_asks(
    suite: RecordedSuite,
) -> None:
    for word in ("B", "C"):
        suite.write(MARK + TWO.replace("B", word))
        with answering() as server:
            suite.record(server, flag="--synaptum-rerecord").assert_outcomes(passed=1)


def test_a_shared_cassette_that_does_not_say_by_whom_is_not_cut_down_either(
    shared: RecordedSuite,
) -> None:
    lines = cassette(shared).read_text(encoding="utf-8").splitlines(keepends=True)
    head, _, _ = lines[1].partition(", tests:")
    lines[1] = head + "}\n"
    cassette(shared).write_text("".join(lines), encoding="utf-8")

    with answering() as server:
        result = shared.record(server, ALONE, flag="--synaptum-rerecord")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["*was not written: *, and other tests may share it: *"])


@pytest.mark.parametrize("selected", [[], [ALONE]], ids=["all", "alone"])
def test_a_mismatch_names_who_shares_the_cassette_and_records_them_together(
    shared: RecordedSuite, selected: list[str]
) -> None:
    shared.write(MARK + ONE + CHANGED)

    result = shared.run(*selected)

    result.stdout.fnmatch_lines(
        [
            "*  shared:   by test_chat.py::test_one, test_chat.py::test_two",
            "*            The first of them that runs records for all, *",
            f"*  to record it again: {TOGETHER}",
        ]
    )


BESIDE = """
@pytest.mark.parametrize("n", range(2))
def test_beside(recorded_provider, n):
    ask(recorded_provider, str(n))
    # Both are under way before either ends.
    (pathlib.Path("ready") / str(n)).touch()
    for _ in range(500):
        if len(list(pathlib.Path("ready").iterdir())) == 2 or "WAIT" not in os.environ:
            break
        time.sleep(0.01)
"""


def test_two_workers_do_not_record_the_same_cassette(
    suite: RecordedSuite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    suite.write(MARK + BESIDE.replace("500", "150"))
    (suite.pytester.path / "ready").mkdir()
    monkeypatch.setenv("WAIT", "1")

    with answering() as server:
        result = suite.record(server, "-n", "2")

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*shares the cassette cassettes/shared.yaml, which another worker of xdist is recording"
            " at this moment; record the tests that share it (test_chat.py::test_beside[[]0[]],"
            " test_chat.py::test_beside[[]1[]]) in one process: add -n 0."
        ]
    )
    assert not list(tmp_path.glob("synaptum-*"))


def test_a_worker_replays_what_another_has_recorded_in_the_same_run(suite: RecordedSuite) -> None:
    suite.write(
        MARK
        + """
@pytest.fixture
def late():
    for _ in range(1000):
        if pathlib.Path("cassettes/shared.yaml").exists():
            break
        time.sleep(0.01)
    time.sleep(1.0)  # until its test is over

def test_one(recorded_provider):
    ask(recorded_provider, "A")

def test_two(late, recorded_provider):
    ask(recorded_provider, "A")
"""
    )
    with answering() as server:
        suite.record(server, "-n", "2", flag="--synaptum-rerecord").assert_outcomes(passed=2)

    assert server.count == 1
