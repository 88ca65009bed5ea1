"""`stream` is the same loop and journal as `run`, with fragments in between; closing cancels."""

from __future__ import annotations

import asyncio

import pytest
from support.agents import MODEL, final_of, run, session_of, stream

from synaptum import (
    Agent,
    Finish,
    FinishReason,
    LocalGateway,
    MemoryCheckpointer,
    Message,
    NetworkError,
    Phase,
    ProviderError,
    Response,
    Session,
    StreamStart,
    TextDelta,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    tool,
)
from synaptum.testing import ScriptedModel, calls, drops, fails, thinks


@tool
def look(place: str) -> str:
    """Look somewhere."""
    return f"nothing in {place}"


def steps_of(events):
    return [event for event in events if hasattr(event, "phase")]


@pytest.mark.asyncio
async def test_fragments_stand_between_the_intent_and_the_result():
    model = ScriptedModel("Hello you.")
    events = await stream(Agent("a", model=MODEL), "Hi", session_of(model))

    assert [event.kind for event in events] == [
        "model",
        "stream_start",
        "text_start",
        "text_delta",
        "text_delta",
        "text_delta",
        "text_end",
        "finish",
        "model",
        "final",
        "final",
    ]
    assert "".join(e.text for e in events if e.kind == "text_delta") == "Hello you."


@pytest.mark.asyncio
async def test_run_and_stream_write_the_same_journal():
    journals = []
    for how in (run, stream):
        model = ScriptedModel([thinks("let me see"), calls("look", place="box")], "Nothing.")
        session = session_of(model, [look])
        events = await how(Agent("a", model=MODEL, tools=[look]), "Look", session)
        journals.append((await session.state()).events)
        assert tuple(steps_of(events)) == journals[-1]

    assert journals[0] == journals[1]


@pytest.mark.asyncio
async def test_a_recorded_step_gives_no_fragments():
    model = ScriptedModel(calls("look", place="box"), "Nothing.")
    agent, session = Agent("a", model=MODEL, tools=[look]), session_of(model, [look])
    events = agent.stream("Look", session=session)
    async for event in events:
        if event.kind == "tool" and event.phase is Phase.COMPLETED:
            break
    await events.aclose()
    rest = await stream(agent, "Look", session)

    kinds = [event.kind for event in rest]
    assert kinds[:5] == ["model", "model", "tool", "tool", "model"]
    assert kinds[5] == "stream_start"
    assert kinds.count("stream_start") == 1


@pytest.mark.asyncio
async def test_a_retried_stream_opens_the_cycle_again_and_withdraws_nothing():
    model = ScriptedModel(drops(after=2, text="Here is"), "Here is the plan.")
    events = await stream(Agent("a", model=MODEL), "Plan", session_of(model))

    assert [event.kind for event in events].count("stream_start") == 2
    texts = [event.text for event in events if event.kind == "text_delta"]
    assert texts[:2] == ["Here", " is"]
    assert "".join(texts[2:]) == "Here is the plan."
    assert final_of(events).output == "Here is the plan."


@pytest.mark.asyncio
async def test_an_attempt_refused_before_it_answered_shows_too():
    model = ScriptedModel(fails(503), "ok")
    events = await stream(Agent("a", model=MODEL), "Hi", session_of(model))

    assert [event.kind for event in events].count("stream_start") == 2


@pytest.mark.asyncio
async def test_a_stream_without_a_finish_is_a_failed_attempt():
    async def truncated(request):
        yield StreamStart()
        yield TextStart(0)
        yield TextDelta(0, "Hel")

    session = session_of(ScriptedModel())
    session.gateway = LocalGateway(stream=truncated)
    with pytest.raises(NetworkError, match="no finish"):
        await stream(Agent("a", model=MODEL), "Hi", session)


@pytest.mark.asyncio
async def test_no_tool_runs_on_a_call_that_did_not_arrive_whole():
    ran = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return "paid"

    async def broken(request):
        yield StreamStart()
        yield ToolCallStart(0, "c1", "pay")
        yield ToolCallDelta(0, '{"amount": 1')
        raise NetworkError("lost")

    session = session_of(ScriptedModel())
    session.gateway = LocalGateway(stream=broken, tools=[pay])
    with pytest.raises(NetworkError):
        await stream(Agent("a", model=MODEL, tools=[pay]), "Pay", session)

    assert ran == []


@pytest.mark.asyncio
async def test_an_answer_that_ended_in_an_error_is_not_taken_for_an_answer():
    bad = Response(Message.assistant("half"), FinishReason.ERROR)
    model = ScriptedModel(bad, "whole")
    steps = await run(Agent("a", model=MODEL), "Hi", session_of(model))

    assert final_of(steps).output == "whole"
    with pytest.raises(ProviderError):
        await run(Agent("a", model=MODEL), "Hi", session_of(ScriptedModel(bad, bad, bad)))


class EndlessModel:
    """Streams until it is closed, and says so."""

    def __init__(self):
        self.closed = False
        self.asked = 0
        self.silent = asyncio.Event()

    async def stream(self, request):
        self.asked += 1
        try:
            yield StreamStart()
            yield TextStart(0)
            yield TextDelta(0, "on ")
            yield TextDelta(0, "and ")
            self.silent.set()
            await asyncio.Event().wait()
        finally:
            self.closed = True


@pytest.mark.asyncio
async def test_closing_the_iterator_closes_the_source_of_the_stream():
    endless = EndlessModel()
    session = Session("r1", LocalGateway(stream=endless.stream))
    events = Agent("a", model=MODEL).stream("Hi", session=session)
    async for event in events:
        if event.kind == "text_delta":
            break
    assert not endless.closed
    await events.aclose()

    assert endless.closed


@pytest.mark.asyncio
async def test_cancelling_the_task_reaches_a_silent_source_and_is_not_swallowed():
    endless = EndlessModel()
    session = Session("r1", LocalGateway(stream=endless.stream))
    task = asyncio.create_task(stream(Agent("a", model=MODEL), "Hi", session))
    await asyncio.wait_for(endless.silent.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert endless.closed
    assert endless.asked == 1


@pytest.mark.asyncio
async def test_a_cancelled_run_is_resumed_with_the_same_question_under_the_same_key():
    endless, store = EndlessModel(), MemoryCheckpointer()
    agent = Agent("a", model=MODEL)
    events = agent.stream("Hi", session=Session("r1", LocalGateway(stream=endless.stream), store))
    async for event in events:
        if event.kind == "text_delta":
            break
    await events.aclose()
    model = ScriptedModel("At last.")
    steps = await stream(agent, "Hi", session_of(model, checkpointer=store))

    assert final_of(steps).output == "At last."
    assert (model.contexts[0].run_id, model.contexts[0].step_id) == ("r1", "000000-model")
    assert model.requests[0] == steps[0].request


@pytest.mark.asyncio
async def test_a_gateway_without_a_stream_gives_a_whole_cycle():
    model = ScriptedModel([thinks("hm"), "Yes.", calls("look", place="a")], "Done.")
    session = Session("r1", LocalGateway(model=model, tools=[look]))
    events = await stream(Agent("a", model=MODEL, tools=[look]), "Hi", session)

    kinds = [event.kind for event in events if not hasattr(event, "phase")]
    assert kinds[:11] == [
        "stream_start",
        "reasoning_start",
        "reasoning_delta",
        "reasoning_end",
        "text_start",
        "text_delta",
        "text_end",
        "tool_call_start",
        "tool_call_delta",
        "tool_call_end",
        "finish",
    ]
    finish = next(event for event in events if isinstance(event, Finish))
    assert isinstance(finish.response.message.content[-1], ToolCall)
