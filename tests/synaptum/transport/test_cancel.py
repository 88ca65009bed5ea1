"""Closing and cancelling end the connection at once, wherever it stands, and leave nothing."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import threading
import time
from collections.abc import AsyncIterator

import pytest
from support.leaks import descriptors, our_threads, wait_until
from support.loopback import Answer, LoopbackServer
from support.timing import AT_ONCE_S, fastest_of_three

from synaptum.errors import AbortError
from synaptum.transport.base import HttpRequest
from synaptum.transport.urllib import UrllibTransport

pytestmark = pytest.mark.asyncio

transport = UrllibTransport()


def post(url: str, timeout_s: float = 30) -> HttpRequest:
    return HttpRequest(method="POST", url=url, body=b"{}", timeout_s=timeout_s)


async def pieces(url: str) -> AsyncIterator[bytes]:
    reply = await transport.send(post(url))
    try:
        async for piece in reply.chunks():
            yield piece
    finally:
        await reply.aclose()


def stuck(*, before: int) -> Answer:
    """An answer that stops before piece `before` (-1: before the headers) for good."""
    return Answer(chunks=["a", "b", "c"], gates={before: threading.Event()})


async def test_closing_a_reply_is_noticed_by_the_server_at_once() -> None:
    async def close() -> float:
        with LoopbackServer([stuck(before=1)]) as server:
            reply = await transport.send(post(server.base_url))
            await anext(reply.chunks())
            begun = time.monotonic()

            await reply.aclose()

            freed = time.monotonic()
            assert await asyncio.to_thread(server.client_gone.wait, 5)
        return max(freed, server.gone_at[0]) - begun

    assert await fastest_of_three(close) < AT_ONCE_S
    assert wait_until(lambda: not our_threads())


async def test_the_first_thing_a_server_writes_after_a_close_fails() -> None:
    """An orderly close would let it write on, and generate on, until it hears of it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        sending = asyncio.create_task(transport.send(post(url)))
        connection, _ = await asyncio.to_thread(listener.accept)
        with connection:
            connection.settimeout(5)
            await asyncio.to_thread(connection.recv, 65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            reply = await sending

            await reply.aclose()

            with pytest.raises(OSError):
                connection.sendall(b"1\r\na\r\n")


async def test_closing_ends_a_wait_in_another_task() -> None:
    with LoopbackServer([stuck(before=1)]) as server:
        reply = await transport.send(post(server.base_url))
        chunks = reply.chunks()
        await anext(chunks)
        waiting = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0)

        await reply.aclose()

        with pytest.raises(AbortError):
            await asyncio.wait_for(waiting, 5)


async def test_closing_again_and_after_the_end_is_harmless() -> None:
    with LoopbackServer([Answer(chunks=["a"])]) as server:
        reply = await transport.send(post(server.base_url))
        assert [piece async for piece in reply.chunks()] == [b"a"]

        await reply.aclose()
        await reply.aclose()

    assert not server.client_gone.is_set()


async def test_a_reply_that_is_never_read_can_be_closed() -> None:
    with LoopbackServer([Answer(chunks=["x" * 60_000] * 500)]) as server:
        reply = await transport.send(post(server.base_url))

        await reply.aclose()

        assert await asyncio.to_thread(server.client_gone.wait, 5)
    assert wait_until(lambda: not our_threads())


@pytest.mark.parametrize("before", [-1, 0, 1], ids=["headers", "first piece", "second piece"])
async def test_cancelling_is_noticed_by_the_server_at_once(before: int) -> None:
    async def cancel() -> float:
        with LoopbackServer([stuck(before=before)]) as server:

            async def consume() -> None:
                async for _ in pieces(server.base_url):
                    pass

            task = asyncio.create_task(consume())
            await asyncio.to_thread(
                server.wait_for, lambda: server.count == 1 and server.sent == max(before, 0)
            )
            begun = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

            freed = time.monotonic()
            assert await asyncio.to_thread(server.client_gone.wait, 5)
        return max(freed, server.gone_at[0]) - begun

    assert await fastest_of_three(cancel) < AT_ONCE_S
    assert wait_until(lambda: not our_threads())


async def test_a_connection_that_is_not_accepted_can_be_cancelled() -> None:
    """A full backlog drops the SYN: connect would wait for its whole timeout."""
    with socket.socket() as listener, contextlib.ExitStack() as fillers:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                filler.connect(listener.getsockname())
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"

        async def cancel() -> float:
            task = asyncio.create_task(transport.send(post(url)))
            done, _ = await asyncio.wait([task], timeout=0.1)
            if done:
                pytest.skip("this system accepts connections beyond the backlog")
            begun = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic() - begun

        assert await fastest_of_three(cancel) < AT_ONCE_S
        assert wait_until(lambda: not our_threads())


async def test_an_abandoned_iterator_is_cleaned_up() -> None:
    with LoopbackServer([stuck(before=1)]) as server:
        iterator = pieces(server.base_url)
        await anext(iterator)

        del iterator
        await asyncio.sleep(0)

        assert await asyncio.to_thread(server.client_gone.wait, 5)


async def test_two_hundred_cancellations_at_random_moments_leave_nothing() -> None:
    chance = random.Random(7)
    answer = Answer(chunks=["x" * 200] * 50, delay_s=0.0005)
    with LoopbackServer(lambda _: answer) as server:

        async def consume() -> None:
            async for _ in pieces(server.base_url):
                pass

        await consume()
        before = descriptors()
        for _ in range(20):
            tasks = [asyncio.create_task(consume()) for _ in range(10)]
            for task in tasks:
                await asyncio.sleep(chance.random() * 0.004)
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(end is None or isinstance(end, asyncio.CancelledError) for end in ends)

        assert wait_until(lambda: not our_threads())
        assert await asyncio.to_thread(wait_until, lambda: descriptors() <= before)


async def test_a_loop_that_ends_with_an_open_stream_leaves_no_thread() -> None:
    with LoopbackServer([stuck(before=1)]) as server:

        def run() -> None:
            async def leave_open() -> None:
                iterator = pieces(server.base_url)
                await anext(iterator)
                kept.append(iterator)

            kept: list[object] = []
            asyncio.run(leave_open())

        await asyncio.to_thread(run)

        assert await asyncio.to_thread(server.client_gone.wait, 5)
    assert wait_until(lambda: not our_threads())
