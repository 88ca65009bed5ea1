"""The openai SDK, recorded from a loopback server and replayed with it gone: its own types.

Run once with each of the SDK's majors: 2.x rides on httpx, 3.x on httpx2.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import openai
import pydantic
import pytest
from support.capturing import recording, replaying
from support.loopback import Answer, LoopbackServer, Received, chat_body, chat_stream

QUESTION: Any = {"model": "m", "messages": [{"role": "user", "content": "Where is Madrid?"}]}


class Place(pydantic.BaseModel):
    city: str
    country: str


TOOL: Any = {
    "type": "function",
    "function": {
        "name": "look_up",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


def answer(received: Received) -> Answer:
    question = received.json()
    if question.get("stream"):
        return Answer(chunks=chat_stream(("In ", "Spain.")), delay_s=0.005)
    if question.get("tools"):
        call = {"id": "call_1", "name": "look_up", "arguments": '{"city":"Madrid"}'}
        return Answer(body=chat_body(None, tool_calls=[call]))
    if question.get("response_format"):
        return Answer(body=chat_body('{"city":"Madrid","country":"Spain"}'))
    if question["model"] == "missing":
        return Answer(status=404, body=b'{"error":{"message":"no such model","code":"x"}}')
    return Answer(body=chat_body("In Spain."))


def sdk(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="sk-none-0123456789abcdef", max_retries=0)


def async_sdk(url: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=url, api_key="sk-none-0123456789abcdef", max_retries=0)


def whole(client: openai.OpenAI) -> Any:
    return client.chat.completions.create(**QUESTION)


def streamed(client: openai.OpenAI) -> Any:
    return list(client.chat.completions.create(**QUESTION, stream=True))


def parsed(client: openai.OpenAI) -> Any:
    return client.chat.completions.parse(**QUESTION, response_format=Place)


def parsed_tools(client: openai.OpenAI) -> Any:
    return client.chat.completions.parse(**QUESTION, tools=[TOOL])


def helper_stream(client: openai.OpenAI) -> Any:
    with client.chat.completions.stream(**QUESTION) as stream:
        kinds = [event.type for event in stream]
        return [kinds, stream.get_final_completion()]


def raw(client: openai.OpenAI) -> Any:
    response = client.chat.completions.with_raw_response.create(**QUESTION)
    return [response.status_code, response.headers["content-type"], response.parse()]


def raw_streaming(client: openai.OpenAI) -> Any:
    call = client.chat.completions.with_streaming_response.create(**QUESTION)
    with call as response:
        return [response.status_code, response.parse()]


def refused(client: openai.OpenAI) -> Any:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(**{**QUESTION, "model": "missing"})
    return [type(caught.value), caught.value.status_code, caught.value.body]


CALLS = (whole, streamed, parsed, parsed_tools, helper_stream, raw, raw_streaming, refused)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_a_call_gives_the_same_objects_live_and_on_replay(call: Callable[..., Any]) -> None:
    with LoopbackServer(answer) as server, recording() as recorder, sdk(server.base_url) as client:
        live = call(client)

    with replaying(recorder) as player, sdk(server.base_url) as client:
        again = call(client)

    assert again == live
    assert type(again) is type(live)
    assert player.unused() == []
    assert server.count == 1


def test_the_objects_are_of_the_sdks_own_types() -> None:
    with LoopbackServer(answer) as server, recording() as recorder, sdk(server.base_url) as client:
        whole(client), streamed(client), parsed(client), raw(client)
    with replaying(recorder), sdk(server.base_url) as client:
        objects = whole(client), streamed(client)[0], parsed(client), raw(client)[2]

    assert [type(one).__name__.partition("[")[0] for one in objects] == [
        "ChatCompletion",
        "ChatCompletionChunk",
        "ParsedChatCompletion",
        "ChatCompletion",
    ]
    assert objects[2].choices[0].message.parsed == Place(city="Madrid", country="Spain")


async def async_whole(client: openai.AsyncOpenAI) -> Any:
    return await client.chat.completions.create(**QUESTION)


async def async_streamed(client: openai.AsyncOpenAI) -> Any:
    stream = await client.chat.completions.create(**QUESTION, stream=True)
    return [chunk async for chunk in stream]


async def async_parsed(client: openai.AsyncOpenAI) -> Any:
    return await client.chat.completions.parse(**QUESTION, response_format=Place)


async def async_raw(client: openai.AsyncOpenAI) -> Any:
    response = await client.chat.completions.with_raw_response.create(**QUESTION)
    return [response.status_code, response.parse()]


ASYNC_CALLS = (async_whole, async_streamed, async_parsed, async_raw)


@pytest.mark.parametrize("call", ASYNC_CALLS, ids=lambda call: call.__name__)
def test_an_async_call_gives_the_same_objects(call: Callable[..., Any]) -> None:
    async def main(url: str) -> Any:
        async with async_sdk(url) as client:
            return await call(client)

    with LoopbackServer(answer) as server, recording() as recorder:
        live = asyncio.run(main(server.base_url))
    with replaying(recorder) as player:
        again = asyncio.run(main(server.base_url))

    assert again == live
    assert player.unused() == []
    assert server.count == 1


def test_the_first_chunk_arrives_before_the_last_was_sent() -> None:
    gate = threading.Event()
    held = Answer(chunks=chat_stream(), gates={3: gate})
    with LoopbackServer([held]) as server, recording(), sdk(server.base_url) as client:
        stream: Iterator[Any] = iter(client.chat.completions.create(**QUESTION, stream=True))
        assert next(stream).choices[0].delta.role == "assistant"
        assert server.sent < len(chat_stream())
        gate.set()
        rest = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert rest == "Hello."


def test_the_first_chunk_of_an_async_stream_arrives_before_the_last_was_sent() -> None:
    gate = threading.Event()
    held = Answer(chunks=chat_stream(), gates={3: gate})

    async def main(url: str) -> None:
        async with async_sdk(url) as client:
            stream: AsyncIterator[Any] = aiter(
                await client.chat.completions.create(**QUESTION, stream=True)
            )
            assert (await anext(stream)).choices[0].delta.role == "assistant"
            gate.set()
            assert [chunk async for chunk in stream] != []

    with LoopbackServer([held]) as server, recording():
        asyncio.run(main(server.base_url))


def test_closing_early_works_live_and_on_replay() -> None:
    def first(url: str) -> Any:
        with sdk(url) as client:
            stream = client.chat.completions.create(**QUESTION, stream=True)
            with stream:
                return next(iter(stream))

    slow = Answer(chunks=chat_stream(), delay_s=0.05)
    with LoopbackServer([slow]) as server, recording() as recorder:
        live = first(server.base_url)
    with replaying(recorder) as player:
        again = first(server.base_url)

    assert again == live
    assert player.unused() == []
    response = recorder.exchanges()[0].response
    assert response is not None
    assert response.ending == "closed"
