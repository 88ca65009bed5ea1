"""What other people's models and tools give back is checked before it is on record."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from support.agents import MODEL, done, final_of, run, session_of

from synaptum import (
    Agent,
    ConfigurationError,
    FinishReason,
    LocalGateway,
    MemoryCheckpointer,
    Message,
    Response,
    Role,
    Session,
    SqliteCheckpointer,
    Text,
    ToolDefinition,
    ToolResult,
    Usage,
)
from synaptum.testing import ScriptedModel, calls

pytestmark = pytest.mark.asyncio


class Odd:
    """A tool of somebody's own, which gives back what it was made with."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self.runs = 0

    @property
    def name(self) -> str:
        return "odd"

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition("odd", "", {"type": "object", "properties": {}})

    async def invoke(self, call_id: str, arguments: Any) -> Any:
        self.runs += 1
        return self._value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a text", "returned a str"),
        (None, "returned a NoneType"),
        (ToolResult("x", ("a text",)), r"At \$\.content\[0\]"),  # type: ignore[arg-type]
        (ToolResult("x", (Text(5),)), r"At \$\.content\[0\]\.text"),  # type: ignore[arg-type]
        (ToolResult("x", (Text("\ud83d" + "\ude00"),)), "surrogate pair"),
        (ToolResult("x", (Text("ok"),), structured={"at": datetime.date(2026, 3, 24)}), "A date"),
        (ToolResult("x", (Text("ok"),), structured=[float("nan")]), "nan"),
    ],
)
async def test_a_result_that_no_journal_can_hold_is_told_to_the_model(
    tmp_path: Path, value: Any, words: str
) -> None:
    odd = Odd(value)
    agent = Agent("a", model=MODEL, tools=[odd])
    with SqliteCheckpointer(tmp_path / "runs.db") as store:
        session = session_of(ScriptedModel(calls("odd"), "Done."), [odd], checkpointer=store)
        steps = await run(agent, "Go", session)
        again = await run(agent, "Go", session)

    (call,) = done(steps, "tool")
    assert call.result.is_error
    assert call.result.text.startswith("The tool odd ran, but returned a ")
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(call.result.text)
    assert final_of(steps).output == "Done."
    assert (again, odd.runs) == (steps, 1)


TEXT = (Text("Hi."),)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Hi.", "The model answered a str; it returns a Response"),
        (None, "The model answered a NoneType"),
        (
            Response(Message(Role.ASSISTANT, TEXT), "stop", Usage()),
            "The finish_reason of the model's answer is 'stop'",
        ),
        (Response("Hi.", FinishReason.STOP, Usage()), r"At \$\.message"),
        (Response(Message(Role.ASSISTANT, ("Hi.",)), FinishReason.STOP, Usage()), r"content\[0\]"),
        (Response(Message(Role.ASSISTANT, TEXT), FinishReason.STOP, {}), "The usage of"),
    ],
)
async def test_an_answer_that_is_none_ends_the_passage_and_spoils_no_journal(
    answer: Any, words: str
) -> None:
    store = MemoryCheckpointer()
    agent = Agent("a", model=MODEL)
    session = Session("r1", LocalGateway(model=lambda request: answer), store)
    with pytest.raises(ConfigurationError, match=words):
        await run(agent, "Go", session)

    steps = await run(agent, "Go", session_of(ScriptedModel("Hi."), checkpointer=store))
    assert final_of(steps).output == "Hi."
