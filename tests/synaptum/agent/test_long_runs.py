"""A long run stays linear: its requests share their messages, fresh and resumed."""

from __future__ import annotations

import pytest
from support.agents import MODEL, done, final_of, run, session_of

from synaptum import Agent, Limits, Phase, tool
from synaptum.testing import ScriptedModel, calls


@tool(idempotent=True)
async def look(n: int) -> str:
    """Look."""
    return "nothing"


TURNS = 120


def world():
    model = ScriptedModel(*(calls("look", n=n) for n in range(TURNS)), "Nothing at all.")
    limits = Limits(max_steps=10 * TURNS)
    return Agent("a", model=MODEL, tools=[look], limits=limits), model


@pytest.mark.asyncio
async def test_all_requests_of_a_run_share_one_storage():
    agent, model = world()
    await run(agent, "Go", session_of(model, [look]))

    last = model.requests[-1].messages
    assert len(last) == 1 + 2 * TURNS
    assert all(request.messages.shares_storage_with(last) for request in model.requests)


@pytest.mark.asyncio
async def test_a_resumed_run_goes_on_in_the_storage_of_what_was_recorded():
    agent, model = world()
    session = session_of(model, [look])
    events = agent.run("Go", session=session)
    async for step in events:
        if step.kind == "tool" and step.step_seq > TURNS and step.phase is Phase.COMPLETED:
            break
    await events.aclose()
    asked_before = len(model.requests)
    steps = await run(agent, "Go", session)

    assert final_of(steps).output == "Nothing at all."
    recorded = [s.request.messages for s in done(steps, "model")]
    assert len(recorded) == TURNS + 1
    assert all(messages.shares_storage_with(recorded[-1]) for messages in recorded)
    assert len(model.requests) == TURNS + 1 > asked_before
