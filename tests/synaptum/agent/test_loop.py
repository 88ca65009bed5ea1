"""The shape of a run: which steps, in which order, with what in them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from support.agents import MODEL, done, final_of, outline, run, session_of, stream

from synaptum import (
    SPANISH,
    Agent,
    ConfigurationError,
    Image,
    LocalGateway,
    Risk,
    Sampling,
    Session,
    Text,
    ToolChoice,
    Usage,
    tool,
)
from synaptum.testing import ScriptedModel, calls, says


@tool(idempotent=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.mark.asyncio
async def test_an_answer_without_tools_is_one_model_step_and_the_end():
    model = ScriptedModel("Hello.")
    steps = await run(Agent("a", model=MODEL), "Hi", session_of(model))

    assert outline(steps) == [
        "000000-model attempted",
        "000000-model completed",
        "000001-final attempted",
        "000001-final completed",
    ]
    assert final_of(steps).output == "Hello."
    assert final_of(steps).reason == "finished"


@pytest.mark.asyncio
async def test_the_calls_of_one_turn_run_in_order_and_one_at_a_time():
    running = []

    @tool
    async def note(text: str) -> str:
        """Note a text."""
        running.append(f"begin {text}")
        running.append(f"end {text}")
        return text

    model = ScriptedModel([calls("note", text="one"), calls("note", text="two")], "Noted.")
    steps = await run(Agent("a", model=MODEL, tools=[note]), "Go", session_of(model, [note]))

    assert running == ["begin one", "end one", "begin two", "end two"]
    assert outline(steps)[2:6] == [
        "000001-tool attempted",
        "000001-tool completed",
        "000002-tool attempted",
        "000002-tool completed",
    ]
    results = model.requests[1].messages[-1]
    assert [part.text for part in results.content] == ["one", "two"]
    assert [part.call_id for part in results.content] == ["call_0_0", "call_0_1"]


@pytest.mark.asyncio
async def test_one_failing_call_leaves_the_other_call_of_its_turn_alone():
    @tool
    def bad() -> str:
        """Fail."""
        raise ValueError("x")

    model = ScriptedModel([calls("add", a=1, b=2), calls("bad")], "Done.")
    steps = await run(
        Agent("a", model=MODEL, tools=[add, bad]), "Go", session_of(model, [add, bad])
    )

    fine, failed = model.requests[1].messages[-1].content
    assert (fine.text, fine.is_error) == ("3", False)
    assert failed.is_error
    assert "ValueError: x" in failed.text
    assert final_of(steps).output == "Done."


@pytest.mark.asyncio
async def test_the_request_carries_the_whole_configuration_and_no_provider_prefix():
    model = ScriptedModel("ok")
    agent = Agent(
        "a",
        model=MODEL,
        instructions="Be brief.",
        tools=[add],
        sampling=Sampling(
            temperature=0.0,
            top_p=0.5,
            max_output_tokens=64,
            stop="END",
            tool_choice=ToolChoice("required"),
            provider_options={"seed": 7},
        ),
    )
    await run(agent, "Hi", session_of(model, [add]))

    request = model.requests[0]
    assert request.model == "qwen3-8b"
    assert request.system == "Be brief."
    assert request.tools == (add.definition,)
    assert (request.temperature, request.top_p, request.max_output_tokens) == (0.0, 0.5, 64)
    assert request.stop == ("END",)
    assert request.tool_choice == ToolChoice("required")
    assert request.provider_options == {"seed": 7}


@pytest.mark.asyncio
async def test_a_task_may_be_content_parts():
    model = ScriptedModel("A cat.")
    picture = Image("image/png", data=b"\x89PNG")
    await run(Agent("a", model=MODEL), (Text("What is it?"), picture), session_of(model))

    assert model.requests[0].messages[0].content == (Text("What is it?"), picture)


@pytest.mark.asyncio
async def test_instructions_may_be_a_function_asked_at_every_turn():
    days = iter(["monday", "tuesday"])
    model = ScriptedModel(calls("add", a=1, b=1), "2")
    agent = Agent("a", model=MODEL, instructions=lambda: next(days), tools=[add])
    await run(agent, "Go", session_of(model, [add]))

    assert [request.system for request in model.requests] == ["monday", "tuesday"]


@pytest.mark.asyncio
async def test_usage_adds_up_and_unknown_counters_stay_unknown():
    first = [says("", usage=Usage(10, 2, cache_read=4)), calls("add", a=1, b=1)]
    model = ScriptedModel(first, says("2", usage=Usage(20, 3, cache_read=5)))
    steps = await run(Agent("a", model=MODEL, tools=[add]), "Go", session_of(model, [add]))

    assert final_of(steps).usage == Usage(30, 5, None, 9, None)


@pytest.mark.asyncio
async def test_a_tool_step_records_what_the_policy_saw_and_the_whole_result():
    @tool(risk=Risk.SOFT_WRITE, idempotent=True)
    def dump() -> str:
        """Give a long text."""
        return "x" * 20_000

    model = ScriptedModel(calls("dump"), "Long.")
    steps = await run(Agent("a", model=MODEL, tools=[dump]), "Go", session_of(model, [dump]))

    step = done(steps, "tool")[0]
    assert (step.risk, step.idempotent) == (Risk.SOFT_WRITE, True)
    assert len(step.result.text) == 20_000
    seen = model.requests[1].messages[-1].content[0].text
    assert len(seen) <= 16_000
    assert "truncated" in seen


@pytest.mark.asyncio
async def test_a_tool_the_gateway_cannot_run_is_found_before_anything_is_asked():
    model = ScriptedModel("never")
    with pytest.raises(ConfigurationError, match=r"cannot run: \['add'\]"):
        await run(Agent("a", model=MODEL, tools=[add]), "Go", session_of(model, []))

    assert model.requests == []


@pytest.mark.asyncio
async def test_a_gateway_of_three_methods_is_enough():
    class Bare:
        """What people write themselves: no more than the protocol."""

        def __init__(self, inner):
            self._inner = inner

        async def invoke_model(self, request, context):
            return await self._inner.invoke_model(request, context)

        def stream_model(self, request, context):
            return self._inner.stream_model(request, context)

        async def invoke_tool(self, call, context):
            return await self._inner.invoke_tool(call, context)

    model = ScriptedModel(calls("add", a=2, b=3), "5")
    session = Session("r1", Bare(model.gateway([add])))
    steps = await run(Agent("a", model=MODEL, tools=[add]), "Go", session)

    assert final_of(steps).output == "5"


@pytest.mark.asyncio
async def test_a_closed_run_gives_back_what_happened_without_asking_anything():
    model = ScriptedModel(calls("add", a=1, b=2), "3")
    agent, session = Agent("a", model=MODEL, tools=[add]), session_of(model, [add])
    first = await run(agent, "Go", session)
    again = await run(agent, "Go", session)
    streamed = await stream(agent, None, session)

    assert again == first
    assert streamed == first
    assert len(model.requests) == 2


def test_a_run_that_was_never_iterated_did_nothing():
    model = ScriptedModel("never")
    events = Agent("a", model=MODEL).run("Hi", session=session_of(model))

    assert model.requests == []
    del events


@pytest.mark.asyncio
async def test_two_tools_of_one_name_are_refused_by_the_agent():
    other = tool(lambda: "x", name="add", description="Another.")
    with pytest.raises(ConfigurationError, match="'add'"):
        Agent("a", model=MODEL, tools=[add, other])


def test_sets_of_tools_and_delegates_are_refused_by_the_agent():
    with pytest.raises(ConfigurationError, match="tools= is a set"):
        Agent("a", model=MODEL, tools={add})
    with pytest.raises(ConfigurationError, match="delegates= is a set"):
        Agent("a", model=MODEL, delegates={Agent("b", model=MODEL)})


def test_an_unknown_provider_prefix_lists_those_installed():
    with pytest.raises(ConfigurationError, match=r"'nowhere'.*openai-compatible"):
        Agent("a", model="nowhere:qwen3-8b")


@pytest.mark.parametrize("model", ["", ":x", "openai-compatible:"])
def test_a_model_without_a_name_is_refused(model):
    with pytest.raises(ConfigurationError):
        Agent("a", model=model)


def test_a_model_name_may_hold_colons_behind_the_prefix():
    assert Agent("a", model="openai-compatible:qwen3:8b").plan.wire_model == "qwen3:8b"


@pytest.mark.asyncio
async def test_a_new_run_needs_a_task():
    with pytest.raises(ConfigurationError, match="give it a task"):
        await run(Agent("a", model=MODEL), None, session_of(ScriptedModel()))


@pytest.mark.asyncio
async def test_a_plain_function_can_be_the_model():
    def model(request):
        return ScriptedModel("From a function.")(request)

    session = Session("r1", LocalGateway(model=model))
    steps = await run(Agent("a", model=MODEL), "Hi", session)

    assert final_of(steps).output == "From a function."


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"name": ""}, "an agent's name is a text that is not empty"),
        ({"instructions": 3}, "Agent(instructions=3): give a text"),
        ({"limits": {"max_steps": 3}}, "give a Limits, as in Limits(...)"),
        ({"sampling": {"temperature": 0}}, "give a Sampling, as in Sampling(...)"),
        ({"wording": "spanish"}, "give a Wording, such as ENGLISH or SPANISH"),
        ({"wording": replace(SPANISH, ask_again="¿Y?")}, "give it a name of its own"),
        ({"delegates": ["helper"]}, "'helper', which is neither an Agent nor a Delegate"),
    ],
)
def test_a_setting_of_another_kind_is_refused_by_name_before_any_run(settings, told):
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        Agent(**{"name": "a", "model": MODEL, **settings})
