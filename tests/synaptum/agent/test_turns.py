"""What the loop makes of turns that are no plain answer: silent, cut, withheld, malformed."""

from __future__ import annotations

import pytest
from support.agents import MODEL, done, final_of, outline, run, session_of, stream

from synaptum import (
    SPANISH,
    Agent,
    FinishReason,
    InvalidToolCallError,
    LimitExceeded,
    Limits,
    Message,
    Response,
    Role,
    Text,
    Thinking,
    ToolCall,
    tool,
)
from synaptum.testing import ScriptedModel, calls, cut, filtered, says, thinks

ASK_AGAIN = "Your last turn held no answer. Answer now, or call a tool."


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def silent():
    return Response(Message(Role.ASSISTANT, ()), FinishReason.STOP)


@pytest.mark.asyncio
@pytest.mark.parametrize("turn", [thinks("hm"), says(""), [thinks("hm"), says("")], silent()])
async def test_a_turn_that_shows_nothing_is_asked_again_by_a_user_message(turn):
    model = ScriptedModel(turn, "Here.")
    steps = await run(Agent("a", model=MODEL), "Hi", session_of(model))

    assert final_of(steps).output == "Here."
    last = model.requests[1].messages[-1]
    assert last == Message.user(ASK_AGAIN)


@pytest.mark.asyncio
async def test_the_silent_turn_stays_in_the_journal_and_in_the_context():
    model = ScriptedModel(thinks("a long thought"), "Here.")
    steps = await run(Agent("a", model=MODEL), "Hi", session_of(model))

    thought = done(steps, "model")[0].response.message
    assert thought.content == (Thinking("a long thought"),)
    assert model.requests[1].messages[1] == thought


@pytest.mark.asyncio
async def test_asking_again_speaks_the_agents_language():
    model = ScriptedModel(thinks("hm"), "Ya.")
    await run(Agent("a", model=MODEL, wording=SPANISH), "Hola", session_of(model))

    assert model.requests[1].messages[-1].text.startswith("Tu último turno")


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_a_model_that_never_answers_ends_in_the_limit(how):
    model = ScriptedModel(*[thinks("hm")] * 4)
    agent = Agent("a", model=MODEL, limits=Limits(max_steps=4))
    session = session_of(model)
    for _ in range(2):  # resumed, it ends the same way without asking again
        with pytest.raises(LimitExceeded) as caught:
            await how(agent, "Hi", session)
        assert (caught.value.limit, caught.value.value) == ("max_steps", 4)

    assert len(model.requests) == 4


@pytest.mark.asyncio
async def test_a_run_stopped_by_its_limit_goes_on_under_a_higher_one():
    model = ScriptedModel(thinks("hm"), "Here.")
    session = session_of(model)
    with pytest.raises(LimitExceeded):
        await run(Agent("a", model=MODEL, limits=Limits(max_steps=1)), "Hi", session)
    steps = await run(Agent("a", model=MODEL), "Hi", session)

    assert final_of(steps).output == "Here."


@pytest.mark.asyncio
async def test_every_kind_of_step_counts_and_the_last_one_does_not():
    model = ScriptedModel(calls("add", a=1, b=2), "3")
    agent = Agent("a", model=MODEL, tools=[add], limits=Limits(max_steps=3))
    steps = await run(agent, "Go", session_of(model, [add]))

    assert final_of(steps).step_id == "000003-final"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("turn", "reason", "output"),
    [
        (cut("Half an ans"), "length", "Half an ans"),
        (cut(), "length", ""),
        ([thinks("for ever"), cut()], "length", ""),
        (filtered(), "content_filter", ""),
    ],
)
async def test_a_cut_or_withheld_turn_closes_the_run_and_is_not_asked_again(turn, reason, output):
    model = ScriptedModel(turn, "never")
    steps = await run(Agent("a", model=MODEL), "Hi", session_of(model))

    final = final_of(steps)
    assert (final.reason, final.output) == (reason, output)
    assert len(model.requests) == 1


@pytest.mark.asyncio
async def test_a_call_in_a_cut_turn_is_not_run():
    ran = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return "paid"

    whole = Message(Role.ASSISTANT, (ToolCall("c1", "pay", {"amount": 1}),))
    model = ScriptedModel(Response(whole, FinishReason.LENGTH))
    agent = Agent("a", model=MODEL, tools=[pay])
    steps = await run(agent, "Pay", session_of(model, [pay]))

    assert ran == []
    assert final_of(steps).reason == "length"


@pytest.mark.asyncio
async def test_calls_under_the_word_stop_are_run_all_the_same():
    message = Message(Role.ASSISTANT, (Text("I add."), ToolCall("c1", "add", {"a": 1, "b": 2})))
    model = ScriptedModel(Response(message, FinishReason.STOP), "3")
    steps = await run(Agent("a", model=MODEL, tools=[add]), "Go", session_of(model, [add]))

    assert done(steps, "tool")[0].result.text == "3"


@pytest.mark.asyncio
@pytest.mark.parametrize("raw", ["", "{", '{"a": 1', "[1, 2]", "3", '"{}"'])
async def test_unreadable_arguments_are_not_run_and_the_model_is_told(raw):
    model = ScriptedModel(calls("add", raw=raw), "Sorry.")
    session = session_of(model, [add])
    steps = await run(Agent("a", model=MODEL, tools=[add]), "Go", session)

    result = done(steps, "tool")[0].result
    assert result.is_error
    assert "not a JSON object" in result.text
    assert session.gateway.checks[-1].kind == "model"
    assert final_of(steps).output == "Sorry."
    assert done(steps, "tool")[0].call.unreadable_arguments == raw


@pytest.mark.asyncio
async def test_a_tool_that_does_not_exist_is_answered_with_those_that_do():
    model = ScriptedModel(calls("subtract", a=1), "Sorry.", strict=False)
    steps = await run(Agent("a", model=MODEL, tools=[add]), "Go", session_of(model, [add]))

    result = done(steps, "tool")[0].result
    assert result.is_error
    assert result.text == "There is no tool subtract. The tools are: add."


@pytest.mark.asyncio
async def test_arguments_that_do_not_fit_end_the_run_and_it_stays_ended():
    model = ScriptedModel(calls("add", a="one", b=2))
    agent, session = Agent("a", model=MODEL, tools=[add]), session_of(model, [add])
    for _ in range(2):
        with pytest.raises(InvalidToolCallError, match="add"):
            await run(agent, "Go", session)

    events = (await session.state()).events
    assert outline(events)[-1] == "000001-tool completed"
    assert events[-1].meta["error"]["type"] == "InvalidToolCallError"


@pytest.mark.asyncio
async def test_arguments_that_do_not_fit_can_go_to_the_model_with_the_schema():
    model = ScriptedModel(calls("add", a=1), calls("add", a=1, b=2), "3")
    limits = Limits(invalid_calls="to_model")
    agent = Agent("a", model=MODEL, tools=[add], limits=limits)
    steps = await run(agent, "Go", session_of(model, [add]))

    told = done(steps, "tool")[0].result
    assert told.is_error
    assert '"required":["a","b"]' in told.text
    assert final_of(steps).output == "3"


@pytest.mark.asyncio
async def test_a_run_ended_by_a_bad_call_goes_on_once_such_calls_go_to_the_model():
    model = ScriptedModel(calls("add", a="one", b=2), "Sorry.")
    session = session_of(model, [add])
    with pytest.raises(InvalidToolCallError):
        await run(Agent("a", model=MODEL, tools=[add]), "Go", session)
    limits = Limits(invalid_calls="to_model")
    steps = await run(Agent("a", model=MODEL, tools=[add], limits=limits), "Go", session)

    assert final_of(steps).output == "Sorry."
