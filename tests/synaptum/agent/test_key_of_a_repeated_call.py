"""A call that is run again is the same call to the gateway, in another process too."""

from __future__ import annotations

import pytest
from support.agents import MODEL, final_of, run
from support.stores import FILE_STORES

from synaptum import Agent, Session, tool
from synaptum.testing import FakeClock, ScriptedModel, calls


class Noting:
    """A gateway that notes under which run and step each call reaches it."""

    def __init__(self, inner, keys):
        self._inner = inner
        self._keys = keys
        self.invoke_model = inner.invoke_model
        self.stream_model = inner.stream_model

    async def invoke_tool(self, call, context):
        self._keys.append((context.run_id, context.step_id))
        return await self._inner.invoke_tool(call, context)


@pytest.mark.asyncio
@pytest.mark.parametrize("store", FILE_STORES)
async def test_a_call_that_is_run_again_keeps_its_run_and_step(store, tmp_path):
    keys, dies = [], [True]
    model = ScriptedModel(calls("book", seat=7), "Booked.")

    def made_anew():
        @tool(idempotent=True)
        async def book(seat: int) -> str:
            """Book a seat."""
            if dies.pop():
                raise KeyboardInterrupt
            return f"seat {seat}"

        gateway = Noting(model.gateway([book]), keys)
        clock = FakeClock()
        checkpointer = FILE_STORES[store](tmp_path)
        session = Session("r1", gateway, checkpointer, clock=clock, sleep=clock.sleep)
        return Agent("a", model=MODEL, tools=[book]), session

    agent, session = made_anew()
    with pytest.raises(KeyboardInterrupt):
        await run(agent, "Go", session)
    await session.checkpointer.release("r1")
    dies.append(False)
    agent, session = made_anew()

    assert final_of(await run(agent, None, session)).output == "Booked."
    assert keys == [("r1", "000001-tool")] * 2
