"""`synaptum-corpus drift` against a server that answers as recorded, and a doctored one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.loopback import Answer, LoopbackServer, Received

from pytest_synaptum.cli import main
from pytest_synaptum.corpus.checking import load_exchanges
from pytest_synaptum.corpus.facts import facts_of
from pytest_synaptum.corpus.tree import case_named

CORPUS = Path(__file__).parents[3] / "corpus"
NAME = "openai_chat/llama.cpp/plain-text"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    (root / NAME).parent.mkdir(parents=True)
    shutil.copy(CORPUS / "flags.yaml", root / "flags.yaml")
    shutil.copytree(CORPUS / NAME, root / NAME)
    return root


def as_recorded(change: Callable[[dict[str, Any]], None]) -> Callable[[Received], Answer]:
    """Answers as the case has it, each JSON object changed on the way."""
    whole, streamed = load_exchanges(case_named(CORPUS, NAME))

    def answer(received: Received) -> Answer:
        exchange = streamed if received.json().get("stream") else whole
        values = [json.loads(json.dumps(value)) for value in facts_of(exchange).values]
        for value in values:
            change(value)
        if exchange is whole:
            return Answer(
                headers=[("content-type", "application/json")], body=json.dumps(values[0])
            )
        events = [f"data: {json.dumps(value)}\n\n" for value in values]
        return Answer(chunks=[*events, "data: [DONE]\n\n"])

    return answer


def drift(corpus: Path, base_url: str, *options: str) -> int:
    return main(["drift", "--corpus", str(corpus), "--base-url", base_url, *options])


def test_a_server_that_answers_in_the_same_shapes_has_not_drifted(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def other_words(value: dict[str, Any]) -> None:
        value["created"] = 1

    with LoopbackServer(as_recorded(other_words)) as server:
        assert drift(corpus, server.base_url) == 0

    out = capsys.readouterr().out
    assert f"{NAME}: the same shapes" in out
    assert "1 case, 1 asked, 0 drifted, 0 not asked" in out


def test_a_new_field_is_information(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def add(value: dict[str, Any]) -> None:
        value["service_tier"] = "default"

    with LoopbackServer(as_recorded(add)) as server:
        assert drift(corpus, server.base_url) == 0

    assert "ask 1: new: service_tier (string)" in capsys.readouterr().out


def test_a_lost_field_and_another_type_are_errors(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def doctor(value: dict[str, Any]) -> None:
        value.pop("created")
        if isinstance(value.get("usage"), dict):
            value["usage"]["prompt_tokens"] = str(value["usage"]["prompt_tokens"])

    with LoopbackServer(as_recorded(doctor)) as server:
        assert drift(corpus, server.base_url, "--json") == 1

    (told,) = json.loads(capsys.readouterr().out)
    assert told["drifted"] is True
    whole = [change for change in told["changes"] if change["ask"] == 1]
    assert [(change["path"], change["kind"]) for change in whole] == [
        ("created", "lost"),
        ("usage.prompt_tokens", "type"),
    ]


def test_another_status_is_an_error(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with LoopbackServer(lambda received: Answer(404, body='{"error": {}}')) as server:
        assert drift(corpus, server.base_url) == 1

    assert "ask 1: status 200 recorded, 404 came" in capsys.readouterr().out


def test_a_run_that_could_not_ask_is_not_green(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer() as server:
        gone = server.base_url

    assert drift(corpus, gone) == 4
    assert "1 case, 0 asked, 0 drifted, 1 not asked" in capsys.readouterr().out


def test_a_server_too_busy_to_answer_was_not_asked(corpus: Path) -> None:
    with LoopbackServer(lambda received: Answer(503, body="{}")) as server:
        assert drift(corpus, server.base_url, "--quiet") == 4


def test_the_key_comes_from_the_environment(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPTUM_API_KEY", "a-key-of-the-server")
    with LoopbackServer(as_recorded(lambda value: None)) as server:
        drift(corpus, server.base_url, NAME)

    assert server.requests[0].header("authorization") == "Bearer a-key-of-the-server"


def test_without_a_server_the_way_to_one_is_named(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SYNAPTUM_BASE_URL", raising=False)

    assert main(["drift", "--corpus", str(corpus)]) == 2
    assert "--base-url or SYNAPTUM_BASE_URL, or use --server local" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(body="<html>"), "JSON was recorded, and in the 6 bytes that came is none"),
        (Answer(body=""), "JSON was recorded, and in the 0 bytes that came is none"),
        (Answer(body="[]"), "JSON was recorded, and in the 2 bytes that came is none"),
        (Answer(chunks=["data: {}\n\n"]), "a body was recorded, a stream came"),
    ],
)
def test_an_answer_in_another_form_is_an_error(
    corpus: Path, capsys: pytest.CaptureFixture[str], answer: Answer, told: str
) -> None:
    with LoopbackServer(lambda received: answer) as server:
        assert drift(corpus, server.base_url, "--json") == 1

    (found,) = json.loads(capsys.readouterr().out)
    assert found["forms"][0] == {"ask": 1, "what": told}


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("", "ask 2: the stream ended with [DONE] when it was recorded, and without it now"),
        ("data: no\n\n", "ask 2: not all of what came is JSON, and all of what was recorded is"),
    ],
)
def test_a_stream_that_ends_otherwise_is_an_error(
    corpus: Path, capsys: pytest.CaptureFixture[str], last: str, told: str
) -> None:
    recorded = as_recorded(lambda value: None)

    def answer(received: Received) -> Answer:
        whole = recorded(received)
        return whole if whole.chunks is None else Answer(chunks=[*whole.chunks[:-1], last])

    with LoopbackServer(answer) as server:
        assert drift(corpus, server.base_url) == 1

    assert told in capsys.readouterr().out


@pytest.mark.parametrize("base_url", ["nowhere", "http://[x/v1", "http://127.0.0.1:99999/v1"])
def test_a_base_url_that_is_none_is_said_before_anything_is_asked(
    corpus: Path, capsys: pytest.CaptureFixture[str], base_url: str
) -> None:
    assert drift(corpus, base_url) == 2

    told = capsys.readouterr().err
    assert f"The base URL {base_url!r} is no address of a server" in told
    assert "correct --base-url" in told
