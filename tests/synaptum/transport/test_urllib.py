"""The standard library's transport against a real server."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from support.leaks import our_threads, wait_until
from support.loopback import Answer, LoopbackServer

from synaptum.errors import ConfigurationError, NetworkError, RequestTimeoutError
from synaptum.transport.base import HttpReply, HttpRequest
from synaptum.transport.urllib import MAX_WAITING, UrllibTransport

pytestmark = pytest.mark.asyncio

transport = UrllibTransport()


def post(url: str, *, timeout_s: float | None = 10, headers: object = ()) -> HttpRequest:
    return HttpRequest(
        method="POST",
        url=url,
        headers=(("content-type", "application/json"), *headers),  # type: ignore[misc]
        body=b'{"a": 1}',
        timeout_s=timeout_s,
    )


async def read(reply: HttpReply) -> bytes:
    return b"".join([piece async for piece in reply.chunks()])


async def test_a_request_travels_as_it_is_and_the_answer_comes_back() -> None:
    with LoopbackServer([Answer(201, headers=[("X-One", "1")], body="hello")]) as server:
        reply = await transport.send(post(f"{server.base_url}/x?y=1", headers=[("x-two", "2")]))
        body = await read(reply)

    assert (reply.status, body) == (201, b"hello")
    assert ("x-one", "1") in reply.headers
    (request,) = server.requests
    assert (request.method, request.path, request.body) == ("POST", "/v1/x?y=1", b'{"a": 1}')
    assert request.header("x-two") == "2"
    assert request.header("content-length") == "8"


@pytest.mark.parametrize("status", [204, 302, 401, 404, 429, 500, 503])
async def test_any_status_is_a_reply(status: int) -> None:
    headers = [("location", "http://127.0.0.1:1/x")]
    with LoopbackServer([Answer(status, headers=headers, body="")]) as server:
        reply = await transport.send(post(server.base_url))
        await read(reply)

    assert reply.status == status
    assert server.count == 1


async def test_a_redirect_is_not_followed_and_the_key_stays() -> None:
    with LoopbackServer() as other, LoopbackServer() as server:
        server.add(Answer(302, headers=[("location", f"{other.base_url}/land")], body=""))
        reply = await transport.send(post(server.base_url, headers=[("authorization", "Bearer k")]))
        await read(reply)

    assert reply.status == 302
    assert other.count == 0


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
async def test_a_body_in_pieces_arrives_whole_under_every_framing(framing: str) -> None:
    pieces = [bytes([65 + n % 26]) * 700 for n in range(100)]
    with LoopbackServer([Answer(chunks=pieces, framing=framing)]) as server:  # type: ignore[arg-type]
        body = await read(await transport.send(post(server.base_url)))

    assert body == b"".join(pieces)


async def test_the_first_piece_arrives_before_the_last_is_sent() -> None:
    gate = threading.Event()
    with LoopbackServer([Answer(chunks=["one", "two"], gates={1: gate})]) as server:
        chunks = (await transport.send(post(server.base_url))).chunks()
        first = await anext(chunks)
        sent = server.sent
        gate.set()
        rest = [piece async for piece in chunks]

    assert (first, rest) == (b"one", [b"two"])
    assert sent <= 1  # counted just after the write


async def test_a_slow_reader_slows_the_server_down() -> None:
    """What waits is bounded, by us and by TCP, however much the server has to say."""
    pieces = [b"x" * 65536] * 1000
    with LoopbackServer([Answer(chunks=pieces)]) as server:
        reply = await transport.send(post(server.base_url))
        chunks = reply.chunks()
        first = await anext(chunks)
        counts: list[int] = []
        while len(counts) < 3 or counts[-1] != counts[-3]:  # until the server stands still
            counts.append(server.sent)
            await asyncio.to_thread(server.wait_for, lambda: False, 0.1)
            assert len(counts) < 50
        waiting = len(reply._pieces)  # type: ignore[attr-defined]
        rest = [piece async for piece in chunks]

    assert waiting <= MAX_WAITING
    assert counts[-1] < 500
    assert len(first) + sum(map(len, rest)) == 65536 * 1000


async def test_a_fast_server_does_not_keep_other_tasks_waiting() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    with LoopbackServer([Answer(chunks=[b"x" * 100] * 2000)]) as server:
        task = asyncio.create_task(other())
        await read(await transport.send(post(server.base_url)))
        task.cancel()

    assert turns > 50


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(chunks=["abc", "def"], drop_after=1), id="chunked"),
        pytest.param(Answer(chunks=["abc", "def"], drop_after=1, reset=True), id="reset"),
        pytest.param(Answer(body="abc", content_length=99), id="short of its length"),
        pytest.param(
            Answer(body=gzip.compress(b"abc")[:-3], headers=[("content-encoding", "gzip")]),
            id="compressed",
        ),
    ],
)
async def test_a_body_that_breaks_off_is_an_error(answer: Answer) -> None:
    with LoopbackServer([answer]) as server:
        reply = await transport.send(post(server.base_url))
        with pytest.raises(NetworkError, match=r"was lost after \d+ bytes") as caught:
            await read(reply)

    assert server.origin in str(caught.value)
    assert caught.value.retryable


async def test_what_came_before_a_break_is_given_first() -> None:
    with LoopbackServer([Answer(chunks=["abc", "def"], drop_after=1)]) as server:
        chunks = (await transport.send(post(server.base_url))).chunks()

        assert await anext(chunks) == b"abc"
        with pytest.raises(NetworkError):
            await anext(chunks)


async def test_a_compressed_answer_is_given_plain() -> None:
    body = gzip.compress(b"hello " * 1000)
    pieces = [body[i : i + 7] for i in range(0, len(body), 7)]
    answer = Answer(chunks=pieces, headers=[("content-encoding", "gzip")])
    with LoopbackServer([answer]) as server:
        reply = await transport.send(post(server.base_url))
        plain = await read(reply)

    assert plain == b"hello " * 1000
    assert "content-encoding" not in dict(reply.headers)


async def test_an_encoding_we_cannot_read_is_named() -> None:
    with LoopbackServer([Answer(body="x", headers=[("content-encoding", "br")])]) as server:
        reply = await transport.send(post(server.base_url))
        with pytest.raises(NetworkError, match="compressed as 'br'") as caught:
            [piece async for piece in reply.chunks()]

    assert not caught.value.retryable
    assert reply.status == 200


async def test_damaged_compressed_data_is_an_error() -> None:
    body = gzip.compress(b"hello " * 100)
    body = body[:12] + bytes(16) + body[28:]
    with LoopbackServer([Answer(body=body, headers=[("content-encoding", "gzip")])]) as server:
        reply = await transport.send(post(server.base_url))
        with pytest.raises(NetworkError, match=r"is damaged|was lost"):
            await read(reply)


async def test_a_refused_connection_says_what_to_do() -> None:
    with LoopbackServer() as server:
        origin = server.origin

    with pytest.raises(NetworkError) as caught:
        await transport.send(post(f"{origin}/v1?key=hidden"))

    assert str(caught.value) == f"No server answers at {origin}: start it, or check base_url."
    assert caught.value.retryable


async def test_a_server_that_hangs_up_without_an_answer_is_told() -> None:
    with (
        LoopbackServer([Answer(drop_after=-1)]) as server,
        pytest.raises(NetworkError, match="closed the connection without an answer"),
    ):
        await transport.send(post(server.base_url))


@contextlib.contextmanager
def answering(raw: bytes) -> Iterator[str]:
    """A server of one request that answers these bytes and hangs up; gives its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(OSError):
                while connection.recv(65536):  # closed with bytes unread, it would be a reset
                    pass

    thread = threading.Thread(target=answer)
    thread.start()
    with listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join(5)


@pytest.mark.parametrize("raw", [b"SSH-2.0-OpenSSH\r\n\r\n", b'{"no": "http"}'])
async def test_what_is_no_http_is_told(raw: bytes) -> None:
    with answering(raw) as url, pytest.raises(NetworkError, match="is not HTTP"):
        await transport.send(post(url))


WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", id="continue"),
        pytest.param(b"HTTP/1.1 102 Processing\r\n\r\n" * 3, id="processing"),
        pytest.param(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", id="early hints"),
    ],
)
async def test_an_interim_response_is_not_taken_for_the_answer(before: bytes) -> None:
    with answering(before + WHOLE) as url:
        reply = await transport.send(post(url))
        body = await read(reply)

    assert (reply.status, reply.headers, body) == (200, (("content-length", "5"),), b"hello")


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 20",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-len",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n",
        b"HTTP/1.1 103 Early Hints\r\n",
    ],
)
async def test_a_head_that_breaks_off_is_no_empty_answer(head: bytes) -> None:
    with (
        answering(head) as url,
        pytest.raises(NetworkError, match="closed the connection without an answer") as caught,
    ):
        await transport.send(post(url))

    assert caught.value.retryable


async def test_https_asked_of_a_plain_server_is_final_and_says_so() -> None:
    with (
        LoopbackServer([Answer(body="x")]) as server,
        pytest.raises(NetworkError, match="does not speak TLS") as caught,
    ):
        await transport.send(post(server.base_url.replace("http:", "https:")))

    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(Answer(body="x", gates={-1: threading.Event()}), "did not answer", id="head"),
        pytest.param(
            Answer(chunks=["a", "b"], gates={1: threading.Event()}), "sent nothing more", id="body"
        ),
    ],
)
async def test_a_silent_server_times_out(answer: Answer, words: str) -> None:
    with LoopbackServer([answer]) as server:
        begun = time.monotonic()
        with pytest.raises(RequestTimeoutError, match=rf"{words} within 0\.2 s") as caught:
            await read(await transport.send(post(server.base_url, timeout_s=0.2)))
        took = time.monotonic() - begun

    assert caught.value.retryable
    assert 0.15 < took < 3


async def test_a_pause_shorter_than_the_timeout_is_no_timeout() -> None:
    answer = Answer(chunks=["a"] * 6, delay_s=0.1)
    with LoopbackServer([answer]) as server:
        body = await read(await transport.send(post(server.base_url, timeout_s=0.4)))

    assert body == b"aaaaaa"


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with LoopbackServer([Answer(body="x")]) as server:
        assert await read(await UrllibTransport().send(post(server.base_url))) == b"x"


async def test_a_proxy_that_is_given_is_used() -> None:
    with LoopbackServer([Answer(body="from the proxy")]) as proxy:
        through = UrllibTransport(proxies={"http": proxy.origin})
        body = await read(await through.send(post("http://model.invalid/v1")))

    assert body == b"from the proxy"
    assert proxy.requests[0].path == "http://model.invalid/v1"


@pytest.mark.parametrize("value", ["Bearer a\r\nx: y", "Bearer a\n", "Bearer \u20ac"])
async def test_a_header_http_cannot_carry_is_refused_without_its_value(value: str) -> None:
    with pytest.raises(ConfigurationError, match="'authorization' cannot travel") as caught:
        await transport.send(post("http://127.0.0.1:9/", headers=[("authorization", value)]))

    assert "Bearer" not in str(caught.value)


async def test_a_request_shows_neither_key_nor_query() -> None:
    request = post("http://h/v1?key=hidden", headers=[("authorization", "Bearer hidden")])

    assert repr(request) == "HttpRequest(POST http://h/v1, 8 bytes)"


async def test_many_requests_at_once_are_all_answered() -> None:
    """More than any default executor has threads, and each holds until all have come."""
    everyone = threading.Event()
    with LoopbackServer(lambda _: Answer(body="x", gates={-1: everyone})) as server:

        async def ask() -> bytes:
            return await read(await transport.send(post(server.base_url)))

        tasks = [asyncio.create_task(ask()) for _ in range(60)]
        arrived = await asyncio.to_thread(server.wait_for, lambda: server.count == 60)
        everyone.set()
        bodies = await asyncio.gather(*tasks)

    assert arrived
    assert bodies == [b"x"] * 60
    assert wait_until(lambda: not our_threads())


def _run_in_a_loop(url: str, out: list[bytes]) -> None:
    async def ask() -> None:
        out.append(await read(await transport.send(post(url))))

    asyncio.run(ask())


async def test_one_transport_serves_several_event_loops() -> None:
    with LoopbackServer(lambda _: Answer(body="x")) as server:
        out: list[bytes] = []
        threads = [
            threading.Thread(target=_run_in_a_loop, args=(server.base_url, out)) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            await asyncio.to_thread(thread.join, 10)

    assert out == [b"x"] * 4
