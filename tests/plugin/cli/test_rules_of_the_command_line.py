"""What is the same for every command: forms of output, statuses, help, standard input."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_synaptum.cli import COMMANDS, main
from pytest_synaptum.commands.columns import side_by_side
from pytest_synaptum.commands.output import is_coloured

CORPUS = Path(__file__).parents[3] / "corpus"
CASE = "llama.cpp/plain-text"


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])

    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("synaptum-corpus 0.")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_its_example_and_every_status(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])

    out = capsys.readouterr().out
    assert COMMANDS[command][1] in out
    for status in ("0", "1", "2", "3", "4", "5", "130"):
        assert f"\n  {status:<4} " in out
    assert "--json" in out
    assert "--quiet" in out


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["show", CASE], ["stats"], ["lint"], ["index", "--dry-run"]],
    ids=lambda given: given[0],
)
def test_json_is_one_value(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status = main([*arguments, "--corpus", str(CORPUS), "--json"])

    assert status == 0
    json.loads(capsys.readouterr().out)


def test_quiet_and_json_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["list", "--quiet", "--json"])

    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("drift", "name the live server with --base-url or SYNAPTUM_BASE_URL"),
        ("drift --base-url nowhere", "The base URL 'nowhere' is no address of a server"),
        ("drift --server local --base-url http://127.0.0.1:1", "not allowed with argument"),
        ("drift --base-url http://127.0.0.1:1 --model x.gguf", "it goes with --server local"),
        ("serve --record x.yaml", "--record forwards to a real server: name it with --base-url"),
        ("serve --record x.yaml --base-url nowhere", "is no address of a server"),
        ("serve --record x.yaml --cassette y.yaml", "not allowed with argument"),
        ("promote x.yaml", "names no exchange: write CASSETTE#n"),
        ("promote", "the following arguments are required: CASSETTE#n"),
    ],
)
def test_arguments_that_are_missing_or_do_not_fit_are_wrong_usage(
    arguments: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SYNAPTUM_BASE_URL", raising=False)
    try:
        status: object = main(arguments.split())
    except SystemExit as ended:  # argparse's own way
        status = ended.code

    assert status == 2
    assert words in capsys.readouterr().err


def test_a_malformed_address_of_the_environment_is_told_as_its(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNAPTUM_BASE_URL", "nowhere")

    assert main(["drift"]) == 2
    assert "correct SYNAPTUM_BASE_URL" in capsys.readouterr().err


def test_a_file_that_is_missing_is_named_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["promote", "nowhere.yaml#1"]) == 3
    assert capsys.readouterr().err == (
        "synaptum-corpus promote: nowhere.yaml: No such file or directory; check its name and its"
        " permissions\n"
    )


def test_ids_go_from_one_command_to_the_next(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["list", "--corpus", str(CORPUS), "--flag", "stop-sequence", "--quiet"])
    ids = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO(ids))

    main(["show", "--corpus", str(CORPUS), "--brief", "-"])

    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if not line.startswith(" ")] == ids.splitlines()


def test_a_case_is_shown_with_its_four_sides(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")

    main(["show", "--corpus", str(CORPUS), "derived/stream-call-fragments"])

    out = capsys.readouterr().out
    head = next(line for line in out.splitlines() if line.startswith("request"))
    assert [title.strip() for title in head.split("│")] == ["request", "answer", "events", "golden"]
    assert "tool_call_start index=0" in out
    assert "\x1b" not in out


def test_columns_that_would_be_too_narrow_stand_below_each_other() -> None:
    texts = [("one", "a b"), ("two", "c"), ("three", "d"), ("four", "e")]

    lines = list(side_by_side(texts, 70, coloured=False))

    assert lines[0].split("│")[0].strip() == "one"
    assert lines[0].split("│")[1].strip() == "two"
    assert any(line.startswith("three") for line in lines)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_and_not_under_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert is_coloured(Terminal())
    assert not is_coloured(io.StringIO())

    monkeypatch.setenv("NO_COLOR", "1")
    assert not is_coloured(Terminal())


def test_a_reader_that_has_read_enough_is_no_error() -> None:
    list_all = f"{sys.executable} -m pytest_synaptum list --corpus {CORPUS}"

    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {list_all} | head -1"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0
    assert done.stderr == ""
