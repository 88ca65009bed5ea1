"""Cancelling a run, and something inside of it being cancelled, are told apart."""

from __future__ import annotations

import asyncio

import pytest
from support.agents import MODEL, done, final_of, outline, run, session_of

from synaptum import ALLOW, Agent, LocalGateway, Session, ToolDefinition, deferred, tool
from synaptum.errors import AbortError, UncertainEffect
from synaptum.testing import ScriptedModel, calls


async def wait_for_something_cancelled():
    gone = asyncio.get_running_loop().create_future()
    gone.cancel()
    await gone


@tool
async def look() -> str:
    """Look at something."""
    await wait_for_something_cancelled()
    return "never"


class Foreign:
    """A tool that was not made by `@tool`."""

    name = "foreign"
    definition = ToolDefinition("foreign", "", {"type": "object", "properties": {}})

    async def invoke(self, call_id, arguments):
        await wait_for_something_cancelled()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("tools", "call"),
    [
        ([look], calls("look")),
        ([Foreign()], calls("foreign")),
        (deferred([look]), calls("usar_herramienta", nombre="look", argumentos={})),
        (deferred([Foreign()]), calls("usar_herramienta", nombre="foreign", argumentos={})),
    ],
    ids=["decorated", "foreign", "deferred", "deferred-foreign"],
)
async def test_a_tool_that_waited_for_something_cancelled_has_failed_and_the_run_goes_on(
    tools, call
):
    model = ScriptedModel(call, "It was gone.")

    steps = await run(Agent("a", model=MODEL, tools=tools), "Go", session_of(model, tools))

    (step,) = done(steps, "tool")
    assert step.result.is_error
    assert "failed: what it waited for was cancelled." in step.result.text
    assert final_of(steps).output == "It was gone."


@pytest.mark.asyncio
async def test_a_run_that_is_cancelled_while_a_tool_waits_is_cancelled():
    begun = asyncio.Event()

    @tool
    async def slow() -> str:
        begun.set()
        await asyncio.sleep(60)
        return "never"

    session = session_of(ScriptedModel(calls("slow"), "Done."), [slow])
    going = asyncio.create_task(run(Agent("a", model=MODEL, tools=[slow]), "Go", session))
    await begun.wait()
    going.cancel()

    with pytest.raises(asyncio.CancelledError):
        await going
    assert outline((await session.state()).events)[-1] == "000001-tool attempted"


@pytest.mark.asyncio
async def test_a_run_whose_time_is_up_while_a_tool_waits_is_not_told_that_the_tool_failed():
    @tool
    async def slow() -> str:
        await asyncio.sleep(60)
        return "never"

    session = session_of(ScriptedModel(calls("slow"), "Done."), [slow])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await run(Agent("a", model=MODEL, tools=[slow]), "Go", session)


@pytest.mark.asyncio
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_model_whose_own_wait_was_cancelled_fails_the_run_and_does_not_cancel_it(streaming):
    async def model(request):
        await wait_for_something_cancelled()

    agent = Agent("a", model=MODEL)
    session = Session("r1", LocalGateway(model=model))
    go = agent.stream if streaming else agent.run

    with pytest.raises(AbortError, match=r"'qwen3-8b' was cancelled by the gateway, and the run"):
        async for _ in go("Go", session=session):
            pass


@pytest.mark.asyncio
async def test_a_policy_whose_own_wait_was_cancelled_leaves_the_call_open():
    async def policy(check):
        if check.kind == "tool":
            await wait_for_something_cancelled()
        return ALLOW

    model = ScriptedModel(calls("look"), "Done.")
    session = session_of(model, [look], policy=policy)
    agent = Agent("a", model=MODEL, tools=[look])

    with pytest.raises(AbortError, match="The call of 'look' was cancelled by the gateway"):
        await run(agent, "Go", session)
    with pytest.raises(UncertainEffect):
        await run(agent, "Go", session)
