"""Twenty rounds of recording and replaying from 8 threads and from 100 tasks, through every seam.

Each round asks the same server once while recording and never while replaying. Half of the
rounds ask a hundred different things, half ask one thing a hundred times; then the server
counts its answers, so that one given twice, or lost, is seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import threading
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests
from support.capturing import recording, replaying
from support.loopback import Answer, LoopbackServer, Received

from pytest_synaptum.capture.synaptum import RecordingTransport, ReplayTransport
from pytest_synaptum.cassette.player import Player
from pytest_synaptum.cassette.recorder import Recorder
from synaptum.transport.base import HttpRequest, Transport
from synaptum.transport.urllib import UrllibTransport

ROUNDS = 20
THREADS = 8
ASKED = 100

Ask = Callable[[Any], Any]


@contextlib.contextmanager
def httpx_client(library: Any, url: str) -> Iterator[Ask]:
    with library.Client(verify=False, timeout=60) as client:
        yield lambda body: client.post(url, json=body).json()


@contextlib.contextmanager
def requests_session(url: str) -> Iterator[Ask]:
    with requests.Session() as session:
        session.trust_env = False
        yield lambda body: session.post(url, json=body, timeout=60).json()


@contextlib.contextmanager
def urllib_opener(url: str) -> Iterator[Ask]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(body: Any) -> Any:
        request = urllib.request.Request(url, json.dumps(body).encode())
        with opener.open(request, timeout=60) as response:
            return json.load(response)

    yield ask


@contextlib.asynccontextmanager
async def async_httpx_client(library: Any, url: str) -> AsyncIterator[Ask]:
    limits = library.Limits(max_connections=ASKED)
    async with library.AsyncClient(verify=False, timeout=60, limits=limits) as client:

        async def ask(body: Any) -> Any:
            return (await client.post(url, json=body)).json()

        yield ask


@contextlib.asynccontextmanager
async def aiohttp_session(url: str) -> AsyncIterator[Ask]:
    async with aiohttp.ClientSession() as session:

        async def ask(body: Any) -> Any:
            async with session.post(url, json=body) as response:
                return await response.json()

        yield ask


SYNC: dict[str, Callable[[str], Any]] = {
    "httpx": lambda url: httpx_client(httpx, url),
    "httpx2": lambda url: httpx_client(httpx2, url),
    "requests": requests_session,
    "urllib": urllib_opener,
}
ASYNC: dict[str, Callable[[str], Any]] = {
    "httpx async": lambda url: async_httpx_client(httpx, url),
    "httpx2 async": lambda url: async_httpx_client(httpx2, url),
    "aiohttp": aiohttp_session,
}


def threads_with_one_client(client: Callable[[str], Any]) -> Callable[[str, list[Any]], list[Any]]:
    def run(url: str, bodies: list[Any]) -> list[Any]:
        with client(url) as ask, ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(ask, bodies))

    return run


def tasks_in_threads_of_one_client(
    client: Callable[[str], Any],
) -> Callable[[str, list[Any]], list[Any]]:
    async def main(url: str, bodies: list[Any]) -> list[Any]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(ASKED))
        with client(url) as ask:
            return await asyncio.gather(*(asyncio.to_thread(ask, body) for body in bodies))

    return lambda url, bodies: asyncio.run(main(url, bodies))


def tasks_of_one_client(client: Callable[[str], Any]) -> Callable[[str, list[Any]], list[Any]]:
    async def main(url: str, bodies: list[Any]) -> list[Any]:
        async with client(url) as ask:
            return await asyncio.gather(*(ask(body) for body in bodies))

    return lambda url, bodies: asyncio.run(main(url, bodies))


def threads_with_a_loop_each(client: Callable[[str], Any]) -> Callable[[str, list[Any]], list[Any]]:
    run_tasks = tasks_of_one_client(client)

    def run(url: str, bodies: list[Any]) -> list[Any]:
        shares = [bodies[n::THREADS] for n in range(THREADS)]
        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(lambda share: run_tasks(url, share), shares))
        merged: list[Any] = [None] * len(bodies)
        for n, share in enumerate(answers):
            merged[n::THREADS] = share
        return merged

    return run


WAYS = {
    **{f"{name}, 8 threads": threads_with_one_client(client) for name, client in SYNC.items()},
    **{f"{name}, 100 tasks": tasks_in_threads_of_one_client(c) for name, c in SYNC.items()},
    **{f"{name}, 8 threads": threads_with_a_loop_each(client) for name, client in ASYNC.items()},
    **{f"{name}, 100 tasks": tasks_of_one_client(client) for name, client in ASYNC.items()},
}


class Counting:
    """Answers the question, and the how many-eth time it is asked."""

    def __init__(self) -> None:
        self._times: dict[str, Iterator[int]] = {}
        self._lock = threading.Lock()

    def __call__(self, received: Received) -> Answer:
        question = received.json()["ask"]
        with self._lock:
            time = next(self._times.setdefault(question, itertools.count(1)))
        return Answer(body=json.dumps({"answer": question.upper(), "time": time}))


def ask_and_judge(
    run: Callable[[str, list[Any]], list[Any]], url: str, questions: list[str]
) -> None:
    answers = run(url, [{"ask": question} for question in questions])
    assert [answer["answer"] for answer in answers] == [question.upper() for question in questions]
    given = sorted((answer["answer"], answer["time"]) for answer in answers)
    assert given == sorted(
        (question.upper(), time)
        for question in set(questions)
        for time in range(1, questions.count(question) + 1)
    )


def one_round(run: Callable[[str, list[Any]], list[Any]], questions: list[str]) -> None:
    with LoopbackServer(Counting()) as server:
        url = f"{server.base_url}/chat"
        recorder: Recorder
        with recording() as recorder:
            ask_and_judge(run, url, questions)
        assert len(recorder.exchanges()) == len(questions)
        assert server.count == len(questions)

        player: Player
        with replaying(recorder) as player:
            ask_and_judge(run, url, questions)
        assert player.unused() == []
        assert server.count == len(questions)  # zero requests during the replay


@pytest.mark.parametrize("run", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("kind", ["distinct", "equal"])
def test_twenty_rounds_lose_nothing(run: Callable[[str, list[Any]], list[Any]], kind: str) -> None:
    for number in range(ROUNDS):
        same = f"round {number}"
        one_round(run, [same if kind == "equal" else f"{same}, {n}" for n in range(ASKED)])


def tasks_on_a_transport(transport: Transport, url: str, bodies: list[Any]) -> list[Any]:
    async def ask(body: Any) -> Any:
        request = HttpRequest(method="POST", url=url, body=json.dumps(body).encode())
        reply = await transport.send(request)
        return json.loads(b"".join([chunk async for chunk in reply.chunks()]))

    async def main() -> list[Any]:
        return await asyncio.gather(*(ask(body) for body in bodies))

    return asyncio.run(main())


@pytest.mark.parametrize("kind", ["distinct", "equal"])
def test_twenty_rounds_of_the_transport_of_recorded_provider_lose_nothing(kind: str) -> None:
    for number in range(ROUNDS):
        same = f"round {number}"
        questions = [same if kind == "equal" else f"{same}, {n}" for n in range(ASKED)]
        with LoopbackServer(Counting()) as server:
            url = f"{server.base_url}/chat"
            recorder = Recorder()
            live = RecordingTransport(UrllibTransport(), recorder)
            ask_and_judge(partial(tasks_on_a_transport, live), url, questions)
            assert len(recorder.exchanges()) == ASKED

            with replaying(recorder) as player:
                replay = ReplayTransport(player)
                ask_and_judge(partial(tasks_on_a_transport, replay), url, questions)
            assert player.unused() == []
            assert server.count == ASKED
