"""Each client records from a real server and replays with it gone, whole and streamed."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import threading
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import brotli
import httpx
import httpx2
import pytest
import requests
import zstandard
from support.capturing import recording, replaying
from support.loopback import Answer, LoopbackServer, Received, chat_body, chat_stream

from pytest_synaptum.cassette.recorder import Recorder
from pytest_synaptum.errors import CassetteMismatchError

Asks = Callable[[str, Any], tuple[int, bytes]]


def with_httpx(library: Any) -> Asks:
    def ask(url: str, body: Any) -> tuple[int, bytes]:
        with library.Client(verify=False) as client:
            response = client.post(url, json=body)
        return response.status_code, response.content

    return ask


def with_async_httpx(library: Any) -> Asks:
    async def one(url: str, body: Any) -> tuple[int, bytes]:
        async with library.AsyncClient(verify=False) as client:
            response = await client.post(url, json=body)
        return response.status_code, response.content

    return lambda url, body: asyncio.run(one(url, body))


def with_requests(url: str, body: Any) -> tuple[int, bytes]:
    with requests.Session() as session:
        session.trust_env = False
        response = session.post(url, json=body, timeout=10)
        return response.status_code, response.content


def with_urllib(url: str, body: Any) -> tuple[int, bytes]:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"content-type": "application/json"}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with contextlib.closing(opener):
        try:
            with opener.open(request, timeout=10) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()


def with_aiohttp(url: str, body: Any) -> tuple[int, bytes]:
    async def one() -> tuple[int, bytes]:
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
            return response.status, await response.read()

    return asyncio.run(one())


CLIENTS = {
    "httpx": with_httpx(httpx),
    "httpx2": with_httpx(httpx2),
    "httpx async": with_async_httpx(httpx),
    "httpx2 async": with_async_httpx(httpx2),
    "requests": with_requests,
    "urllib": with_urllib,
    "aiohttp": with_aiohttp,
}

every_client = pytest.mark.parametrize("ask", CLIENTS.values(), ids=CLIENTS.keys())


def shout(received: Received) -> Answer:
    question = received.json()
    if question.get("stream"):
        return Answer(chunks=chat_stream(("Hel", "lo.")))
    if question.get("refuse"):
        return Answer(status=404, body=b'{"error":"no"}')
    return Answer(body=chat_body(question["ask"].upper()))


@every_client
@pytest.mark.parametrize("body", [{"ask": "hi"}, {"stream": True}, {"refuse": True}], ids=str)
def test_an_answer_is_the_same_on_replay_with_the_server_gone(ask: Asks, body: Any) -> None:
    with LoopbackServer(shout) as server:
        url = f"{server.base_url}/chat/completions"
        with recording() as recorder:
            live = ask(url, body)

    with replaying(recorder) as player:
        again = ask(url, body)

    assert again == live
    assert player.unused() == []
    assert len(recorder.exchanges()) == 1
    assert server.count == 1


@every_client
def test_a_stream_keeps_its_chunks(ask: Asks) -> None:
    slow = Answer(chunks=chat_stream(), delay_s=0.01)
    with LoopbackServer(lambda _: slow) as server, recording() as recorder:
        ask(f"{server.base_url}/chat/completions", {})

    response = recorder.exchanges()[0].response
    assert response is not None
    assert list(response.chunks) == chat_stream()
    assert response.ending is None


@every_client
def test_a_request_that_was_not_recorded_goes_nowhere(ask: Asks) -> None:
    with (
        LoopbackServer(shout) as server,
        replaying(Recorder()) as player,
        pytest.raises(CassetteMismatchError),
    ):
        ask(f"{server.base_url}/chat/completions", {"ask": "hi"})

    assert server.count == 0
    assert len(player.mismatches) == 1


@every_client
def test_nothing_is_captured_when_no_capture_is_on(ask: Asks) -> None:
    with LoopbackServer(shout) as server:
        with recording() as recorder:
            pass
        status, _ = ask(f"{server.base_url}/chat/completions", {"ask": "hi"})

    assert status == 200
    assert recorder.exchanges() == ()


@every_client
def test_threads_lose_nothing_and_replay_reaches_no_server(ask: Asks) -> None:
    words = [f"word {n}" for n in range(24)]

    def one(word: str) -> bool:
        _, body = ask(url, {"ask": word})
        return json.loads(body)["choices"][0]["message"]["content"] == word.upper()

    with LoopbackServer(shout) as server:
        url = f"{server.base_url}/chat/completions"
        with recording() as recorder, ThreadPoolExecutor(8) as pool:
            assert all(pool.map(one, words))
        count = server.count
        with replaying(recorder) as player, ThreadPoolExecutor(8) as pool:
            assert all(pool.map(one, reversed(words)))

        assert count == 24
        assert server.count == 24
    assert player.unused() == []


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_the_first_chunk_arrives_before_the_last_was_sent(library: Any) -> None:

    gate = threading.Event()
    answer = Answer(chunks=chat_stream(), gates={3: gate})
    with (
        LoopbackServer([answer]) as server,
        recording(),
        library.Client(verify=False) as client,
        client.stream("POST", f"{server.base_url}/chat/completions", json={}) as response,
    ):
        chunks = response.iter_raw()
        assert next(chunks) == chat_stream()[0]
        gate.set()
        assert list(chunks) == chat_stream()[1:]


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_closing_early_works_live_and_on_replay(library: Any) -> None:
    def first(url: str) -> bytes:
        with library.Client() as client, client.stream("POST", url, json={}) as response:
            return next(response.iter_raw())

    with LoopbackServer([Answer(chunks=chat_stream(), delay_s=0.05)]) as server:
        url = f"{server.base_url}/chat/completions"
        with recording() as recorder:
            live = first(url)
    recorded = recorder.exchanges()[0].response
    assert recorded is not None
    assert recorded.ending == "closed"

    with replaying(recorder) as player:
        assert first(url) == live
        with pytest.raises(CassetteMismatchError):
            first(url)
    assert player.unused() == []


def test_a_stream_that_was_lost_is_lost_on_replay_as_an_error_of_the_client() -> None:
    with LoopbackServer([Answer(chunks=chat_stream(), drop_after=2)]) as server:
        url = f"{server.base_url}/chat/completions"
        with recording() as recorder, pytest.raises(httpx.RemoteProtocolError):
            with_httpx(httpx)(url, {})

    with replaying(recorder), pytest.raises(httpx.RemoteProtocolError):
        with_httpx(httpx)(url, {})


def test_transports_that_are_no_network_are_left_alone() -> None:
    mock = httpx.MockTransport(lambda request: httpx.Response(200, text="mock"))
    with recording() as recorder, httpx.Client(transport=mock) as client:
        assert client.get("http://example.invalid/").text == "mock"

    assert recorder.exchanges() == ()


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_compressed_answer_is_stored_plain_and_read_the_same(encoding: str) -> None:
    ask = with_httpx(httpx)
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": brotli.compress,
        "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
    }
    headers = (("content-encoding", encoding), ("content-type", "application/json"))
    answer = Answer(body=pack[encoding](chat_body("Hello.")), headers=headers)
    with LoopbackServer([answer]) as server:
        url = f"{server.base_url}/chat/completions"
        with recording() as recorder:
            live = ask(url, {})
    assert live == (200, chat_body("Hello."))
    response = recorder.exchanges()[0].response
    assert response is not None
    assert response.body == chat_body("Hello.")
    assert "content-encoding" not in dict(response.headers)

    with replaying(recorder):
        assert ask(url, {}) == live


@pytest.mark.parametrize("encoding", ["x-squeezed", "br"])
def test_a_compression_that_the_client_did_not_ask_for_is_kept_as_it_came(encoding: str) -> None:
    packed = brotli.compress(b"plain")
    headers = (("content-encoding", encoding), ("content-type", "application/json"))
    with LoopbackServer([Answer(body=packed, headers=headers)]) as server, recording() as recorder:
        live = with_urllib(f"{server.base_url}/x", {})
    with replaying(recorder):
        assert with_urllib("http://elsewhere.invalid/v1/x", {}) == live == (200, packed)


def test_the_openai_sdk_gives_answers_of_its_own_types() -> None:
    openai = pytest.importorskip("openai")

    def chat(url: str) -> list[Any]:
        client = openai.OpenAI(base_url=url, api_key="sk-none-0123456789abcdef", max_retries=0)
        question: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        with client:
            whole = client.chat.completions.create(**question)
            stream = list(client.chat.completions.create(**question, stream=True))
            raw = client.chat.completions.with_raw_response.create(**question).parse()
        return [whole, stream, raw]

    def answer(received: Received) -> Answer:
        stream = received.json().get("stream")
        return Answer(chunks=chat_stream()) if stream else Answer(body=chat_body("Hello."))

    with LoopbackServer(answer) as server, recording() as recorder:
        live = chat(server.base_url)
    with replaying(recorder):
        again = chat(server.base_url)

    assert again == live
    assert type(again[0]).__name__ == "ChatCompletion"
