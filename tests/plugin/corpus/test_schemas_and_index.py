"""The schemas fit every file, and the index is true."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_synaptum import strict_yaml
from pytest_synaptum.cli import main

CORPUS = Path(__file__).parents[3] / "corpus"
KINDS = ("case", "exchange", "golden", "flags", "index")
CASE = CORPUS / "openai_chat/llama.cpp/plain-text"


def validator(kind: str) -> Any:
    schema = json.loads((CORPUS / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_of_a_kind_fits_its_schema(kind: str) -> None:
    judge = validator(kind)
    files = sorted(CORPUS.rglob(f"{kind}.yaml"))

    wrong = {
        str(path.relative_to(CORPUS)): error.message
        for path in files
        for error in judge.iter_errors(strict_yaml.load_file(path))
    }

    assert files
    assert wrong == {}


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("case", ("kind",), "made-up"),
        ("case", ("summary",), "No full stop"),
        ("case", ("surprise",), 1),
        ("case", ("source", "date"), "yesterday"),
        ("case", ("asks",), []),
        ("exchange", ("exchanges", 0, "response", "status"), "200"),
        ("exchange", ("exchanges", 0, "response", "text"), "a second body"),
        ("golden", ("exchanges", 0, "response", "finish_reason"), "done"),
        ("golden", ("exchanges", 0, "response", "usage", "input"), -1),
    ],
)
def test_a_schema_refuses_what_the_format_does(
    kind: str, path: tuple[str | int, ...], value: object
) -> None:
    doctored = copy.deepcopy(strict_yaml.load_file(CASE / f"{kind}.yaml"))
    place: Any = doctored
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    assert not validator(kind).is_valid(doctored)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    shutil.copytree(CASE, root / "openai_chat/llama.cpp/plain-text")
    (root / "flags.yaml").write_text(
        "synaptum: flags/1\nflags: {text: Text., stream: Streamed.}\n", encoding="utf-8"
    )
    return root


def test_the_index_is_written_once_and_then_true(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["index", "--corpus", str(corpus), "--json"])
    first = json.loads(capsys.readouterr().out)
    main(["index", "--corpus", str(corpus), "--json"])
    second = json.loads(capsys.readouterr().out)

    assert (first["changed"], second["changed"]) == (True, False)
    assert strict_yaml.load_file(corpus / "index.yaml") == {
        "synaptum": "index/1",
        "cases": {
            "openai_chat/llama.cpp/plain-text": {
                "kind": "recorded",
                "flags": ["text", "stream"],
                "asks": 2,
            }
        },
    }
    assert main(["lint", "--corpus", str(corpus), "--quiet"]) == 0


def test_the_lint_says_where_the_index_is_not_true(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["index", "--corpus", str(corpus)])
    case = corpus / "openai_chat/llama.cpp/plain-text"
    shutil.copytree(case, case.with_name("another"))
    (case / "case.yaml").write_text(
        (case / "case.yaml").read_text("utf-8").replace("[text, stream]", "[stream, text]"), "utf-8"
    )
    capsys.readouterr()

    assert main(["lint", "--corpus", str(corpus)]) == 1

    out = capsys.readouterr().out
    assert "the case openai_chat/llama.cpp/another is missing" in out
    assert "openai_chat/llama.cpp/plain-text has changed" in out
    assert "write it again with `synaptum-corpus index`" in out


def test_the_index_of_our_own_corpus_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--strict", "--corpus", str(CORPUS)]) == 0, capsys.readouterr().out
