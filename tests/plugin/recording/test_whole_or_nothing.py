"""The files of one test belong together: all of them are written, or none, and it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

from pytest_synaptum.files import write_together

CHAT = """
def test_chat(recorded_provider, synaptum_golden):
    synaptum_golden.check(ask(recorded_provider).text)
"""
CASSETTE = "cassettes/test_chat/test_chat.yaml"
GOLDEN = "goldens/test_chat/test_chat.yaml"


def record(suite: RecordedSuite, *answers: Answer, args: tuple[str, ...] = ()) -> pytest.RunResult:
    with LoopbackServer(list(answers) or [Answer(body=chat_body("Hello."))]) as server:
        return suite.record(server, "--synaptum-update", *args)


def written(suite: RecordedSuite) -> list[str]:
    found = suite.pytester.path.rglob("*.yaml")
    return sorted(path.relative_to(suite.pytester.path).as_posix() for path in found)


def test_a_recording_and_its_golden_are_written_together(suite: RecordedSuite) -> None:
    suite.write(CHAT)

    record(suite).assert_outcomes(passed=1)

    assert written(suite) == [CASSETTE, GOLDEN]
    suite.run("--synaptum-strict").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "fixtures", ["recorded_provider, synaptum_golden", "synaptum_golden, recorded_provider"]
)
def test_no_golden_is_written_of_an_answer_that_is_not_kept(
    suite: RecordedSuite, fixtures: str
) -> None:
    suite.write(
        f"""
        from synaptum import ProviderError
        def test_chat({fixtures}):
            with pytest.raises(ProviderError) as caught:
                ask(recorded_provider)
            synaptum_golden.check(caught.value.status)
        """
    )

    result = record(suite, *[Answer(status=429, body=b'{"error":{"message":"slow"}}')] * 9)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            f"  not written: {CASSETTE}: the server answered 429, *",
            f"  not written: {GOLDEN}: {CASSETTE} was not written",
        ]
    )
    assert written(suite) == []


def test_no_golden_is_written_where_the_cassette_cannot_be(suite: RecordedSuite) -> None:
    suite.write(CHAT)
    (suite.pytester.path / "cassettes").write_text("in the way", encoding="utf-8")

    result = record(suite)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            f"The cassette {CASSETTE} cannot be written (*), so nothing of this test was,*",
            f"  not written: {CASSETTE}: *",
            f"  not written: {GOLDEN}: {CASSETTE} cannot be written",
        ]
    )
    assert written(suite) == []


def test_no_cassette_is_written_where_the_golden_cannot_be(suite: RecordedSuite) -> None:
    suite.write(CHAT)
    (suite.pytester.path / "goldens").write_text("in the way", encoding="utf-8")

    result = record(suite)

    result.assert_outcomes(errors=1)
    assert written(suite) == []


def test_no_golden_is_written_where_the_cassette_still_holds_a_secret(
    suite: RecordedSuite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write(
        """
        def test_chat(recorded_provider, synaptum_golden):
            ask(recorded_provider)
            synaptum_golden.check(1)
        """
    )
    monkeypatch.setenv("SYNAPTUM_API_KEY", "correct-horse-battery")
    body = chat_body("correct-horse-battery").replace(b"correct", b"c\\u006frrect")

    result = record(suite, Answer(body=body))

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([f"  not written: {GOLDEN}: {CASSETTE} was not written"])
    assert written(suite) == []


def test_nothing_is_written_of_a_test_whose_teardown_fails(suite: RecordedSuite) -> None:
    suite.write(
        """
        @pytest.fixture
        def database():
            yield
            assert not "closed"

        def test_chat(database, recorded_provider, synaptum_golden):
            synaptum_golden.check(ask(recorded_provider).text)
        """
    )

    result = record(suite)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            f"  not written: {CASSETTE}: the teardown of the test failed",
            f"  not written: {GOLDEN}: the teardown of the test failed",
        ]
    )
    assert written(suite) == []


def test_an_interrupted_test_is_told_with_what_it_did_not_write(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_chat(recorded_provider, synaptum_golden):
            synaptum_golden.check(ask(recorded_provider).text)
            raise KeyboardInterrupt
        """
    )
    with LoopbackServer([Answer(body=chat_body())]) as server:
        result = suite.pytester.runpytest_subprocess(
            "--synaptum-record",
            "--synaptum-update",
            f"--synaptum-base-url={server.base_url}",
            "--synaptum-model=small",
        )

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            f"  not written: {CASSETTE}: the test was interrupted",
            f"  not written: {GOLDEN}: the test was interrupted",
        ]
    )
    assert written(suite) == []


def test_an_interrupted_run_under_xdist_names_the_tests_that_were_under_way(
    suite: RecordedSuite,
) -> None:
    suite.write(
        """
        import os, signal, time
        def test_chat(recorded_provider):
            ask(recorded_provider)
            os.kill(os.getppid(), signal.SIGINT)  # the controller, as Ctrl-C does
            time.sleep(20)
        """
    )
    with LoopbackServer([Answer(body=chat_body())]) as server:
        result = suite.pytester.runpytest_subprocess(
            "--synaptum-record",
            f"--synaptum-base-url={server.base_url}",
            "--synaptum-model=small",
            "-n1",
            timeout=60,
        )

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["  not written: test_chat.py::test_chat: the test was interrupted; what it recorded *"]
    )


def test_a_mask_that_is_wrong_does_not_lose_the_recording(suite: RecordedSuite) -> None:
    suite.write("\n@pytest.mark.synaptum(ignore=['nowhere'])" + CHAT)

    result = record(suite)

    result.assert_outcomes(passed=1, errors=1)
    assert written(suite) == [CASSETTE, GOLDEN]


def test_files_that_cannot_all_be_written_are_left_as_they_were(tmp_path: Path) -> None:
    first, new, last = tmp_path / "a.yaml", tmp_path / "b.yaml", tmp_path / "c.yaml"
    first.write_text("old", encoding="utf-8")
    last.mkdir()

    with pytest.raises(IsADirectoryError) as caught:
        write_together([(first, "1"), (new, "2"), (last, "3")])

    assert caught.value.filename == str(last)
    assert first.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.yaml", "c.yaml"]
