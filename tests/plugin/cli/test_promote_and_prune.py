"""`synaptum-corpus promote` and `prune`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.chat import chat_body, chat_stream

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.cli import main
from pytest_synaptum.exchange import CLOSED, Exchange, RecordedRequest, RecordedResponse


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}


def exchange(*chunks: bytes, body: object = ASKED, ending: object = None) -> Exchange:
    kind = "text/event-stream" if chunks[0].startswith(b"data") else "application/json"
    return Exchange(
        request=RecordedRequest(
            method="POST", path="/v1/chat/completions", body=json.dumps(body).encode()
        ),
        response=RecordedResponse(
            status=200, headers=(("content-type", kind),), chunks=chunks, ending=ending
        ),
    )


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    path = tmp_path / "test_it.yaml"
    recorded = {"at": "2026-11-29T10:00:00Z", "server": "llama.cpp", "model": "small"}
    odd = {**ASKED, "tools": []}
    text = dump_cassette(
        [
            exchange(chat_body("One.")),
            exchange(*chat_stream(["Two", "."]), body={**ASKED, "stream": True}),
            exchange(chat_body("Three."), body=odd),
            exchange(chat_stream(["Fo", "ur"])[0], ending=CLOSED, body={**ASKED, "stream": True}),
        ],
        recorded,
    )
    path.write_text(text, encoding="utf-8")
    return path


def promote(cassette: Path, number: int, *options: str) -> int:
    corpus = cassette.parent / "corpus"
    return main(["promote", f"{cassette}#{number}", "--corpus", str(corpus), *options])


def test_an_exchange_becomes_a_recorded_case_that_runs(
    cassette: Path, pytester: pytest.Pytester
) -> None:
    assert promote(cassette, 2, "--name", "said-two") == 0

    corpus = cassette.parent / "corpus"
    case = strict_yaml.load_file(corpus / "openai_chat/llama.cpp/said-two/case.yaml")
    assert case["kind"] == "recorded"
    assert case["source"] == {"server": "llama.cpp", "model": "small", "date": "2026-11-29"}
    assert case["asks"] == [{"body": {**ASKED, "stream": True}, "stream": True}]
    result = pytester.runpytest(str(corpus), "--synaptum-update")
    result.assert_outcomes(passed=1)
    pytester.runpytest(str(corpus)).assert_outcomes(passed=1)


def test_a_body_that_breaks_the_wire_lint_says_so_itself(
    cassette: Path, pytester: pytest.Pytester
) -> None:
    promote(cassette, 3)

    corpus = cassette.parent / "corpus"
    case = strict_yaml.load_file(corpus / "openai_chat/llama.cpp/text/case.yaml")
    assert case["asks"][0]["lint"] == ["empty-tools"]
    pytester.runpytest(str(corpus), "--synaptum-update").assert_outcomes(passed=1)


def test_a_stream_that_was_closed_says_after_how_many_events(cassette: Path) -> None:
    promote(cassette, 4, "--name", "closed")

    corpus = cassette.parent / "corpus"
    case = strict_yaml.load_file(corpus / "openai_chat/llama.cpp/closed/case.yaml")
    assert case["asks"][0]["close_after"] == 1


def test_promoting_again_changes_nothing_and_another_one_needs_a_yes(
    cassette: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    promote(cassette, 1, "--name", "it")
    path = cassette.parent / "corpus/openai_chat/llama.cpp/it/exchange.yaml"
    first = path.read_bytes()
    capsys.readouterr()

    again = promote(cassette, 1, "--name", "it", "--json")
    told = json.loads(capsys.readouterr().out)
    refused = promote(cassette, 2, "--name", "it")
    kept = path.read_bytes()
    replaced = promote(cassette, 2, "--name", "it", "--yes")

    assert (again, told["written"]) == (0, False)
    assert (refused, kept) == (5, first)
    assert replaced == 0
    assert path.read_bytes() != first


@pytest.mark.parametrize(
    ("place", "status", "words"),
    [
        ("", 2, "names no exchange: write CASSETTE#n"),
        ("#0", 2, "names no exchange: write CASSETTE#n"),
        ("#9", 3, "holds 4 exchanges, and 9 was asked for"),
    ],
)
def test_what_is_no_exchange_is_one_sentence(
    cassette: Path, place: str, status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["promote", f"{cassette}{place}"]) == status
    assert words in capsys.readouterr().err


TESTS = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_kept(n): ...

@pytest.mark.synaptum(cassette="shared")
def test_shares(): ...
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    pytester.makepyfile(test_it=TESTS)
    folder = pytester.path / "cassettes" / "test_it"
    folder.mkdir(parents=True)
    goldens = pytester.path / "goldens" / "test_it"
    goldens.mkdir(parents=True)
    (pytester.path / "cassettes" / "shared.yaml").write_text("synaptum: cassette/1\n", "utf-8")
    (folder / "test_gone.yaml").write_text("synaptum: cassette/1\n", "utf-8")
    (folder / "test_of_another_recorder.yaml").write_text("interactions: []\n", "utf-8")
    (goldens / "test_gone.yaml").write_text("synaptum: golden/1\n", "utf-8")
    return pytester.path


def test_prune_names_what_no_test_needs_and_deletes_it_after_a_yes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cassette = project / "cassettes/test_it/test_gone.yaml"
    golden = project / "goldens/test_it/test_gone.yaml"

    refused = main(["prune", str(project), "--quiet"])
    listed = capsys.readouterr().out.splitlines()
    assert cassette.exists()
    assert golden.exists()
    done = main(["prune", str(project), "--yes"])

    assert sorted(listed) == [str(cassette), str(golden)]
    assert (refused, done) == (5, 0)
    assert not cassette.exists()
    assert not golden.parent.exists()
    assert (project / "cassettes/shared.yaml").exists()
    assert (project / "cassettes/test_it/test_of_another_recorder.yaml").exists()


def test_prune_knows_nothing_where_a_test_cannot_be_collected(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "test_broken.py").write_text("import no_such_module_at_all\n", "utf-8")

    status = main(["prune", str(project), "--yes"])

    assert status == 3
    assert "not every test was collected" in capsys.readouterr().err
    assert (project / "cassettes/test_it/test_gone.yaml").exists()


def test_prune_finds_the_rest_of_cases_in_a_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "flags.yaml").write_text("synaptum: flags/1\nflags: {text: Text.}\n", "utf-8")
    left = tmp_path / "openai_chat" / "derived" / "left"
    left.mkdir(parents=True)
    (left / "golden.yaml").write_text("synaptum: case-golden/1\nexchanges: []\n", "utf-8")

    told = []
    for option in ("--dry-run", "--yes", "--yes"):
        assert main(["prune", str(tmp_path), option, "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out))

    golden = str(left / "golden.yaml")
    assert told == [
        {"unused": [golden], "unreadable": [], "deleted": False},
        {"unused": [golden], "unreadable": [], "deleted": True},
        {"unused": [], "unreadable": [], "deleted": False},
    ]
    assert not left.exists()
