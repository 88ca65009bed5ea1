"""What nobody needs any more: exchanges that were not asked for, cassettes whose test is gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

from pytest_synaptum.cli import main

THREE = """
import os
@pytest.mark.parametrize("n", range(3))
def test_chat(recorded_provider, n):
    ask(recorded_provider, str(n))
    if n == 2 and "LESS" not in os.environ:
        ask(recorded_provider, "and again")
"""
ONE = """
def test_one(recorded_provider):
    ask(recorded_provider)
"""
TWO = (
    ONE
    + """
def test_two(recorded_provider):
    ask(recorded_provider)
"""
)
GONE = "  unused cassette: cassettes/test_chat/test_two.yaml: no test of that name was collected"


def recorded(suite: RecordedSuite, tests: str) -> None:
    suite.write(tests)
    with LoopbackServer(lambda _: Answer(body=chat_body("Hello."))) as server:
        assert suite.record(server).ret == 0


@pytest.fixture
def outlived(suite: RecordedSuite) -> RecordedSuite:
    """A suite with the cassettes of two tests, one of which is gone."""
    recorded(suite, TWO)
    suite.write(ONE)
    return suite


def test_unused_exchanges_are_told_and_fail_under_strict_in_workers_too(
    suite: RecordedSuite, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(suite, THREE)
    whole = suite.run("-n", "2", "--synaptum-strict")
    monkeypatch.setenv("LESS", "1")

    lenient = suite.run("-n", "2")
    strict = suite.run("-n", "2", "--synaptum-strict")

    assert whole.ret == 0
    assert lenient.ret == 0
    strict.assert_outcomes(passed=3, errors=1)
    for result in (lenient, strict):
        result.stdout.fnmatch_lines(
            [
                "synaptum: 3 exchanges replayed, 0 recorded, 1 unused; *",
                "  unused: cassettes/test_chat/test_chat-2-*.yaml: exchange 2 (line *), POST *",
            ]
        )
    strict.stdout.fnmatch_lines(["*test_chat[[]2[]] did not ask for all that its cassette *"])


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_cassette_whose_test_is_gone_is_told_and_fails_under_strict(
    outlived: RecordedSuite, workers: str
) -> None:
    lenient = outlived.run("-n", workers)
    strict = outlived.run("-n", workers, "--synaptum-strict")

    assert (lenient.ret, strict.ret) == (0, 1)
    for result in (lenient, strict):
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["synaptum: *; 1 cassette unused; *", GONE])
        assert result.stdout.str().count("no test of that name was collected") == 1


def unreadable(path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to(path.with_name("nowhere"))
    else:
        path.mkdir()


@pytest.mark.parametrize("folder", ["cassettes", "goldens"])
@pytest.mark.parametrize(
    ("kind", "cause"), [("link", "No such file or directory"), ("folder", "Is a directory")]
)
def test_what_cannot_be_read_among_the_cassettes_is_named_and_stays(
    suite: RecordedSuite, capsys: pytest.CaptureFixture[str], folder: str, kind: str, cause: str
) -> None:
    recorded(suite, ONE)
    path = suite.pytester.path / folder / "test_chat" / "odd.yaml"
    unreadable(path, kind)

    result = suite.run("--synaptum-strict")
    status = main(["prune", str(suite.pytester.path), "--yes"])

    assert (result.ret, status) == (0, 0)
    said = f"  note: {folder}/test_chat/odd.yaml cannot be read ({cause}) and belongs to no test"
    assert any(line.startswith(said) for line in result.outlines)
    assert f"{path} cannot be read ({cause}) and stays" in capsys.readouterr().out
    assert path.is_symlink() or path.is_dir()


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("by_ci", [False, True])
def test_a_strict_run_that_fails_for_nothing_else_says_why(
    outlived: RecordedSuite, workers: str, by_ci: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_ci:
        monkeypatch.setenv("CI", "1")
    golden = outlived.pytester.path / "goldens" / "test_chat" / "test_two.yaml"
    golden.parent.mkdir(parents=True)
    golden.write_text("synaptum: golden/1\n", encoding="utf-8")

    result = outlived.run("-n", workers, *([] if by_ci else ["--synaptum-strict"]))

    assert result.ret == 1
    said = f"synaptum: failed because of --synaptum-strict{' (set by CI)' if by_ci else ''}:"
    cause = "1 unused cassette and 1 unused golden; to remove them: synaptum-corpus prune ."
    assert f"{said} {cause}" in result.outlines


def test_a_run_that_is_not_strict_or_has_nothing_unused_says_nothing_of_strict(
    outlived: RecordedSuite,
) -> None:
    lenient = outlived.run()
    outlived.write(TWO)
    strict = outlived.run("--synaptum-strict")

    for result in (lenient, strict):
        assert result.ret == 0
        result.stdout.no_fnmatch_line("*because of --synaptum-strict*")


@pytest.mark.parametrize(
    "part",
    [
        ["test_chat.py::test_one"],
        ["-k", "one"],
        ["--deselect", "test_chat.py::test_none"],
        ["test_other.py"],
        ["--ignore", "test_chat.py"],
        ["--collect-only"],
    ],
    ids=" ".join,
)
def test_a_part_of_the_tests_says_nothing_of_cassettes(
    outlived: RecordedSuite, part: list[str]
) -> None:
    (outlived.pytester.path / "test_other.py").write_text("def test_other(): ...\n", "utf-8")

    result = outlived.run("--synaptum-strict", *part)

    assert result.ret == 0
    result.stdout.no_fnmatch_line("*unused cassette*")


def test_tests_that_a_hook_deselects_keep_their_cassettes(suite: RecordedSuite) -> None:
    recorded(suite, TWO)
    suite.pytester.makeconftest(
        """
        def pytest_collection_modifyitems(config, items):
            config.hook.pytest_deselected(items=items[1:])
            del items[1:]
        """
    )

    result = suite.run("--synaptum-strict")

    assert result.ret == 0
    result.stdout.no_fnmatch_line("*unused cassette*")


@pytest.mark.parametrize(
    "tests",
    [
        TWO.replace("def test_two", "@pytest.mark.skip\ndef test_two"),
        TWO.replace(
            "def test_two", '@pytest.mark.synaptum(cassette="test_chat/test_two")\ndef f'
        ).replace("def f", "def test_renamed"),
    ],
    ids=["a skipped test", "another test that names it"],
)
def test_a_cassette_in_use_is_not_gone(suite: RecordedSuite, tests: str) -> None:
    recorded(suite, TWO)
    suite.write(tests)

    assert suite.run("--synaptum-strict").ret == 0


def test_a_module_skipped_as_a_whole_keeps_its_cassettes(suite: RecordedSuite) -> None:
    recorded(suite, TWO)
    suite.write('pytest.importorskip("no_such_module_at_all")\n' + TWO)
    (suite.pytester.path / "test_other.py").write_text("def test_other(): ...\n", "utf-8")

    result = suite.run("--synaptum-strict")

    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == 0


def test_cassettes_kept_by_a_projects_own_rule_are_not_judged(suite: RecordedSuite) -> None:
    suite.pytester.makeconftest(
        """
        import pytest
        @pytest.fixture
        def synaptum_cassette_path(request):
            return request.path.parent / "cassettes" / "mine" / f"{request.node.name}.yaml"
        """
    )
    recorded(suite, ONE)

    result = suite.run("--synaptum-strict")

    assert result.ret == 0
    assert Path(suite.pytester.path, "cassettes/mine/test_one.yaml").exists()


def test_files_of_another_recorder_are_not_judged(suite: RecordedSuite) -> None:
    recorded(suite, ONE)
    suite.cassette("test_of_another").write_text("interactions: []\n", encoding="utf-8")

    assert suite.run("--synaptum-strict").ret == 0
