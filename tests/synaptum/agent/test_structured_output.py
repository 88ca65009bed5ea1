"""An answer of a type: asked for twice, validated, sampled again, never repaired."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum

import pytest
from support.agents import MODEL, done, final_of, outline, run, session_of, stream

from synaptum import (
    SPANISH,
    Agent,
    ConfigurationError,
    Limits,
    NoObjectGeneratedError,
    ResponseFormat,
    tool,
)
from synaptum.testing import ScriptedModel, calls, cut, filtered, thinks


@dataclass
class Diagnosis:
    cause: str
    confidence: float


class Grade(Enum):
    GOOD = "good"
    BAD = "bad"


@dataclass
class Report:
    code: str
    grade: Grade | None = None


GOOD = '{"cause": "disk", "confidence": 0.5}'


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_the_output_is_of_the_type_fresh_and_resumed(how):
    model = ScriptedModel(GOOD)
    agent, session = Agent("a", model=MODEL, output=Diagnosis), session_of(model)
    first = await how(agent, "Why?", session)
    again = await how(agent, "Why?", session)

    assert final_of(first).output == Diagnosis("disk", 0.5)
    assert final_of(again).output == Diagnosis("disk", 0.5)
    journalled = (await session.state()).events[-1].output
    assert journalled == {"cause": "disk", "confidence": 0.5}


@pytest.mark.asyncio
async def test_the_schema_travels_in_the_field_and_in_the_instructions():
    model = ScriptedModel(GOOD)
    agent = Agent("a", model=MODEL, instructions="You are a doctor.", output=Diagnosis)
    await run(agent, "Why?", session_of(model))

    request = model.requests[0]
    assert isinstance(request.response_format, ResponseFormat)
    assert request.response_format.kind == "json_schema"
    assert request.response_format.name == "Diagnosis"
    assert set(request.response_format.schema["required"]) == {"cause", "confidence"}
    assert request.system.startswith("You are a doctor.\n\n")
    schema = request.system.split("\n")[-1]
    assert json.loads(schema) == request.response_format.schema


@pytest.mark.asyncio
async def test_an_answer_that_does_not_fit_is_sampled_again_with_the_error():
    model = ScriptedModel('{"cause": "disk"}', "The disk, I think.", GOOD)
    steps = await run(Agent("a", model=MODEL, output=Diagnosis), "Why?", session_of(model))

    assert final_of(steps).output == Diagnosis("disk", 0.5)
    assert outline(steps)[::2] == [
        "000000-model attempted",
        "000001-model attempted",
        "000002-model attempted",
        "000003-final attempted",
    ]
    told = model.requests[1].messages[-1]
    assert told.role.value == "user"
    assert "confidence" in told.text


@pytest.mark.asyncio
async def test_after_the_last_retry_the_error_holds_the_answer_and_its_message_does_not():
    bad = '{"cause": "patient John D", "confidence": "high"}'
    model = ScriptedModel(bad, bad, bad)
    agent, session = Agent("a", model=MODEL, output=Diagnosis), session_of(model)
    for _ in range(2):  # resumed, it fails the same way without asking again
        with pytest.raises(NoObjectGeneratedError) as caught:
            await run(agent, "Why?", session)
        assert caught.value.raw == bad
        assert "John" not in str(caught.value)

    assert len(model.requests) == 3


@pytest.mark.asyncio
async def test_no_retries_is_one_sample():
    model = ScriptedModel("no")
    agent = Agent("a", model=MODEL, output=Diagnosis, limits=Limits(max_retries=0))
    with pytest.raises(NoObjectGeneratedError):
        await run(agent, "Why?", session_of(model))

    assert len(model.requests) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("turn", [cut('{"cause": "di'), cut(), cut(GOOD)])
async def test_an_answer_cut_by_length_is_never_asked_again(turn):
    model = ScriptedModel(turn, GOOD)
    with pytest.raises(NoObjectGeneratedError, match="token limit"):
        await run(Agent("a", model=MODEL, output=Diagnosis), "Why?", session_of(model))

    assert len(model.requests) == 1


@pytest.mark.asyncio
async def test_a_withheld_answer_is_no_object():
    model = ScriptedModel(filtered("I cannot"), GOOD)
    with pytest.raises(NoObjectGeneratedError, match="content filter"):
        await run(Agent("a", model=MODEL, output=Diagnosis), "Why?", session_of(model))


@pytest.mark.asyncio
async def test_a_fence_around_the_whole_answer_is_accepted_with_backticks_inside():
    code = "use ```sh\nls\n``` here"
    model = ScriptedModel("```json\n" + json.dumps({"code": code, "grade": "good"}) + "\n```")
    steps = await run(Agent("a", model=MODEL, output=Report), "Go", session_of(model))

    assert final_of(steps).output == Report(code, Grade.GOOD)


@pytest.mark.asyncio
async def test_a_fence_inside_an_answer_is_not_taken_for_it():
    model = ScriptedModel("Run:\n```bash\necho '{}'\n```\nthen see docs", '{"code": "x"}')
    steps = await run(Agent("a", model=MODEL, output=Report), "Go", session_of(model))

    assert len(model.requests) == 2
    assert final_of(steps).output == Report("x", None)


@pytest.mark.asyncio
async def test_a_turn_that_only_reasoned_is_no_sample():
    model = ScriptedModel(thinks("a"), thinks("b"), thinks("c"), thinks("d"), GOOD)
    steps = await run(Agent("a", model=MODEL, output=Diagnosis), "Why?", session_of(model))

    assert final_of(steps).output == Diagnosis("disk", 0.5)


@pytest.mark.asyncio
async def test_tools_may_be_called_on_the_way_to_the_object():
    @tool
    def look() -> str:
        """Look."""
        return "smoke"

    model = ScriptedModel(calls("look"), GOOD)
    agent = Agent("a", model=MODEL, tools=[look], output=Diagnosis)
    steps = await run(agent, "Why?", session_of(model, [look]))

    assert len(done(steps, "tool")) == 1
    assert final_of(steps).output == Diagnosis("disk", 0.5)


@pytest.mark.asyncio
async def test_a_json_schema_gives_plain_json():
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    model = ScriptedModel('{"n": "3"}', '{"n": 3}')
    steps = await run(Agent("a", model=MODEL, output=schema), "Go", session_of(model))

    assert final_of(steps).output == {"n": 3}


@pytest.mark.asyncio
async def test_the_instructions_speak_the_agents_language():
    model = ScriptedModel(GOOD)
    await run(Agent("a", model=MODEL, output=Diagnosis, wording=SPANISH), "?", session_of(model))

    assert model.requests[0].system.startswith("Responde con un único objeto JSON")


def test_what_is_no_type_is_refused_when_the_agent_is_made():
    with pytest.raises(ConfigurationError):
        Agent("a", model=MODEL, output=3)
