"""A run can go on from a conversation: worked turns for a small model, or an earlier chat."""

from typing import Any

import pytest

from synaptum import (
    Agent,
    ConfigurationError,
    Message,
    ProviderError,
    Role,
    Session,
    Text,
    ToolCall,
    ToolResult,
)
from synaptum.testing import ScriptedModel, fails

CHAT = [Message.user("I live in Rome."), Message.assistant("Noted."), Message.user("Where?")]


@pytest.mark.asyncio
async def test_the_conversation_travels_before_the_question() -> None:
    model = ScriptedModel("In Rome.")
    session = Session("r1", model.gateway())

    steps = [s async for s in Agent("a", model="scripted").run(CHAT, session=session)]

    assert model.requests[0].messages == tuple(CHAT)
    assert steps[-1].output == "In Rome."  # type: ignore[union-attr]


@pytest.mark.asyncio
async def test_a_run_is_resumed_with_the_same_conversation_and_refuses_another() -> None:
    model = ScriptedModel("In Rome.")
    session = Session("r1", model.gateway())
    agent = Agent("a", model="scripted")
    first = [s async for s in agent.run(CHAT, session=session)]

    again = [s async for s in agent.run(CHAT, session=session)]
    with pytest.raises(ConfigurationError):
        async for _ in agent.run(CHAT[2:], session=session):
            pass

    assert again == first
    assert len(model.requests) == 1


@pytest.mark.asyncio
async def test_a_conversation_of_values_that_json_spells_otherwise_is_the_same_one() -> None:
    call = ToolCall("c1", "route", {"via": ("Rome", "Bari")})
    result = ToolResult("c1", (Text("fast"),), structured=("fast", 2))
    chat = [Message.user("Go"), Message(Role.ASSISTANT, (call,)), Message.tool_results(result)]
    session = Session("r1", ScriptedModel(fails(400), "Gone.").gateway())
    agent = Agent("a", model="scripted")
    with pytest.raises(ProviderError):
        async for _ in agent.run(chat, session=session):
            pass

    steps = [s async for s in agent.run(chat, session=session)]

    assert steps[-1].output == "Gone."  # type: ignore[union-attr]


@pytest.mark.parametrize("task", [CHAT[:2], [*CHAT, "and more"], [], ["Hi."], b"Hi.", [5], 5])
def test_what_asks_nothing_is_refused(task: Any) -> None:
    session = Session("r1", ScriptedModel("never").gateway())

    with pytest.raises(ConfigurationError, match="of which the last is not the assistant's"):
        Agent("a", model="scripted").run(task, session=session)
