"""synaptum_golden as a user meets it."""

from __future__ import annotations

import pytest

TWO_TESTS = """
def test_one(synaptum_golden):
    synaptum_golden.check({"n": %s, "text": "a"})

def test_two(synaptum_golden):
    synaptum_golden.check([None, ""], name="empty")
"""
GOLDEN = "goldens/test_x/test_one.yaml"


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def project(pytester):
    pytester.makepyfile(test_x=TWO_TESTS % 1)
    return pytester


def test_a_missing_golden_fails_with_the_command_and_nothing_is_written(project):
    result = project.runpytest("test_x.py::test_one")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*goldens/test_x/test_one.yaml does not exist. What came:",
            '    {"n": 1, "text": "a"}',
            "If it is right, then: pytest --synaptum-update test_x.py::test_one",
        ]
    )
    assert not (project.path / "goldens").exists()


def test_an_update_writes_and_the_next_run_passes(project):
    project.runpytest("--synaptum-update").assert_outcomes(passed=2)
    result = project.runpytest()

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["synaptum: 2 goldens checked, 0 written"])
    assert (project.path / GOLDEN).read_text(encoding="utf-8") == (
        'synaptum: golden/1\nentries:\n  value:\n    "n": 1\n    text: a\n'
    )


def test_a_mismatch_shows_the_path_both_values_and_the_command(project):
    project.runpytest("--synaptum-update")
    project.makepyfile(test_x=TWO_TESTS % "1.0")

    result = project.runpytest("test_x.py")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*The golden 'value' in *test_one.yaml differs:",
            "*  n",
            "*    expected  1",
            "*    actual    1.0",
            "*accept it: pytest --synaptum-update test_x.py::test_one",
        ]
    )


def test_an_update_touches_only_the_tests_that_ran(project):
    project.runpytest("--synaptum-update")
    project.makepyfile(test_x=(TWO_TESTS % 2).replace('[None, ""]', "[1]"))
    before = (project.path / "goldens/test_x/test_two.yaml").read_bytes()

    project.runpytest("--synaptum-update", "-k", "test_one").assert_outcomes(passed=1, deselected=1)

    assert (project.path / "goldens/test_x/test_two.yaml").read_bytes() == before
    project.runpytest().assert_outcomes(passed=1, failed=1)


def test_an_update_of_equal_values_leaves_the_file_alone(project):
    project.runpytest("--synaptum-update")
    path = project.path / GOLDEN
    path.write_text(path.read_text(encoding="utf-8") + "# seen by me\n", encoding="utf-8")

    project.runpytest("--synaptum-update").assert_outcomes(passed=2)

    assert path.read_text(encoding="utf-8").endswith("# seen by me\n")


def test_a_failing_test_updates_nothing(pytester):
    pytester.makepyfile(
        """
        def test_one(synaptum_golden):
            synaptum_golden.check(1)
            assert False
        """
    )

    result = pytester.runpytest("--synaptum-update")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  not written: goldens/*/test_one.yaml: the test did not pass"])
    assert not (pytester.path / "goldens").exists()


def test_ci_refuses_an_update_and_a_missing_golden_alike(project, monkeypatch):
    monkeypatch.setenv("CI", "true")

    refused = project.runpytest("--synaptum-update")
    missing = project.runpytest("test_x.py::test_one")

    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    missing.assert_outcomes(failed=1)
    assert not (project.path / "goldens").exists()


def test_masks_keep_a_golden_still_while_ids_change(pytester):
    pytester.makepyfile(
        """
        import itertools, os
        def test_one(synaptum_golden):
            fresh = os.urandom(8).hex()
            synaptum_golden.check(
                {"calls": [{"id": fresh}], "results": [{"call": fresh}]},
                masks=["calls.*.id: <id>", "results.*.call: <id>"],
            )
        """
    )
    pytester.runpytest("--synaptum-update").assert_outcomes(passed=1)

    pytester.runpytest().assert_outcomes(passed=1)


def test_a_mask_without_a_match_fails_while_updating_too(pytester):
    pytester.makepyfile(
        """
        def test_one(synaptum_golden):
            synaptum_golden.check({"a": 1}, masks=["b: <int>"])
        """
    )

    result = pytester.runpytest("--synaptum-update")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*'b: <int>' matches nothing*"])


def test_unused_entries_and_orphaned_files_are_listed_and_fail_when_strict(project):
    project.runpytest("--synaptum-update")
    project.makepyfile(
        test_x="""
        def test_two(synaptum_golden):
            synaptum_golden.check(1, name="other")
        """
    )
    project.runpytest("--synaptum-update")

    loose = project.runpytest()
    strict = project.runpytest("--synaptum-strict")
    part = project.runpytest("test_x.py::test_two")

    assert loose.ret == 0
    loose.stdout.fnmatch_lines(
        [
            "*unused golden: *test_one.yaml: no test of that name was collected",
            "*unused golden: *test_two.yaml: 'empty' was not checked by test_x.py::test_two",
        ]
    )
    assert strict.ret == 1
    part.stdout.no_fnmatch_line("*test_one.yaml*")


def test_a_skipped_tests_golden_is_in_use(project):
    project.runpytest("--synaptum-update")
    source = "import pytest\n" + (TWO_TESTS % 1).replace(
        "def test_two", "@pytest.mark.skip\ndef test_two"
    )
    project.makepyfile(test_x=source)

    result = project.runpytest("--synaptum-strict")

    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == 0


def test_two_workers_write_the_same_files_as_one(pytester):
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.parametrize("n", range(40))
        def test_n(n, synaptum_golden):
            synaptum_golden.check({"n": n})
        """
    )
    pytester.runpytest("--synaptum-update", "-n", "2").assert_outcomes(passed=40)

    result = pytester.runpytest("-n", "2", "--synaptum-strict")

    result.assert_outcomes(passed=40)
    result.stdout.fnmatch_lines(["synaptum: 40 goldens checked, 0 written"])
    assert len(list(pytester.path.glob("goldens/*/*.yaml"))) == 40


def test_the_vocabulary_is_written_in_declared_order_and_times_are_masked(pytester):
    pytester.makepyfile(
        """
        from synaptum.journal.store import RunState
        from synaptum.vocabulary import FinalStep, Phase, Request, Message, ToolDefinition
        def test_one(synaptum_golden):
            request = Request(model="m", messages=(Message.user("Hi"),))
            step = FinalStep(
                run_id="r", step_id="000000-final", step_seq=0, phase=Phase.COMPLETED,
                at="2026-11-30T12:00:00.000Z", output="x",
            )
            synaptum_golden.wire(request)
            synaptum_golden.journal(RunState("r", (step,)))
            synaptum_golden.journal(RunState("empty"))
            synaptum_golden.catalogue([ToolDefinition("t", "d", {"type": "object"})])
        """
    )

    pytester.runpytest("--synaptum-update").assert_outcomes(passed=1)
    text = next(pytester.path.glob("goldens/*/*.yaml")).read_text(encoding="utf-8")

    assert "  wire:\n    model: m\n    messages:\n    - role: user\n      content: Hi\n" in text
    assert "      at: <str>\n" in text
    assert "journal-2:\n" in text
    assert "2026-11-30" not in text


def test_a_body_that_servers_refuse_is_no_golden(pytester):
    pytester.makepyfile(
        """
        def test_one(synaptum_golden):
            synaptum_golden.wire({"messages": [{"role": "assistant", "content": None}]})
        """
    )

    result = pytester.runpytest("--synaptum-update")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*null-content at /messages/0/content*"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("synaptum: golden/1\nentries: {", "not YAML"),
        ("synaptum: golden/9\nentries: {}\n", "install a newer pytest-synaptum"),
        ("synaptum: golden/1\nentries: {}\nmore: 1\n", "and no other"),
    ],
)
def test_a_damaged_golden_is_one_sentence(project, text, words):
    project.runpytest("--synaptum-update")
    (project.path / GOLDEN).write_text(text, encoding="utf-8")

    result = project.runpytest("test_x.py::test_one")

    assert result.ret == 1
    result.stdout.fnmatch_lines([f"*test_one.yaml*{words}*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*strict_yaml/reading.py*")


def test_an_unwritable_golden_is_one_sentence(pytester):
    pytester.makepyfile(
        """
        from pathlib import Path

        def test_one(synaptum_golden):
            synaptum_golden.check(1)
            Path("goldens").write_text("in the way", encoding="utf-8")
        """
    )

    result = pytester.runpytest("--synaptum-update")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["The golden goldens/*/test_one.yaml cannot be written (*), so nothing of this test was*"]
    )
    for trace in ("*Traceback*", "*another exception occurred*", "*golden_of*"):
        result.stdout.no_fnmatch_line(trace)


def test_a_value_without_a_json_form_is_refused_by_name(pytester):
    pytester.makepyfile(
        """
        def test_one(synaptum_golden):
            synaptum_golden.check({"tags": {"b", "a"}})
        """
    )

    result = pytester.runpytest("--synaptum-update")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*The golden 'value' cannot hold this value. A set*"])


def test_while_recording_the_command_that_accepts_a_value_records_too(pytester, monkeypatch):
    # The recording of a red test is not kept, so an update alone would find no cassette.
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile("def test_it(synaptum_golden): synaptum_golden.check(1)")
    accept = "pytest {}--synaptum-update *::test_it"

    for flags, recording in (
        ([], ""),
        (["--synaptum-record"], "--synaptum-record "),
        (["--synaptum-rerecord"], "--synaptum-rerecord "),
    ):
        result = pytester.runpytest(*flags)

        result.stdout.fnmatch_lines([f"*then: {accept.format(recording)}*"])


def test_while_recording_the_command_keeps_who_is_asked_and_no_key(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("SYNAPTUM_BASE_URL", raising=False)
    pytester.makepyfile("def test_it(synaptum_golden): synaptum_golden.check(1)")

    local = pytester.runpytest("--synaptum-record", "--synaptum-server=local")
    live = pytester.runpytest(
        "--synaptum-record",
        "--synaptum-base-url=http://user:hunter2-password@localhost:1/v1?api_key=hunter2-key",
        "--synaptum-model=small",
    )
    replay = pytester.runpytest("--synaptum-model=small")

    for result, between in (
        (local, "--synaptum-record --synaptum-server=local "),
        (
            live,
            "--synaptum-record --synaptum-base-url=http://localhost:1/v1 --synaptum-model=small ",
        ),
        (replay, ""),
    ):
        result.stdout.fnmatch_lines([f"*then: pytest {between}--synaptum-update *::test_it"])
        assert "hunter2" not in result.stdout.str()


def test_a_value_without_a_golden_is_shown_shortened_and_without_secrets(pytester, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery")
    pytester.makepyfile(
        "import os\n"
        "def test_it(synaptum_golden):\n"
        "    synaptum_golden.check(os.environ['MY_API_KEY'] + 'x' * 500)"
    )

    result = pytester.runpytest()

    result.stdout.fnmatch_lines(['    "REDACTED-KEYxxx*x … (514 characters)'])
    assert "correct-horse" not in result.stdout.str()


def test_messages_name_a_golden_from_the_root_of_the_project(pytester):
    pytester.makeini("[pytest]\n")
    pytester.mkpydir("sub")
    module = pytester.path / "sub/test_x.py"
    module.write_text(TWO_TESTS % 1, encoding="utf-8")
    missing = pytester.runpytest("sub")
    pytester.runpytest("--synaptum-update")
    module.write_text((TWO_TESTS % 2).replace('name="empty"', 'name="none"'), encoding="utf-8")
    differs = pytester.runpytest()
    module.write_text("def test_one(synaptum_golden): pass", encoding="utf-8")
    unchecked = pytester.runpytest("--synaptum-strict")
    damaged = pytester.path / "sub/goldens/test_x/test_one.yaml"
    damaged.write_text("hello", encoding="utf-8")
    unreadable = pytester.runpytest()

    missing.stdout.fnmatch_lines(["The golden sub/goldens/test_x/test_one.yaml does not exist.*"])
    differs.stdout.fnmatch_lines(
        [
            "The golden 'value' in sub/goldens/test_x/test_one.yaml differs:",
            "The golden sub/goldens/test_x/test_two.yaml has no entry 'none'.*",
        ]
    )
    unchecked.stdout.fnmatch_lines(
        [
            "sub/goldens/test_x/test_one.yaml holds goldens that the test did not check: 'value'*",
            "  unused golden: sub/goldens/test_x/test_one.yaml: 'value' was not checked by *",
        ]
    )
    unreadable.stdout.fnmatch_lines(["sub/goldens/test_x/test_one.yaml: a golden file has *"])
    for result in (missing, differs, unchecked, unreadable):
        assert f"{pytester.path}/sub/goldens" not in result.stdout.str()


def test_a_golden_whose_test_is_gone_is_named_from_the_root_of_the_project(project):
    project.runpytest("--synaptum-update")
    project.makepyfile(test_x="def test_other(): pass")

    result = project.runpytest()

    result.stdout.fnmatch_lines(
        ["  unused golden: goldens/test_x/test_one.yaml: no test of that name was collected"]
    )


@pytest.mark.parametrize("value", ["float('nan')", "{'deep': [float('inf')]}", "{1: 2}"])
def test_a_value_that_no_json_holds_is_refused_where_it_is_checked(pytester, value):
    pytester.makepyfile(
        f"""
        def test_one(synaptum_golden):
            synaptum_golden.check({value})
        """
    )

    result = pytester.runpytest("--synaptum-update")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["The golden 'value' cannot hold this value. *"])
    result.stdout.no_fnmatch_line("*Error*")


def test_a_mask_that_matches_nothing_is_shown_at_the_line_that_gives_it(pytester):
    pytester.makepyfile(
        """
        def test_one(synaptum_golden):
            synaptum_golden.check({"a": 1}, masks=["b: <str>"])
        """
    )

    result = pytester.runpytest("--synaptum-update")

    result.stdout.fnmatch_lines(['>*synaptum_golden.check({"a": 1}, masks=*'])
    result.stdout.no_fnmatch_line("*golden/masks.py*")
