"""Streams through every seam: chunks, the first one early, closing before the end."""

from __future__ import annotations

import asyncio
import http.client
import threading
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
import httpx2
import pytest
import requests
import urllib3
from support.capturing import recording, replaying
from support.loopback import Answer, LoopbackServer, chat_stream

from pytest_synaptum.errors import CassetteMismatchError

EVENTS = chat_stream()

#: Called with each piece as it is read; the reader stops where it says so.
Seen = Callable[[bytes], bool]
Read = Callable[[str, Seen], None]


def until_stopped(pieces: Iterable[bytes], seen: Seen) -> None:
    for piece in pieces:
        if piece.strip() and seen(piece):
            return


async def until_stopped_async(pieces: AsyncIterator[bytes], seen: Seen) -> None:
    async for piece in pieces:
        if piece.strip() and seen(piece):
            return


def of_httpx(library: Any) -> Read:
    def read(url: str, seen: Seen) -> None:
        with library.Client(verify=False) as client, client.stream("POST", url) as response:
            until_stopped(response.iter_raw(), seen)

    return read


def of_async_httpx(library: Any) -> Read:
    async def main(url: str, seen: Seen) -> None:
        async with (
            library.AsyncClient(verify=False) as client,
            client.stream("POST", url) as response,
        ):
            await until_stopped_async(response.aiter_raw(), seen)

    return lambda url, seen: asyncio.run(main(url, seen))


def of_requests(pieces: Callable[[Any], Iterable[bytes]]) -> Read:
    def read(url: str, seen: Seen) -> None:
        with requests.Session() as session:
            session.trust_env = False
            with session.post(url, stream=True, timeout=10) as response:
                until_stopped(pieces(response), seen)

    return read


def of_urllib3(pieces: Callable[[Any], Iterable[bytes]]) -> Read:
    def read(url: str, seen: Seen) -> None:
        with urllib3.PoolManager() as pool:
            response = pool.request("POST", url, preload_content=False, timeout=10)
            until_stopped(pieces(response), seen)
            response.close()

    return read


def of_urllib(pieces: Callable[[Any], Iterable[bytes]]) -> Read:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def read(url: str, seen: Seen) -> None:
        with opener.open(urllib.request.Request(url, b"{}"), timeout=10) as response:
            until_stopped(pieces(response), seen)

    return read


def of_http_client(pieces: Callable[[Any], Iterable[bytes]]) -> Read:
    def read(url: str, seen: Seen) -> None:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
        with closing(connection):
            connection.request("POST", parts.path, b"{}")
            with connection.getresponse() as response:
                until_stopped(pieces(response), seen)

    return read


def of_aiohttp(pieces: Callable[[Any], AsyncIterator[bytes]]) -> Read:
    async def main(url: str, seen: Seen) -> None:
        async with aiohttp.ClientSession() as session, session.post(url) as response:
            await until_stopped_async(pieces(response), seen)

    return lambda url, seen: asyncio.run(main(url, seen))


def by_read1(response: Any) -> Iterator[bytes]:
    return iter(lambda: response.read1(65536), b"")


def by_count(response: Any) -> Iterator[bytes]:
    return iter(lambda: response.read(20), b"")


READERS: dict[str, Read] = {
    "httpx": of_httpx(httpx),
    "httpx2": of_httpx(httpx2),
    "httpx async": of_async_httpx(httpx),
    "httpx2 async": of_async_httpx(httpx2),
    "requests chunks": of_requests(lambda response: response.iter_content(None)),
    "requests lines": of_requests(lambda response: response.iter_lines(chunk_size=1)),
    "urllib3 stream": of_urllib3(lambda response: response.stream()),
    "urllib3 lines": of_urllib3(iter),
    "urllib3 read1": of_urllib3(by_read1),
    "urllib lines": of_urllib(iter),
    "urllib read1": of_urllib(by_read1),
    "http.client read1": of_http_client(by_read1),
    "http.client read(20)": of_http_client(by_count),
    "aiohttp any": of_aiohttp(lambda response: response.content.iter_any()),
    "aiohttp lines": of_aiohttp(lambda response: aiter(response.content)),
}

every_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())


class Pieces(list[bytes]):
    """Takes what a reader sees, and stops it after `at_most` pieces."""

    def __init__(self, at_most: int | None = None) -> None:
        self._at_most = at_most

    def __call__(self, piece: bytes) -> bool:
        self.append(piece)
        return len(self) == self._at_most


@every_reader
def test_the_recorded_chunks_are_those_of_the_wire_however_they_are_read(read: Read) -> None:
    live, again = Pieces(), Pieces()
    with (
        LoopbackServer([Answer(chunks=EVENTS, delay_s=0.01)]) as server,
        recording() as recorder,
    ):
        read(f"{server.base_url}/chat", live)

    with replaying(recorder) as player:
        read(f"{server.base_url}/chat", again)

    response = recorder.exchanges()[0].response
    assert response is not None
    assert list(response.chunks) == EVENTS
    assert response.ending is None
    assert again == live
    assert player.unused() == []


@every_reader
def test_the_first_piece_arrives_before_the_last_was_sent(read: Read) -> None:
    gate = threading.Event()
    pieces = Pieces()

    def seen(piece: bytes) -> bool:
        gate.set()
        return pieces(piece)

    with (
        LoopbackServer([Answer(chunks=EVENTS, gates={1: gate})]) as server,
        recording() as recorder,
    ):
        read(f"{server.base_url}/chat", seen)

    response = recorder.exchanges()[0].response
    assert response is not None
    assert response.body == b"".join(EVENTS)


@every_reader
def test_closing_early_works_live_and_on_replay(read: Read) -> None:
    never = threading.Event()
    live, again = Pieces(1), Pieces(1)
    with (
        LoopbackServer([Answer(chunks=EVENTS, gates={1: never})]) as server,
        recording() as recorder,
    ):
        read(f"{server.base_url}/chat", live)
        assert server.client_gone.wait(5)

    with replaying(recorder) as player:
        read(f"{server.base_url}/chat", again)

    response = recorder.exchanges()[0].response
    assert response is not None
    assert response.ending == "closed"
    assert again == live
    assert player.unused() == []


@every_reader
def test_reading_on_where_the_recorded_caller_closed_is_told(read: Read) -> None:
    never = threading.Event()
    with (
        LoopbackServer([Answer(chunks=EVENTS, gates={1: never})]) as server,
        recording() as recorder,
    ):
        read(f"{server.base_url}/chat", Pieces(1))

    with replaying(recorder) as player, pytest.raises(CassetteMismatchError, match="read on"):
        read(f"{server.base_url}/chat", Pieces())
    assert len(player.mismatches) == 1


@every_reader
def test_a_lost_stream_is_lost_on_replay_with_the_same_kind_of_error(read: Read) -> None:
    with (
        LoopbackServer([Answer(chunks=EVENTS, drop_after=2)]) as server,
        recording() as recorder,
    ):
        live = failure(read, f"{server.base_url}/chat")
    with replaying(recorder):
        again = failure(read, f"{server.base_url}/chat")

    response = recorder.exchanges()[0].response
    assert response is not None
    assert response.ending == "lost"
    assert again == live


def failure(read: Read, url: str) -> tuple[type[BaseException] | None, bytes]:
    pieces = Pieces()
    try:
        read(url, pieces)
    except Exception as error:
        return type(error), b"".join(pieces)
    return None, b"".join(pieces)
