"""`synaptum-corpus drift` against the embedded server, really started."""

import json
import shutil
from pathlib import Path

import pytest

from pytest_synaptum import strict_yaml
from pytest_synaptum.cli import main

CORPUS = Path(__file__).parents[2] / "corpus"
NAME = "openai_chat/llama.cpp/plain-text"


def test_the_server_answers_in_the_recorded_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["drift", "--corpus", str(CORPUS), "--server", "local", NAME, "--json"])

    (told,) = json.loads(capsys.readouterr().out)
    assert status == 0
    assert told["not_asked"] is None
    assert told["changes"] == []


def test_a_field_that_the_recording_had_and_the_server_does_not_is_drift(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus"
    shutil.copytree(CORPUS / NAME, corpus / NAME)
    shutil.copy(CORPUS / "flags.yaml", corpus / "flags.yaml")
    path = corpus / NAME / "exchange.yaml"
    cassette = strict_yaml.load_file(path)
    body = json.loads(cassette["exchanges"][0]["response"]["json"])
    body["service_tier"] = "default"
    cassette["exchanges"][0]["response"]["json"] = json.dumps(body)
    path.write_text(strict_yaml.dump(cassette), encoding="utf-8")

    status = main(["drift", "--corpus", str(corpus), "--server", "local", NAME])

    assert status == 1
    assert "ask 1: lost: service_tier (was string)" in capsys.readouterr().out
