"""A call whose fate nobody knows is never repeated by itself."""

from __future__ import annotations

import pytest
from support.agents import MODEL, final_of, outline, run, session_of

from synaptum import (
    Agent,
    ConfigurationError,
    NetworkError,
    Phase,
    Session,
    ToolResult,
    UncertainEffect,
    tool,
)
from synaptum.testing import ScriptedModel, calls


class Mail:
    """Sends, and may lose its process right after."""

    def __init__(self, *, idempotent=False):
        self.sent = []
        self.dies = False

        @tool(idempotent=idempotent)
        async def send(to: str) -> str:
            """Send a mail."""
            self.sent.append(to)
            if self.dies:
                raise KeyboardInterrupt
            return f"sent to {to}"

        self.tool = send
        self.agent = Agent("a", model=MODEL, tools=[send])
        self.model = ScriptedModel(calls("send", to="x"), "Sent.")
        self.session = session_of(self.model, [send])

    async def die_after_the_effect(self):
        self.dies = True
        with pytest.raises(KeyboardInterrupt):
            await run(self.agent, "Go", self.session)
        self.dies = False


@pytest.mark.asyncio
async def test_a_mail_that_may_have_gone_out_is_not_sent_again():
    mail = Mail()
    await mail.die_after_the_effect()
    for _ in range(2):
        with pytest.raises(UncertainEffect, match=r"while send ran \(step 000001-tool\)") as caught:
            await run(mail.agent, "Go", mail.session)
        assert caught.value.step_id == "000001-tool"

    assert mail.sent == ["x"]


@pytest.mark.asyncio
async def test_the_result_can_be_told():
    mail = Mail()
    await mail.die_after_the_effect()
    await mail.session.resolve("000001-tool", result="sent to x")
    steps = await run(mail.agent, "Go", mail.session)

    assert mail.sent == ["x"]
    assert final_of(steps).output == "Sent."
    assert mail.model.requests[1].messages[-1].content == (ToolResult.of("call_0_0", "sent to x"),)


@pytest.mark.asyncio
async def test_a_whole_result_can_be_told_and_takes_the_calls_id():
    mail = Mail()
    await mail.die_after_the_effect()
    await mail.session.resolve("000001-tool", result=ToolResult.of("?", "lost", is_error=True))
    await run(mail.agent, "Go", mail.session)

    result = mail.model.requests[1].messages[-1].content[0]
    assert (result.call_id, result.is_error) == ("call_0_0", True)


@pytest.mark.asyncio
async def test_it_can_be_run_again_on_demand_and_is_uncertain_again_if_it_dies_again():
    mail = Mail()
    await mail.die_after_the_effect()
    await mail.session.resolve("000001-tool", rerun=True)
    await mail.die_after_the_effect()
    with pytest.raises(UncertainEffect) as caught:
        await run(mail.agent, "Go", mail.session)
    assert caught.value.step_id == "000002-tool"

    await mail.session.resolve("000002-tool", rerun=True)
    steps = await run(mail.agent, "Go", mail.session)
    assert mail.sent == ["x", "x", "x"]
    assert [line for line in outline(steps) if "tool" in line] == [
        "000001-tool attempted",
        "000001-tool completed",
        "000002-tool attempted",
        "000002-tool completed",
        "000003-tool attempted",
        "000003-tool completed",
    ]
    assert len(mail.model.requests[1].messages[-1].content) == 1


@pytest.mark.asyncio
async def test_an_idempotent_call_is_simply_run_again_under_its_own_step():
    mail = Mail(idempotent=True)
    await mail.die_after_the_effect()
    steps = await run(mail.agent, "Go", mail.session)

    assert mail.sent == ["x", "x"]
    assert final_of(steps).step_id == "000003-final"


@pytest.mark.asyncio
async def test_a_call_that_could_never_run_is_not_uncertain():
    model = ScriptedModel(calls("nowhere"), "Sorry.", strict=False)
    agent, session = Agent("a", model=MODEL), session_of(model)
    events = agent.run("Go", session=session)
    async for step in events:
        if step.kind == "tool" and step.phase is Phase.ATTEMPTED:
            break
    await events.aclose()

    assert final_of(await run(agent, "Go", session)).output == "Sorry."


@pytest.mark.asyncio
async def test_a_gateway_that_loses_its_connection_leaves_the_call_uncertain():
    mail = Mail()

    class Remote:
        def __init__(self, inner):
            self._inner = inner

        def __getattr__(self, name):
            return getattr(self._inner, name)

        async def invoke_tool(self, call, context):
            raise NetworkError("the gateway went away")

    remote = Session("r1", Remote(mail.session.gateway), mail.session.checkpointer)
    with pytest.raises(NetworkError):
        await run(mail.agent, "Go", remote)
    with pytest.raises(UncertainEffect):
        await run(mail.agent, "Go", mail.session)


@pytest.mark.asyncio
@pytest.mark.parametrize("settings", [{}, {"result": "x", "rerun": True}])
async def test_resolving_takes_exactly_one_way(settings):
    with pytest.raises(ConfigurationError, match="exactly one"):
        await Mail().session.resolve("000001-tool", **settings)


@pytest.mark.asyncio
async def test_resolving_what_is_not_open_is_refused():
    mail = Mail()
    with pytest.raises(ConfigurationError, match="no call is open"):
        await mail.session.resolve("000001-tool", rerun=True)
    await mail.die_after_the_effect()
    with pytest.raises(ConfigurationError, match="the open call is 000001-tool"):
        await mail.session.resolve("000009-tool", rerun=True)
