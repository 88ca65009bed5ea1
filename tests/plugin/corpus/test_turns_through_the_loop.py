"""What the loop makes of turns that servers really sent: the corpus' own bytes, through HttpModel.

A recorded case holds the same answer whole and streamed; both must end a run alike. A turn that
is no answer is followed by a plain one, so that asking again shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.agents import MODEL, done, final_of, run, stream
from support.chat import chat_body

from pytest_synaptum.cassette.format import load_cassette
from synaptum import (
    Agent,
    FinishReason,
    HttpModel,
    LocalGateway,
    NoObjectGeneratedError,
    ProviderError,
    Session,
    tool,
)
from synaptum.testing import FakeClock
from synaptum.testing.replay_transport import ReplayTransport, Reply

CASES = Path(__file__).parents[3] / "corpus" / "openai_chat"
WAYS = [run, stream]


@tool
def get_weather(city: str) -> str:
    """Get the weather."""
    return f"Sun in {city}."


def replies_of(name: str, how: Any) -> Reply:
    """The case's answer: the last that is whole, or the last that is a stream."""
    answers = [one.response for one in load_cassette(CASES / name / "exchange.yaml").exchanges()]
    wanted = [
        answer
        for answer in answers
        if answer is not None
        and (("content-type", "text/event-stream") in answer.headers) == (how is stream)
    ] or [answer for answer in answers if answer is not None]
    answer = wanted[-1]
    return Reply(status=answer.status, headers=answer.headers, chunks=answer.chunks)


def session_after(*replies: Reply) -> tuple[Session, ReplayTransport]:
    transport = ReplayTransport([*replies, Reply(body=chat_body("Plain."))])
    model = HttpModel("http://server.invalid/v1", transport=transport)
    gateway = LocalGateway(model=model, stream=model.stream, tools=[get_weather])
    clock = FakeClock()
    return Session("r1", gateway, clock=clock, sleep=clock.sleep, random=lambda: 1.0), transport


def agent(**settings: Any) -> Agent:
    return Agent("a", model=MODEL, tools=[get_weather], **settings)


@dataclass
class Weather:
    city: str


@pytest.mark.asyncio
@pytest.mark.parametrize("how", WAYS)
async def test_a_turn_that_only_reasoned_is_asked_again(how):
    session, transport = session_after(replies_of("llama.cpp/reasoning-only", how))
    steps = await how(agent(), "What is 2 + 2?", session)

    first = done(steps, "model")[0].response
    assert [part.kind for part in first.message.content] == ["thinking"]
    assert final_of(steps).output == "Plain."
    assert b"reasoning" not in transport.requests[1].body
    assert transport.requests[1].body.count(b'"role":"user"') == 2


@pytest.mark.asyncio
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", ["reasoning-cut-by-length", "text-cut-by-length"])
async def test_a_turn_cut_by_length_closes_the_run(name, how):
    session, transport = session_after(replies_of(f"llama.cpp/{name}", how))
    steps = await how(agent(), "Go", session)

    assert final_of(steps).reason == "length"
    assert len(transport.requests) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("how", WAYS)
async def test_a_cut_turn_is_no_object_and_is_not_asked_again(how):
    session, transport = session_after(replies_of("llama.cpp/text-cut-by-length", how))
    with pytest.raises(NoObjectGeneratedError, match="cut by the token limit"):
        await how(agent(output=Weather), "Go", session)

    assert len(transport.requests) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("how", WAYS)
async def test_a_call_cut_by_length_is_not_run(how):
    session, _ = session_after(replies_of("llama.cpp/tool-call-cut-by-length", how))
    steps = await how(agent(), "Weather?", session)

    assert done(steps, "model")[0].response.finish_reason is FinishReason.LENGTH
    assert done(steps, "tool") == []
    assert final_of(steps).reason == "length"


@pytest.mark.asyncio
@pytest.mark.parametrize("how", WAYS)
async def test_a_call_is_run_and_its_result_goes_back(how):
    session, transport = session_after(replies_of("llama.cpp/tool-call", how))
    steps = await how(agent(), "Weather?", session)

    call = done(steps, "tool")[0].call
    assert call.name == "get_weather"
    assert final_of(steps).output == "Plain."
    assert call.arguments_text.replace('"', '\\"').encode() in transport.requests[1].body


@pytest.mark.asyncio
@pytest.mark.parametrize("how", WAYS)
async def test_a_refusal_closes_the_run_with_its_words(how):
    session, transport = session_after(replies_of("derived/refusal-text", how))
    steps = await how(agent(), "Open it", session)

    assert final_of(steps).output == "I will not help with picking that lock."
    assert final_of(steps).reason == "refused"
    assert len(transport.requests) == 1


@pytest.mark.asyncio
async def test_an_answer_ended_by_an_error_is_tried_again():
    name = "derived/stream-finish-error"
    session, transport = session_after(replies_of(name, stream))
    steps = await stream(agent(), "Go", session)

    assert final_of(steps).output == "Plain."
    assert len(transport.requests) == 2
    attempts = done(steps, "model")[0].meta["attempts"]
    assert [attempt["error"]["type"] for attempt in attempts] == ["ProviderError"]


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["context-overflow-refused", "unknown-path-refused"])
async def test_a_refused_request_is_made_once(name):
    session, transport = session_after(replies_of(f"llama.cpp/{name}", run))
    with pytest.raises(ProviderError) as caught:
        await run(agent(), "Go", session)

    assert not caught.value.retryable
    assert len(transport.requests) == 1


@pytest.mark.asyncio
async def test_a_turn_that_said_the_empty_string_is_asked_again_and_travels():
    session, transport = session_after(replies_of("derived/content-empty-alone", run))
    steps = await run(agent(), "Go", session)

    assert final_of(steps).output == "Plain."
    assert b'{"role":"assistant","content":""}' in transport.requests[1].body


@pytest.mark.asyncio
async def test_arguments_that_are_no_object_are_not_run_and_the_model_is_told():
    session, transport = session_after(replies_of("derived/arguments-a-list", run))
    steps = await run(agent(), "Weather?", session)

    step = done(steps, "tool")[0]
    assert step.call.unreadable_arguments is not None
    assert "not a JSON object" in step.result.text
    assert b'"arguments":"{}"' in transport.requests[1].body
    assert final_of(steps).output == "Plain."
