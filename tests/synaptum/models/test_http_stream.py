"""HttpModel.stream: events as they come, whatever the bytes look like, ended when closed."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.leaks import descriptors, our_threads, wait_until
from support.letters import Letters
from support.loopback import Answer, LoopbackServer, chat_body, chat_stream, sse
from support.timing import AT_ONCE_S, fastest_of_three

from synaptum.errors import NetworkError, ProviderError, RequestTimeoutError
from synaptum.models.http import HttpModel
from synaptum.vocabulary import (
    Finish,
    FinishReason,
    Message,
    Request,
    StreamEvent,
    StreamStart,
    TextDelta,
    fold,
)

pytestmark = pytest.mark.asyncio

REQUEST = Request("tiny", [Message.user("Hi.")])


async def listen(model: HttpModel) -> list[StreamEvent]:
    return [event async for event in model.stream(REQUEST)]


def texts(events: list[StreamEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextDelta)]


async def ask(answer: Answer, **options: Any) -> list[StreamEvent]:
    with LoopbackServer([answer]) as server:
        events = await listen(HttpModel(server.base_url, **options))
        assert not server.client_gone.is_set()
    return events


def letters(*bits: str, end: bool = True) -> list[bytes]:
    chunks = [sse({"bit": bit}) for bit in bits]
    return [*chunks, sse({"end": True})] if end else chunks


async def test_a_stream_gives_the_same_response_as_a_whole_answer() -> None:
    answers = [Answer(chunks=chat_stream(["Hel", "lo."])), Answer(body=chat_body())]
    with LoopbackServer(answers) as server:
        model = HttpModel(server.base_url)
        events = await listen(model)
        whole = await model(REQUEST)

    assert texts(events) == ["Hel", "lo."]
    assert isinstance(events[0], StreamStart)
    assert isinstance(events[-1], Finish)
    assert fold(events) == whole
    assert server.requests[0].json()["stream"] is True
    assert server.requests[0].header("accept") == "text/event-stream"


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_the_size_of_the_pieces_does_not_matter(size: int) -> None:
    stream = b"".join(chat_stream(["Grüße, ", "你", "😀", "a\u2028b\u0085c"]))
    pieces = [stream[i : i + size] for i in range(0, len(stream), size)]

    assert texts(await ask(Answer(chunks=pieces))) == ["Grüße, ", "你", "😀", "a\u2028b\u0085c"]


@pytest.mark.parametrize("provider", [None, Letters()], ids=["fed", "generator in a thread"])
async def test_an_event_comes_before_the_next_piece_is_sent(provider: Letters | None) -> None:
    pieces = letters("a", "b") if provider else chat_stream(["a", "b"])
    first, second = (0, 1) if provider else (1, 2)
    gate = threading.Event()
    with LoopbackServer([Answer(chunks=pieces, gates={second: gate})]) as server:
        events = HttpModel(server.base_url, provider=provider).stream(REQUEST)
        seen: list[StreamEvent] = []
        async for event in events:
            seen.append(event)
            if texts(seen) == ["a"] and not gate.is_set():
                assert server.sent <= first + 1  # counted just after the write
                gate.set()

    assert texts(seen) == ["a", "b"]


@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "", "Text/Event-Stream; charset=utf-8"]
)
async def test_events_are_recognised_under_any_content_type(content_type: str) -> None:
    answer = Answer(chunks=chat_stream(["a"]), headers=[("content-type", content_type)])

    assert texts(await ask(answer)) == ["a"]


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", ""])
async def test_a_server_that_answers_whole_gives_the_events_of_its_answer(
    content_type: str,
) -> None:
    answer = Answer(body=chat_body("Hello."), headers=[("content-type", content_type)])
    events = await ask(answer)

    assert texts(events) == ["Hello."]
    assert fold(events).text == "Hello."


async def test_comments_before_and_between_events_are_read_over() -> None:
    pieces = [b": PROCESSING\n\n", *chat_stream(["a"]), b": bye\n\n"]

    assert texts(await ask(Answer(chunks=[b": x\r\n", *pieces]))) == ["a"]


async def test_an_event_stream_may_begin_with_a_field_nobody_knows() -> None:
    assert texts(await ask(Answer(chunks=[b"proxy: 7\n\n", *chat_stream(["a"])]))) == ["a"]


async def test_a_server_may_end_its_answer_a_moment_after_done() -> None:
    """It is not left with a client that hung up on it."""
    pieces = chat_stream(["a"])
    gate = threading.Event()
    with LoopbackServer([Answer(chunks=pieces, gates={len(pieces): gate})]) as server:
        timer = threading.Timer(0.03, gate.set)
        timer.start()
        events = await listen(HttpModel(server.base_url))
        timer.join()

        assert texts(events) == ["a"]
        assert not server.client_gone.is_set()


async def test_done_makes_a_stream_whole_that_gave_no_finish_word() -> None:
    pieces = chat_stream(["a"], finish_reason=None, usage=None)

    assert fold(await ask(Answer(chunks=pieces))).text == "a"


async def test_a_connection_lost_after_done_is_no_failure() -> None:
    pieces = chat_stream(["a"])

    assert fold(await ask(Answer(chunks=pieces, drop_after=len(pieces), reset=True))).text == "a"


async def test_reading_stops_at_done_even_when_the_server_keeps_the_connection() -> None:
    pieces = [*chat_stream(["a"]), b"data: never read\n\n"]
    with LoopbackServer([Answer(chunks=pieces, gates={5: threading.Event()})]) as server:
        begun = time.monotonic()
        events = await listen(HttpModel(server.base_url))

    assert texts(events) == ["a"]
    assert time.monotonic() - begun < 2


async def test_a_stream_without_done_is_whole_when_its_events_say_so() -> None:
    pieces = chat_stream(["a"], usage=None, done=False)

    assert fold(await ask(Answer(chunks=pieces, framing="close"))).text == "a"


async def test_a_last_event_without_its_blank_line_counts() -> None:
    pieces = chat_stream(["a"], usage=None, done=False)
    pieces[-1] = pieces[-1].rstrip()

    assert fold(await ask(Answer(chunks=pieces, framing="close"))).finish_reason is (
        FinishReason.STOP
    )


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(chunks=chat_stream(["a", "b"]), drop_after=2), id="chunked"),
        pytest.param(Answer(chunks=chat_stream(["a", "b"]), drop_after=2, reset=True), id="reset"),
        pytest.param(
            Answer(chunks=chat_stream(["a"], finish_reason=None, usage=None, done=False)),
            id="a proper end of HTTP, and no finish",
        ),
        pytest.param(Answer(chunks=chat_stream(["a"])[:2], framing="close"), id="until close"),
        pytest.param(
            Answer(chunks=[*chat_stream(["a"])[:2], b'data: {"choi'], framing="close"),
            id="inside an event",
        ),
        pytest.param(
            Answer(chunks=chat_stream(["a"])[:2], framing="length", content_length=9999),
            id="short of its length",
        ),
    ],
)
async def test_a_stream_that_breaks_off_never_looks_like_success(answer: Answer) -> None:
    with LoopbackServer([answer]) as server:
        seen: list[StreamEvent] = []
        with pytest.raises(NetworkError) as caught:
            async for event in HttpModel(server.base_url).stream(REQUEST):
                seen.append(event)

    assert texts(seen) == ["a"]
    assert not any(isinstance(event, Finish) for event in seen)
    assert caught.value.retryable


async def test_an_error_in_the_stream_comes_after_the_events_before_it() -> None:
    error = sse({"error": {"message": "queue full", "code": 429}})
    answer = Answer(chunks=[*chat_stream(["a"])[:2], error], headers=[("retry-after", "2")])
    with LoopbackServer([answer]) as server:
        seen: list[StreamEvent] = []
        with pytest.raises(ProviderError, match="queue full") as caught:
            async for event in HttpModel(server.base_url).stream(REQUEST):
                seen.append(event)

    assert texts(seen) == ["a"]
    assert (caught.value.retryable, caught.value.retry_after) == (True, 2.0)


async def test_a_refused_stream_is_the_same_error_as_a_refused_answer() -> None:
    with (
        LoopbackServer([Answer(429, body='{"error":{"message":"slow down"}}')]) as server,
        pytest.raises(ProviderError, match="slow down") as caught,
    ):
        await listen(HttpModel(server.base_url))

    assert caught.value.status == 429


async def test_a_stream_that_falls_silent_times_out() -> None:
    answer = Answer(chunks=chat_stream(["a"]), gates={2: threading.Event()})
    with LoopbackServer([answer]) as server, pytest.raises(RequestTimeoutError):
        await listen(HttpModel(server.base_url, timeout=0.2))


class TestAProviderWithOnlyTheGenerator:
    async def test_gives_its_events(self) -> None:
        events = await ask(Answer(chunks=letters("a", "b")), provider=Letters())

        assert texts(events) == ["a", "b"]
        assert fold(events).text == "ab"

    async def test_is_told_when_the_chunks_end_early(self) -> None:
        with pytest.raises(NetworkError, match="The bits ended before the end"):
            await ask(Answer(chunks=letters("a", end=False)), provider=Letters())
        assert wait_until(lambda: not our_threads())

    async def test_gives_what_came_before_its_error(self) -> None:
        pieces = [*letters("a", end=False), sse({"oops": 1})]
        with LoopbackServer([Answer(chunks=pieces)]) as server:
            seen: list[StreamEvent] = []
            with pytest.raises(ProviderError, match="No bit"):
                async for event in HttpModel(server.base_url, provider=Letters()).stream(REQUEST):
                    seen.append(event)

        assert texts(seen) == ["a"]

    async def test_is_unwound_when_the_stream_is_closed(self) -> None:
        unwound = threading.Event()

        class Watched(Letters):
            def stream_from_wire(self, chunks: Any) -> Any:
                try:
                    yield from super().stream_from_wire(chunks)
                finally:
                    unwound.set()

        answer = Answer(chunks=letters("a", "b"), gates={1: threading.Event()})
        with LoopbackServer([answer]) as server:
            events = HttpModel(server.base_url, provider=Watched()).stream(REQUEST)
            async for event in events:
                if isinstance(event, TextDelta):
                    break
            await events.aclose()  # type: ignore[attr-defined]

            assert await asyncio.to_thread(unwound.wait, 5)
        assert wait_until(lambda: not our_threads())


async def test_closing_the_iterator_closes_the_socket_at_once() -> None:
    async def close() -> float:
        answer = Answer(chunks=chat_stream(["a", "b"]), gates={2: threading.Event()})
        with LoopbackServer([answer]) as server:
            events = HttpModel(server.base_url).stream(REQUEST)
            async for event in events:
                if isinstance(event, TextDelta):
                    break
            begun = time.monotonic()

            await events.aclose()  # type: ignore[attr-defined]

            freed = time.monotonic()
            assert await asyncio.to_thread(server.client_gone.wait, 5)
        return max(freed, server.gone_at[0]) - begun

    assert await fastest_of_three(close) < AT_ONCE_S
    assert wait_until(lambda: not our_threads())


async def test_a_stream_closed_before_it_is_read_asks_nothing() -> None:
    with LoopbackServer() as server:
        await HttpModel(server.base_url).stream(REQUEST).aclose()  # type: ignore[attr-defined]

        assert server.count == 0
    assert not our_threads()


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "streamed"])
async def test_cancelling_closes_the_socket_at_once(whole: bool) -> None:
    async def cancel() -> float:
        held = {0 if whole else 1: threading.Event()}
        with LoopbackServer([Answer(chunks=chat_stream(["a"]), gates=held)]) as server:
            model = HttpModel(server.base_url)
            asking: Any = model(REQUEST) if whole else listen(model)
            task: asyncio.Task[Any] = asyncio.create_task(asking)
            await asyncio.to_thread(server.wait_for, lambda: server.count == 1)
            begun = time.monotonic()

            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

            assert await asyncio.to_thread(server.client_gone.wait, 5)
        return server.gone_at[0] - begun

    assert await fastest_of_three(cancel) < AT_ONCE_S
    assert wait_until(lambda: not our_threads())


@pytest.mark.parametrize("provider", [None, Letters()], ids=["fed", "generator in a thread"])
async def test_cancellations_at_random_moments_leave_nothing(provider: Letters | None) -> None:
    chance = random.Random(11)
    pieces = letters(*"abcdefghij" * 4) if provider else chat_stream(list("abcdefghij" * 4))
    answer = Answer(chunks=pieces, delay_s=0.0005)
    with LoopbackServer(lambda _: answer) as server:
        model = HttpModel(server.base_url, provider=provider)
        assert len(texts(await listen(model))) == 40
        before = descriptors()
        for _ in range(20):
            tasks = [asyncio.create_task(listen(model)) for _ in range(10)]
            for task in tasks:
                await asyncio.sleep(chance.random() * 0.004)
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(end, list | asyncio.CancelledError) for end in ends)

        assert await asyncio.to_thread(wait_until, lambda: not our_threads())
        assert await asyncio.to_thread(wait_until, lambda: descriptors() <= before)


async def test_two_streams_at_once_do_not_mix() -> None:
    def answer(request: Any) -> Answer:
        return Answer(chunks=chat_stream([request.json()["messages"][0]["content"]] * 20))

    async def say(word: str) -> list[str]:
        events: AsyncIterator[StreamEvent] = model.stream(Request("m", [Message.user(word)]))
        return texts([event async for event in events])

    with LoopbackServer(answer) as server:
        model = HttpModel(server.base_url)
        said = await asyncio.gather(*(say(f"word {n}") for n in range(20)))

    assert said == [[f"word {n}"] * 20 for n in range(20)]
