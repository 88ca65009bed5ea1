"""A refusal is an answer: it closes the run with its own words, and is not asked for again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.agents import MODEL, done, final_of, run, session_of, stream
from support.loopback import Answer, LoopbackServer

from synaptum import (
    SPANISH,
    Agent,
    Delegate,
    FinishReason,
    HttpModel,
    JsonlCheckpointer,
    LocalGateway,
    Message,
    NoObjectGeneratedError,
    Response,
    Role,
    Session,
    Text,
    ToolCall,
    tool,
)
from synaptum.testing import ScriptedModel, calls, refuses

WORDS = "I cannot help with picking that lock."


@dataclass
class Plan:
    steps: list[str]


@tool
def look() -> str:
    """Looks."""
    return "a lock"


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_the_run_ends_with_the_words_of_the_refusal(how):
    model = ScriptedModel(refuses(WORDS))
    steps = await how(Agent("a", model=MODEL), "Pick it", session_of(model))

    assert (final_of(steps).output, final_of(steps).reason) == (WORDS, "refused")
    assert len(model.requests) == 1


@pytest.mark.asyncio
async def test_a_refused_run_stays_refused_when_it_is_read_back(tmp_path: Path):
    agent = Agent("a", model=MODEL)
    with JsonlCheckpointer(tmp_path / "journal.jsonl") as store:
        await run(agent, "Pick it", session_of(ScriptedModel(refuses(WORDS)), checkpointer=store))
    with JsonlCheckpointer(tmp_path / "journal.jsonl") as store:
        again = await run(agent, "Pick it", session_of(ScriptedModel(), checkpointer=store))

    assert (final_of(again).output, final_of(again).reason) == (WORDS, "refused")
    assert done(again, "model")[0].response.refusal == WORDS


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_no_object_comes_of_a_refusal_and_the_error_says_that_it_is_one(how):
    model = ScriptedModel(refuses(WORDS))
    with pytest.raises(NoObjectGeneratedError, match="The model refused to answer") as caught:
        await how(Agent("a", model=MODEL, output=Plan), "Pick it", session_of(model))

    assert caught.value.raw == WORDS
    assert len(model.requests) == 1


@pytest.mark.asyncio
async def test_a_refused_object_is_told_in_spanish():
    model = ScriptedModel(refuses(WORDS))
    with pytest.raises(NoObjectGeneratedError, match="El modelo se negó a responder"):
        agent = Agent("a", model=MODEL, output=Plan, wording=SPANISH)
        await run(agent, "Ábrela", session_of(model))


@pytest.mark.asyncio
async def test_text_beside_a_refusal_is_what_the_run_ends_with():
    said = Response(
        Message(Role.ASSISTANT, (Text("Let me see."),)),
        FinishReason.STOP,
        provider_metadata={"message": {"refusal": WORDS}},
    )
    steps = await run(Agent("a", model=MODEL), "Pick it", session_of(ScriptedModel(said)))

    assert (final_of(steps).output, final_of(steps).reason) == ("Let me see.", "refused")
    assert done(steps, "model")[0].response.refusal == WORDS


@pytest.mark.asyncio
async def test_calls_beside_a_refusal_are_run():
    both = Response(
        Message(Role.ASSISTANT, (ToolCall("c1", "look", {}),)),
        FinishReason.TOOL_CALLS,
        provider_metadata={"message": {"refusal": WORDS}},
    )
    model = ScriptedModel(both, "A lock.")
    steps = await run(Agent("a", model=MODEL, tools=[look]), "Look", session_of(model, [look]))

    assert final_of(steps).output == "A lock."


@pytest.mark.asyncio
async def test_a_sub_agent_that_refused_is_told_to_the_model_with_its_words():
    child = Agent("thief", model=MODEL)
    agent = Agent("boss", model=MODEL, delegates=[Delegate(child, description="Opens locks.")])
    model = ScriptedModel(calls("thief", brief="Open it"), refuses(WORDS), "It would not.")
    steps = await run(agent, "Open it", session_of(model))

    result = done(steps, "delegate")[0].result
    assert result.is_error
    assert result.text == f"thief ended without an answer (refused). It had: {WORDS}"
    assert final_of(steps).output == "It would not."


def body(refusal: str | None, content: str | None) -> bytes:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": "x", "model": "m", "choices": [choice]}).encode()


def events(*deltas: dict[str, str | None]) -> list[bytes]:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]


@pytest.mark.asyncio
async def test_a_server_that_refuses_ends_the_run_whole_and_streamed():
    answers = [
        Answer(body=body(WORDS, None)),
        Answer(chunks=events({"role": "assistant", "refusal": "I will"}, {"refusal": " not."})),
    ]
    with LoopbackServer(answers) as server:
        model = HttpModel(server.base_url)
        gateway = LocalGateway(model=model, stream=model.stream)
        agent = Agent("a", model=MODEL)
        whole = await run(agent, "Pick it", Session("r1", gateway))
        streamed = await stream(agent, "Pick it", Session("r2", gateway))

    assert (final_of(whole).output, final_of(whole).reason) == (WORDS, "refused")
    assert (final_of(streamed).output, final_of(streamed).reason) == ("I will not.", "refused")


@pytest.mark.asyncio
async def test_an_empty_refusal_is_none():
    with LoopbackServer([Answer(body=body("", "Gladly."))]) as server:
        model = HttpModel(server.base_url)
        steps = await run(Agent("a", model=MODEL), "Help", Session("r1", LocalGateway(model=model)))

    assert (final_of(steps).output, final_of(steps).reason) == ("Gladly.", "finished")
