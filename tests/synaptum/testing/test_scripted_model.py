"""The scripted model: the same answer whole and streamed, and clear when the script is wrong."""

from __future__ import annotations

import pytest

from synaptum import (
    CallContext,
    Denied,
    FinishReason,
    Message,
    NetworkError,
    ProviderError,
    Request,
    Response,
    Text,
    Thinking,
    ToolDefinition,
    Usage,
    fold,
)
from synaptum.testing import (
    FakeClock,
    ScriptedModel,
    ScriptError,
    calls,
    cut,
    denies,
    drops,
    fails,
    filtered,
    says,
    thinks,
)

REQUEST = Request(
    model="m",
    messages=(Message.user("What is it?"),),
    tools=(ToolDefinition("look", "", {"type": "object"}),),
)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("Hello, world.", FinishReason.STOP),
        (says("", usage=Usage(1, 2)), FinishReason.STOP),
        (calls("look", place="box", n=1), FinishReason.TOOL_CALLS),
        (calls("look", raw="{not json"), FinishReason.TOOL_CALLS),
        (thinks("let me see"), FinishReason.STOP),
        (cut("half"), FinishReason.LENGTH),
        (filtered(), FinishReason.CONTENT_FILTER),
        ([thinks("a"), "b", calls("look"), calls("look")], FinishReason.TOOL_CALLS),
        (lambda request: f"You said {request.messages[0].text}", FinishReason.STOP),
    ],
)
async def test_an_item_is_the_same_answer_whole_and_streamed(item, reason):
    whole = await ScriptedModel(item).complete(REQUEST)
    streamed = fold([event async for event in ScriptedModel(item).stream(REQUEST)])

    assert whole == streamed
    assert whole.finish_reason is reason


@pytest.mark.asyncio
async def test_a_turn_holds_its_parts_in_order_and_each_call_has_an_id_of_its_own():
    response = await ScriptedModel([thinks("a"), "b", calls("look"), calls("look")])(REQUEST)

    assert response.message.content[:2] == (Thinking("a"), Text("b"))
    assert [call.id for call in response.tool_calls] == ["call_0_2", "call_0_3"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("item", "error"),
    [
        (fails(429, retry_after=3), ProviderError),
        (drops(), NetworkError),
        (denies(), Denied),
        (ValueError("x"), ValueError),
    ],
)
async def test_a_failing_item_raises_whole_and_streamed(item, error):
    with pytest.raises(error):
        await ScriptedModel(item).complete(REQUEST)
    with pytest.raises(error):
        async for _ in ScriptedModel(item).stream(REQUEST):
            pass


@pytest.mark.asyncio
async def test_a_lost_connection_delivers_what_it_says_first():
    texts = []
    with pytest.raises(NetworkError):
        async for event in ScriptedModel(drops(after=2, text="abcdefghij")).stream(REQUEST):
            if event.kind == "text_delta":
                texts.append(event.text)

    assert texts == ["abcd", "efgh"]


@pytest.mark.asyncio
async def test_requests_are_kept_and_what_is_left_is_known():
    model = ScriptedModel("one", "two")
    await model.complete(REQUEST)

    assert model.requests == [REQUEST]
    assert model.contexts == [None]
    assert model.left == ("two",)


@pytest.mark.asyncio
async def test_one_turn_too_many_says_what_was_asked():
    model = ScriptedModel("one")
    await model.complete(REQUEST)
    with pytest.raises(ScriptError, match=r"1 turns .* user: 'What is it\?'"):
        await model.complete(REQUEST)


@pytest.mark.asyncio
async def test_a_step_that_was_answered_gets_the_same_answer_again():
    model, context = ScriptedModel("one", "two"), CallContext("r1", "000000-model")
    first = await model.complete(REQUEST, context)
    again = await model.complete(REQUEST, context)
    other = await model.complete(REQUEST, CallContext("r1", "000001-model"))

    assert first is again
    assert other.text == "two"


@pytest.mark.asyncio
async def test_a_scripted_call_of_a_tool_that_was_not_offered_is_a_mistake_of_the_test():
    with pytest.raises(ScriptError, match=r"'nowhere'.*\['look'\]"):
        await ScriptedModel(calls("nowhere")).complete(REQUEST)

    response = await ScriptedModel(calls("nowhere"), strict=False).complete(REQUEST)
    assert response.tool_calls[0].name == "nowhere"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "item", [3, ["a", fails(500)], [Response(Message.user("x"), FinishReason.STOP)]]
)
async def test_what_a_script_cannot_hold_is_refused(item):
    with pytest.raises(ScriptError):
        await ScriptedModel(item).complete(REQUEST)


@pytest.mark.asyncio
async def test_the_fake_clock_lets_time_pass_without_waiting():
    clock = FakeClock(100.0)
    await clock.sleep(2.5)
    clock.advance(1)

    assert (clock.now_s(), clock.monotonic_s(), clock.slept) == (103.5, 103.5, [2.5])
