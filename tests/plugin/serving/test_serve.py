"""`synaptum-corpus serve`: recorded answers for agents in other processes and languages."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from support.chat import chat_body, chat_stream
from support.commands import serving
from support.loopback import Answer, LoopbackServer

from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.corpus.checking import load_exchanges
from pytest_synaptum.corpus.tree import case_named
from pytest_synaptum.exchange import LOST, Exchange, RecordedRequest, RecordedResponse

CORPUS = Path(__file__).parents[3] / "corpus"
DERIVED = "openai_chat/derived"


@pytest.fixture(scope="module")
def corpus_url() -> Iterator[str]:
    with serving("--corpus", str(CORPUS)) as base_url:
        yield base_url


def ask(base_url: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{base_url}/chat/completions", json=body, trust_env=False, timeout=20)


@pytest.fixture
def client(corpus_url: str) -> Iterator[openai.OpenAI]:
    with (
        httpx.Client(trust_env=False, timeout=20) as http,
        openai.OpenAI(
            base_url=corpus_url, api_key="none", max_retries=0, http_client=http
        ) as opened,
    ):
        yield opened


def test_the_openai_sdk_is_answered_by_a_case_that_it_names_as_model(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model=f"{DERIVED}/stream-call-fragments",
        messages=[{"role": "user", "content": "Anything."}],
        stream=True,
    )

    pieces = [
        call.function.arguments or ""
        for chunk in stream
        for choice in chunk.choices
        for call in choice.delta.tool_calls or ()
        if call.function
    ]
    assert json.loads("".join(pieces)) == {"to": "Tromsø"}


def test_a_recorded_question_gets_its_recorded_bytes(corpus_url: str) -> None:
    case = case_named(CORPUS, "llama.cpp/plain-text")
    whole, streamed = load_exchanges(case)

    answers = [
        httpx.post(
            f"{corpus_url.removesuffix('/v1')}{exchange.request.path}",
            content=exchange.request.body,
            trust_env=False,
            timeout=20,
        )
        for exchange in (whole, streamed, whole)
    ]

    assert [answer.content for answer in answers] == [
        exchange.response.body for exchange in (whole, streamed, whole) if exchange.response
    ]
    assert answers[1].headers["content-type"] == "text/event-stream"


def test_a_refusal_keeps_its_status_and_headers(corpus_url: str) -> None:
    answer = ask(corpus_url, model=f"{DERIVED}/error-429-retry-after", messages=[])

    assert answer.status_code == 429
    assert "retry-after" in answer.headers


def test_a_stream_that_was_lost_is_lost_again(corpus_url: str) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        ask(corpus_url, model=f"{DERIVED}/stream-lost-inside-call", messages=[], stream=True)


def test_what_was_not_recorded_is_said(corpus_url: str) -> None:
    answer = ask(corpus_url, model="nobody", messages=[])

    assert answer.status_code == 404
    error = answer.json()["error"]
    assert error["type"] == "not_recorded"
    assert "The nearest recorded one differs first where $" in error["message"]


def test_every_case_is_listed_as_a_model(client: openai.OpenAI) -> None:
    listed = client.models.list()

    assert f"{DERIVED}/stream-call-fragments" in {model.id for model in listed}


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_reads_a_stream(corpus_url: str) -> None:
    body = json.dumps({"model": f"{DERIVED}/sse-comment-lines", "stream": True})

    told = subprocess.run(
        ["curl", "-sN", "--noproxy", "*", f"{corpus_url}/chat/completions", "-d", body],
        capture_output=True,
        timeout=30,
        check=True,
    ).stdout

    (exchange,) = load_exchanges(case_named(CORPUS, f"{DERIVED}/sse-comment-lines"))
    assert exchange.response is not None
    assert told == exchange.response.body


NODE = """
const answer = await fetch(process.argv[1] + "/chat/completions", {
  method: "POST",
  body: JSON.stringify({model: process.argv[2], stream: true}),
});
let text = "";
for await (const chunk of answer.body) text += Buffer.from(chunk).toString("utf8");
console.log(text.includes("[DONE]"), answer.status);
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_reads_a_stream(corpus_url: str) -> None:
    told = subprocess.run(
        ["node", "--input-type=module", "-e", NODE, corpus_url, f"{DERIVED}/sse-comment-lines"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    ).stdout

    assert told.split() == ["true", "200"]


def slow_cassette(path: Path) -> Path:
    body = json.dumps({"model": "m", "stream": True}).encode()
    exchange = Exchange(
        request=RecordedRequest(method="POST", path="/v1/chat/completions", body=body),
        response=RecordedResponse(
            status=200,
            headers=(("content-type", "text/event-stream"),),
            chunks=(b"data: {}\n\n", b"data: [DONE]\n\n"),
            headers_after_s=0.1,
            delays_s=(0.1, 0.3),
        ),
    )
    path.write_text(dump_cassette([exchange], {}), encoding="utf-8")
    return path


def test_a_cassette_is_served_at_its_own_pace_on_request(tmp_path: Path) -> None:
    path = slow_cassette(tmp_path / "slow.yaml")
    took = {}

    for options in ((), ("--delays",)):
        with serving("--cassette", str(path), *options) as base_url:
            begin = time.monotonic()
            answer = ask(base_url, model="m", stream=True)
            took[options] = time.monotonic() - begin
            assert answer.content == b"data: {}\n\ndata: [DONE]\n\n"

    assert took["--delays",] >= 0.45


def test_a_recording_passes_a_stream_on_chunk_by_chunk_and_is_written_at_the_end(
    tmp_path: Path,
) -> None:
    path = tmp_path / "recorded.yaml"
    gate = threading.Event()
    pieces = chat_stream(["Hel", "lo."])
    answers = [Answer(chunks=pieces, gates={1: gate}), Answer(body=chat_body("Whole."))]
    with LoopbackServer(answers) as real:
        with serving(
            "--record",
            str(path),
            "--base-url",
            real.base_url,
            env={"SYNAPTUM_API_KEY": "the-real-key-0123456789"},
        ) as base_url:
            with httpx.stream(
                "POST",
                f"{base_url}/chat/completions",
                json={"model": "m", "stream": True},
                headers={"authorization": "Bearer the-key-of-the-client"},
                trust_env=False,
                timeout=20,
            ) as streamed:
                arriving = streamed.iter_raw()
                first = next(arriving)
                gate.set()  # the first piece is here before the second was sent
                rest = b"".join(arriving)
            whole = ask(base_url, model="m")
            assert not path.exists()
        assert real.requests[0].header("authorization") == "Bearer the-real-key-0123456789"

    assert first == pieces[0]
    assert first + rest == b"".join(pieces)
    assert whole.content == chat_body("Whole.")
    exchanges = load_cassette(path).exchanges()
    assert [exchange.response.status for exchange in exchanges if exchange.response] == [200, 200]
    assert exchanges[0].response is not None
    assert exchanges[0].response.body == b"".join(pieces)
    assert exchanges[0].response.chunks[0] == pieces[0]
    assert "the-real-key" not in path.read_text(encoding="utf-8")
    assert "the-key-of-the-client" not in path.read_text(encoding="utf-8")


def test_what_was_recorded_by_forwarding_is_served_again(tmp_path: Path) -> None:
    path = tmp_path / "recorded.yaml"
    with (
        LoopbackServer([Answer(body=chat_body("Once."))]) as real,
        serving("--record", str(path), "--base-url", real.base_url) as base_url,
    ):
        ask(base_url, model="m")

    with serving("--cassette", str(path)) as base_url:
        answers = [ask(base_url, model="m").content for _ in range(2)]

    assert answers == [chat_body("Once."), chat_body("Once.")]


def test_a_stream_that_the_real_server_lost_is_recorded_as_lost(tmp_path: Path) -> None:
    path = tmp_path / "recorded.yaml"
    lost = Answer(chunks=chat_stream(["Hel", "lo."]), drop_after=1)
    with (
        LoopbackServer([lost]) as real,
        serving("--record", str(path), "--base-url", real.base_url) as base_url,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        ask(base_url, model="m", stream=True)

    (exchange,) = load_cassette(path).exchanges()
    assert exchange.response is not None
    assert exchange.response.ending == LOST


def test_a_recording_that_is_there_is_not_replaced_without_a_yes(tmp_path: Path) -> None:
    path = slow_cassette(tmp_path / "there.yaml")
    before = path.read_bytes()

    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest_synaptum", "serve"),
            *("--record", str(path), "--base-url", "http://127.0.0.1:9/v1"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 5
    assert "--yes replaces it" in done.stdout
    assert path.read_bytes() == before
