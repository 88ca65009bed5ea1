"""`synaptum-corpus`: what each command prints and how it ends."""

import json
import shutil
from pathlib import Path

import pytest

from pytest_synaptum.cli import COMMANDS, main

CASE = """\
synaptum: case/1
summary: {summary}
kind: derived
flags: [{flag}]
source: {{seen_at: [somewhere], date: "2026-01-02"}}
asks:
- stream: true
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    (folder / "openai_chat" / "derived").mkdir(parents=True)
    (folder / "flags.yaml").write_text(
        "synaptum: flags/1\nflags:\n  text: Plain text.\n  tool-call: A call.\n", encoding="utf-8"
    )
    for name, flag in (("hello", "text"), ("call", "tool-call"), ("late-call", "tool-call")):
        case = folder / "openai_chat" / "derived" / name
        case.mkdir()
        (case / "case.yaml").write_text(
            CASE.format(summary=f"It shows {name}.", flag=flag), encoding="utf-8"
        )
    return folder


def test_list_prints_a_case_a_line(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["list", "--corpus", str(corpus), "--flag", "tool-call"])

    assert status == 0
    assert capsys.readouterr().out == (
        "openai_chat/derived/call       It shows call.\n"
        "openai_chat/derived/late-call  It shows late-call.\n"
    )


def test_list_prints_bare_ids_for_scripts(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", "--corpus", str(corpus), "--quiet", "--flag", "text"])

    assert capsys.readouterr().out == "openai_chat/derived/hello\n"


def test_show_finds_a_case_by_the_end_of_its_id(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["show", "--corpus", str(corpus), "derived/call"])

    out = capsys.readouterr().out
    assert status == 0
    assert out.startswith("openai_chat/derived/call\n  It shows call.\n")
    assert "  tool-call: A call." in out
    assert "(not there yet)" in out


def test_show_finds_a_case_by_its_folder(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus.parent)

    assert main(["show", "--corpus", "cases", "cases/openai_chat/derived/call/", "--brief"]) == 0
    assert capsys.readouterr().out.startswith("openai_chat/derived/call\n")


def test_show_names_what_is_near_a_wrong_name(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["show", "--corpus", str(corpus), "cal"])

    assert status == 3
    assert capsys.readouterr().err == (
        "synaptum-corpus show: no cases are called 'cal'; near it: openai_chat/derived/call,"
        " openai_chat/derived/late-call\n"
    )


def test_stats_count_kinds_servers_and_flags(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", "--corpus", str(corpus)]) == 0

    out = capsys.readouterr().out
    assert out.startswith("3 cases, 3 exchanges, 3 of them streamed\n")
    assert "     2  tool-call\n     1  text\n" in out
    assert "3 without exchange: openai_chat/derived/call" in out


def test_lint_reports_every_problem_and_fails(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = corpus / "openai_chat" / "derived" / "call"
    (case / "notes.txt").write_text("stray", encoding="utf-8")
    (corpus / "openai_chat" / "derived" / "hello" / "case.yaml").write_text(
        "synaptum: case/1\nsummary: [", encoding="utf-8"
    )

    status = main(["lint", "--strict", "--corpus", str(corpus)])

    out = capsys.readouterr().out
    assert status == 1
    assert "notes.txt: a case has case.yaml, exchange.yaml, golden.yaml and nothing else" in out
    assert "hello/case.yaml" in out
    assert "flags.yaml: no case shows 'text'" in out
    assert out.splitlines()[-1].startswith("2 cases read, ")


def test_flags_that_no_case_shows_are_counted_and_are_no_problem_unless_strict(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(corpus / "openai_chat" / "derived" / "hello")
    before = lint(corpus, capsys)
    corpus = shutil.copytree(corpus, corpus.with_name("borrowing"))
    with (corpus / "flags.yaml").open("a", encoding="utf-8") as flags:
        flags.writelines(f"  borrowed-{n}: Of another corpus.\n" for n in range(100))

    after = lint(corpus, capsys)

    assert "1 of 2 flags in flags.yaml are shown by no case (--strict names them)" in before
    assert "101 of 102 flags in flags.yaml are shown by no case (--strict names them)" in after
    assert after[-1] == before[-1]
    assert not any("borrowed-" in line for line in after)
    strict = lint(corpus, capsys, "--strict")
    assert "flags.yaml: no case shows 'borrowed-99'; remove it or add one" in strict
    assert len(json.loads("\n".join(lint(corpus, capsys, "--json")))["unused_flags"]) == 101


def lint(corpus: Path, capsys: pytest.CaptureFixture[str], *args: str) -> list[str]:
    main(["lint", "--corpus", str(corpus), *args])
    return capsys.readouterr().out.splitlines()


def test_a_folder_that_is_no_corpus_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["list"], ["stats"], ["lint"], ["show", "x"]):
        assert main([*command, "--corpus", str(tmp_path)]) == 3
        assert "is no corpus: it has no flags.yaml" in capsys.readouterr().err


def test_the_help_shows_an_example_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])

    out = capsys.readouterr().out
    assert ended.value.code == 0
    for name, (_, example) in COMMANDS.items():
        assert example in out
        assert example.startswith(f"synaptum-corpus {name}")


def test_an_unknown_command_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["lsit"])

    assert ended.value.code == 2
    assert "invalid choice: 'lsit'" in capsys.readouterr().err


def test_a_flag_that_nobody_explained_is_named_with_what_is_near(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "--corpus", str(corpus), "--flag", "tool-cal"]) == 2

    told = capsys.readouterr().err
    assert "the flag 'tool-cal' is not in" in told
    assert "near it are tool-call" in told
