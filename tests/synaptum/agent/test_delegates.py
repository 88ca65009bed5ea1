"""A sub-agent as a tool: its own journal, its cost and its risk the caller's."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from support.agents import MODEL, done, final_of, run, session_of, stream

from synaptum import (
    ALLOW,
    ENGLISH,
    SPANISH,
    Agent,
    ConfigurationError,
    Decision,
    Delegate,
    Disposition,
    LimitExceeded,
    Limits,
    Phase,
    ProviderError,
    Risk,
    UncertainEffect,
    Usage,
    tool,
)
from synaptum.testing import ScriptedModel, calls, cut, fails, says


@tool(risk=Risk.DESTRUCTIVE)
def wipe(disk: str) -> str:
    """Wipe a disk."""
    WIPED.append(disk)
    return f"wiped {disk}"


WIPED: list[str] = []


@tool(idempotent=True)
def look() -> str:
    """Look."""
    return "dust"


@pytest.fixture(autouse=True)
def _clean():
    WIPED.clear()


def sub_agent(**settings):
    return Agent("cleaner", model=MODEL, description="Cleans.", **settings)


def parent(sub, **settings):
    return Agent("boss", model=MODEL, delegates=[sub], **settings)


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_a_delegate_gets_the_brief_alone_and_its_answer_comes_back(how):
    model = ScriptedModel(calls("cleaner", brief="Clean it."), calls("look"), "Dusty.", "Done.")
    session = session_of(model, [look])
    steps = await how(parent(sub_agent(tools=[look])), "Go", session)

    assert [m.text for m in model.requests[1].messages] == ["Clean it."]
    step = done(steps, "delegate")[0]
    assert step.child_run_id == "r1.000001-delegate"
    assert step.result.text == "Dusty."
    assert final_of(steps).output == "Done."
    child = (await session.checkpointer.load("r1.000001-delegate")).events
    assert [e.step_id for e in child if e.phase is Phase.COMPLETED] == [
        "000000-model",
        "000001-tool",
        "000002-model",
        "000003-final",
    ]


def test_the_model_is_offered_one_brief():
    definition = parent(sub_agent()).plan.definitions[0]

    assert (definition.name, definition.description) == ("cleaner", "Cleans.")
    assert definition.parameters["required"] == ["brief"]
    assert list(definition.parameters["properties"]) == ["brief"]


def test_a_delegate_may_have_another_name_and_description():
    delegate = Delegate(sub_agent(), name="limpia", description="Limpia.")

    assert delegate.definition.name == "limpia"
    assert delegate.definition.description == "Limpia."


def test_the_risk_is_the_highest_that_can_be_reached_at_any_depth():
    deep = parent(sub_agent(tools=[look, wipe]))
    top = Agent("top", model=MODEL, delegates=[deep], tools=[look])

    assert [d.risk for d in top.plan.definitions] == [Risk.READ, Risk.DESTRUCTIVE]
    assert not top.plan.definitions[1].idempotent


@pytest.mark.asyncio
async def test_the_policy_sees_the_delegation_with_that_risk():
    def policy(check):
        forbidden = check.kind == "delegate" and check.risk is Risk.DESTRUCTIVE
        return Decision(Disposition.DENY_STEP, message="No.") if forbidden else ALLOW

    model = ScriptedModel(calls("cleaner", brief="Wipe."), "I may not.")
    session = session_of(model, [wipe], policy=policy)
    steps = await run(parent(sub_agent(tools=[wipe])), "Go", session)

    check = next(c for c in session.gateway.checks if c.kind == "delegate")
    assert (check.name, check.arguments) == ("cleaner", {"brief": "Wipe."})
    assert done(steps, "delegate")[0].result.is_error
    assert len(model.requests) == 2


@pytest.mark.asyncio
async def test_what_a_delegate_cost_counts_as_the_parents():
    model = ScriptedModel(
        [says("", usage=Usage(1, 1, 0, 0, 0)), calls("cleaner", brief="x")],
        says("ok", usage=Usage(10, 10, 0, 0, 0)),
        says("done", usage=Usage(100, 100, 0, 0, 0)),
    )
    steps = await run(parent(sub_agent()), "Go", session_of(model))

    assert done(steps, "delegate")[0].usage == Usage(10, 10, 0, 0, 0)
    assert final_of(steps).usage == Usage(111, 111, 0, 0, 0)


@pytest.mark.asyncio
async def test_a_structured_answer_of_a_delegate_is_json_to_its_caller():
    @dataclass
    class Found:
        dust: int

    model = ScriptedModel(calls("cleaner", brief="x"), '{"dust": 3}', "done")
    steps = await run(parent(sub_agent(output=Found)), "Go", session_of(model))

    result = done(steps, "delegate")[0].result
    assert result.text == '{"dust":3}'
    assert result.structured == {"dust": 3}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("settings", "answers", "words"),
    [
        ({}, [cut("half")], "without an answer .length.. It had: half"),
        ({"limits": Limits(max_steps=1)}, [""], "max_steps=1"),
        ({"output": {"type": "object"}, "limits": Limits(max_retries=0)}, ["no"], "samples"),
    ],
)
async def test_a_delegate_that_found_no_answer_is_an_error_result(settings, answers, words):
    model = ScriptedModel(calls("cleaner", brief="x"), *answers, "It failed.")
    steps = await run(parent(sub_agent(**settings)), "Go", session_of(model))

    result = done(steps, "delegate")[0].result
    assert result.is_error
    assert re.search(words, result.text)
    assert final_of(steps).output == "It failed."


@pytest.mark.asyncio
async def test_a_provider_that_is_down_inside_a_delegate_stops_the_run_and_it_goes_on_later():
    model = ScriptedModel(calls("cleaner", brief="x"), fails(503), "ok", "done")
    agent = parent(sub_agent(limits=Limits(max_retries=0)))
    session = session_of(model)
    with pytest.raises(ProviderError):
        await run(agent, "Go", session)
    steps = await run(agent, "Go", session)

    assert final_of(steps).output == "done"
    assert len(done(steps, "delegate")) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("depth", [0, 1])
async def test_sub_agents_may_not_nest_deeper_than_the_limit(depth):
    inner = Agent("inner", model=MODEL)
    middle = Agent("middle", model=MODEL, delegates=[inner])
    top = Agent("top", model=MODEL, delegates=[middle], limits=Limits(max_delegation_depth=depth))
    model = ScriptedModel("never")
    with pytest.raises(LimitExceeded) as caught:
        await run(top, "Go", session_of(model))

    assert (caught.value.limit, caught.value.value) == ("max_delegation_depth", depth)
    assert str(caught.value) == (
        f"Run 'r1' was not begun: its sub-agents nest 2 deep, and max_delegation_depth={depth}."
        " Raise the limit, or hand less on."
    )
    assert model.requests == []


@pytest.mark.asyncio
async def test_an_approval_inside_a_delegate_suspends_the_parent():
    def policy(check):
        if check.kind == "tool" and check.risk is Risk.DESTRUCTIVE:
            return Decision(Disposition.REQUIRE_APPROVAL, "sure")
        return ALLOW

    inner = sub_agent(tools=[wipe])
    middle = Agent("middle", model=MODEL, delegates=[inner])
    model = ScriptedModel(
        calls("middle", brief="a"),
        calls("cleaner", brief="b"),
        calls("wipe", disk="sda"),
        "Wiped.",
        "It says wiped.",
        "Done.",
    )
    agent, session = parent(middle), session_of(model, [wipe], policy=policy)
    steps = await run(agent, "Go", session)

    approval = steps[-1]
    assert (approval.kind, approval.phase) == ("approval", Phase.ATTEMPTED)
    assert approval.call.arguments == {"disk": "sda"}
    assert approval.risk is Risk.DESTRUCTIVE
    assert approval.target == "000001-delegate"
    assert approval.meta["decision"]["reason_code"] == "sure"
    assert WIPED == []

    await session.decide(approval.step_id, ALLOW)
    steps = await run(agent, "Go", session)
    assert WIPED == ["sda"]
    assert final_of(steps).output == "Done."
    assert len(done(steps, "delegate")) == 1
    assert len(model.requests) == 6


@pytest.mark.asyncio
async def test_a_no_inside_a_delegate_goes_to_the_delegate():
    def policy(check):
        return Decision(Disposition.REQUIRE_APPROVAL) if check.name == "wipe" else ALLOW

    model = ScriptedModel(
        calls("cleaner", brief="b"), calls("wipe", disk="sda"), "I may not.", "It may not."
    )
    agent = parent(sub_agent(tools=[wipe]))
    session = session_of(model, [wipe], policy=policy)
    approval = (await run(agent, "Go", session))[-1]
    await session.decide(approval.step_id, Decision(Disposition.DENY_STEP, message="No."))
    steps = await run(agent, "Go", session)

    assert WIPED == []
    assert "a person refused it (No.)" in model.requests[2].messages[-1].content[0].text
    assert done(steps, "delegate")[0].result.text == "I may not."


@pytest.mark.asyncio
async def test_a_delegation_itself_can_wait_for_a_person():
    def policy(check):
        return Decision(Disposition.REQUIRE_APPROVAL) if check.kind == "delegate" else ALLOW

    model = ScriptedModel(calls("cleaner", brief="b"), "Clean.", "Done.")
    agent, session = parent(sub_agent()), session_of(model, policy=policy)
    approval = (await run(agent, "Go", session))[-1]
    assert len(model.requests) == 1
    await session.decide(approval.step_id, ALLOW)
    steps = await run(agent, "Go", session)

    assert final_of(steps).output == "Done."
    assert done(steps, "delegate")[-1].result.text == "Clean."


@pytest.mark.asyncio
async def test_a_run_terminated_inside_a_delegate_ends_the_parent_too():
    def policy(check):
        return Decision(Disposition.TERMINATE_RUN, "stop") if check.name == "wipe" else ALLOW

    model = ScriptedModel(calls("cleaner", brief="b"), calls("wipe", disk="sda"), "never")
    session = session_of(model, [wipe], policy=policy)
    steps = await run(parent(sub_agent(tools=[wipe])), "Go", session)

    assert final_of(steps).reason == "terminated"
    assert len(model.requests) == 2


@pytest.mark.asyncio
async def test_an_uncertain_call_inside_a_delegate_is_resolved_in_its_own_run():
    @tool
    def once() -> str:
        """Die."""
        return "did it"

    model = ScriptedModel(calls("cleaner", brief="b"), calls("once"), "Did.", "Done.")
    agent, session = parent(sub_agent(tools=[once])), session_of(model, [once])

    class Dying:
        def __init__(self, inner):
            self._inner = inner

        def __getattr__(self, name):
            return getattr(self._inner, name)

        async def invoke_tool(self, call, context):
            raise KeyboardInterrupt

    whole, session.gateway = session.gateway, Dying(session.gateway)
    with pytest.raises(KeyboardInterrupt):
        await run(agent, "Go", session)
    session.gateway = whole
    with pytest.raises(UncertainEffect, match=r"r1\.000001-delegate") as caught:
        await run(agent, "Go", session)

    await session.child("r1.000001-delegate").resolve(caught.value.step_id, result="did it")
    assert final_of(await run(agent, "Go", session)).output == "Done."


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("wording", "arguments", "told"),
    [
        (ENGLISH, {"brief": 3}, "At $.brief: expected string, found integer 3."),
        (ENGLISH, {"brief": "x", "tone": "y"}, "At $: there is no tone; the names are: brief."),
        (SPANISH, {"task": "x"}, "Los argumentos de cleaner no encajan. En $: falta brief"),
    ],
)
async def test_a_brief_that_is_none_is_a_bad_call_as_of_any_tool(wording, arguments, told):
    model = ScriptedModel(calls("cleaner", **arguments), "Sorry.")
    limits = Limits(invalid_calls="to_model")
    agent = parent(sub_agent(), limits=limits, wording=wording)
    steps = await run(agent, "Go", session_of(model))

    assert told in done(steps, "delegate")[0].result.text


def test_a_delegate_and_a_tool_may_not_share_a_name():
    with pytest.raises(ConfigurationError, match="'look'"):
        Agent("a", model=MODEL, tools=[look], delegates=[Agent("look", model=MODEL)])
