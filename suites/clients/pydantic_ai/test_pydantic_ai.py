"""A pydantic-ai agent with a tool, recorded from a loopback server and replayed with it gone."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import openai
import pydantic
import pytest
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from support.capturing import recording, replaying
from support.loopback import Answer, LoopbackServer, Received, chat_body, chat_stream

from pytest_synaptum.errors import CassetteMismatchError


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


def answer(received: Received) -> Answer:
    question = received.json()
    if question.get("stream"):
        return Answer(chunks=chat_stream(("It is ", "21 degrees.")))
    results = [message for message in question["messages"] if message["role"] == "tool"]
    if not results:
        call = {"id": "call_1", "name": "weather", "arguments": '{"city":"Madrid"}'}
        return Answer(body=chat_body(None, tool_calls=[call]))
    return Answer(body=chat_body(f"In Madrid it is {results[0]['content']} degrees."))


@contextlib.asynccontextmanager
async def agent(url: str) -> AsyncIterator[Agent[None, Any]]:
    """An agent whose connections are closed before its loop is."""
    async with openai.AsyncOpenAI(base_url=url, api_key="sk-none-0123456789abcdef") as client:
        model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client))
        yield with_a_tool(Agent(model))


def with_a_tool(made: Agent[None, Any]) -> Agent[None, Any]:

    @made.tool_plain
    def weather(city: str) -> int:
        return len(city) + 15

    return made


def run(url: str, prompt: str = "How warm is it in Madrid?") -> Any:
    async def main() -> Any:
        async with agent(url) as made:
            return await made.run(prompt)

    return asyncio.run(main())


async def streamed(url: str) -> str:
    async with agent(url) as made, made.run_stream("How warm is it in Madrid?") as result:
        return "".join([piece async for piece in result.stream_text(delta=True)])


def test_an_agent_takes_the_same_steps_with_the_server_gone() -> None:
    with LoopbackServer(answer) as server, recording() as recorder:
        live = run(server.base_url)
    with replaying(recorder) as player:
        again = run(server.base_url)

    assert again.output == live.output == "In Madrid it is 21 degrees."
    assert again.usage == live.usage
    assert [type(message) for message in again.all_messages()] == [
        type(message) for message in live.all_messages()
    ]
    assert player.unused() == []
    assert server.count == 2


def test_a_streamed_run_is_the_same_with_the_server_gone() -> None:
    with LoopbackServer(answer) as server, recording() as recorder:
        live = asyncio.run(streamed(server.base_url))
    with replaying(recorder):
        again = asyncio.run(streamed(server.base_url))

    assert again == live == "It is 21 degrees."
    assert server.count == 1


def test_another_question_gets_no_recorded_answer() -> None:
    with LoopbackServer(answer) as server, recording() as recorder:
        run(server.base_url)
    with replaying(recorder) as player, pytest.raises(CassetteMismatchError):
        run(server.base_url, "How warm is it in Lisbon?")

    assert len(player.mismatches) == 1
