"""The type of an error says whether to try again; clock, sleep and chance come from outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agents import MODEL, done, final_of, run, session_of

from synaptum import (
    Agent,
    FallbackModel,
    FinishReason,
    Limits,
    LocalGateway,
    Message,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
    Response,
    Session,
    ToolExecutionError,
    tool,
)
from synaptum.agent.retries import retry_wait_s
from synaptum.testing import FakeClock, ScriptedModel, calls, fails


@pytest.mark.asyncio
async def test_two_retries_are_three_attempts_and_the_waits_grow():
    model, clock = ScriptedModel(fails(503), fails(500), "ok"), FakeClock()
    steps = await run(Agent("a", model=MODEL), "Hi", session_of(model, clock=clock))

    assert len(model.requests) == 3
    assert clock.slept == [0.5, 1.0]
    assert done(steps, "model")[0].meta["attempts"] == [
        {
            "error": {"type": "ProviderError", "message": "The server answered 503."},
            "wait_s": 0.5,
            "model": "qwen3-8b",
        },
        {
            "error": {"type": "ProviderError", "message": "The server answered 500."},
            "wait_s": 1.0,
            "model": "qwen3-8b",
        },
    ]


@pytest.mark.asyncio
async def test_an_answer_at_once_records_no_attempts():
    steps = await run(Agent("a", model=MODEL), "Hi", session_of(ScriptedModel("ok")))

    assert "attempts" not in done(steps, "model")[0].meta


@pytest.mark.asyncio
async def test_every_attempt_has_the_same_request_and_key():
    model = ScriptedModel(fails(429), "ok")
    await run(Agent("a", model=MODEL), "Hi", session_of(model))

    assert model.requests[0] == model.requests[1]
    assert model.contexts[0] == model.contexts[1]


@pytest.mark.asyncio
async def test_a_third_failure_is_raised_as_it_is():
    model, clock = ScriptedModel(fails(429), fails(429), fails(429)), FakeClock()
    with pytest.raises(ProviderError) as caught:
        await run(Agent("a", model=MODEL), "Hi", session_of(model, clock=clock))

    assert caught.value.status == 429
    assert len(clock.slept) == 2


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
async def test_other_client_errors_are_asked_once(status):
    model, clock = ScriptedModel(fails(status), "never"), FakeClock()
    with pytest.raises(ProviderError):
        await run(Agent("a", model=MODEL), "Hi", session_of(model, clock=clock))

    assert len(model.requests) == 1
    assert clock.slept == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "error",
    [NetworkError("lost"), RequestTimeoutError("late"), TimeoutError("late"), ConnectionError("x")],
)
async def test_timeouts_and_lost_connections_are_tried_again(error):
    model = ScriptedModel(error, "ok")
    steps = await run(Agent("a", model=MODEL), "Hi", session_of(model))

    assert final_of(steps).output == "ok"


@pytest.mark.asyncio
async def test_retry_after_is_honoured_up_to_the_ceiling():
    model, clock = (
        ScriptedModel(fails(429, retry_after=7), fails(429, retry_after=86_400), "ok"),
        (FakeClock()),
    )
    await run(Agent("a", model=MODEL), "Hi", session_of(model, clock=clock))

    assert clock.slept == [7, 30.0]


@pytest.mark.asyncio
async def test_no_retries_is_one_attempt():
    model = ScriptedModel(fails(503))
    with pytest.raises(ProviderError):
        await run(Agent("a", model=MODEL, limits=Limits(max_retries=0)), "Hi", session_of(model))

    assert len(model.requests) == 1


@pytest.mark.asyncio
async def test_a_failed_run_asks_again_when_resumed():
    model = ScriptedModel(fails(503), fails(503), fails(503), "ok")
    agent, session = Agent("a", model=MODEL), session_of(model)
    with pytest.raises(ProviderError):
        await run(agent, "Hi", session)
    steps = await run(agent, "Hi", session)

    assert final_of(steps).output == "ok"
    assert {context.step_id for context in model.contexts} == {"000000-model"}


@given(
    failures=st.integers(1, 5000),
    retry_after=st.one_of(st.none(), st.floats(-10, 1e9)),
    chance=st.floats(0, 1, exclude_max=True),
)
def test_a_wait_is_never_negative_and_never_over_the_ceiling(failures, retry_after, chance):
    wait = retry_wait_s(failures, retry_after, Limits(max_retry_wait=12.0), chance)

    assert 0 <= wait <= 12.0


def test_jitter_spreads_a_wait_over_its_upper_half():
    limits = Limits(retry_base=2.0)

    assert retry_wait_s(1, None, limits, 0.0) == 1.0
    assert retry_wait_s(1, None, limits, 0.5) == 1.5
    assert retry_wait_s(3, None, limits, 0.0) == 4.0


@pytest.mark.asyncio
async def test_a_tool_is_retried_only_if_it_is_idempotent():
    tries = {"safe": 0, "once": 0}

    @tool(idempotent=True)
    def safe() -> str:
        """Fail the first time."""
        tries["safe"] += 1
        if tries["safe"] == 1:
            raise ToolExecutionError("busy", retryable=True, retry_after=3)
        return "fine"

    @tool
    def once() -> str:
        """Fail the first time."""
        tries["once"] += 1
        raise ToolExecutionError("busy", retryable=True)

    clock = FakeClock()
    model = ScriptedModel([calls("safe"), calls("once")], "ok")
    tools = [safe, once]
    steps = await run(
        Agent("a", model=MODEL, tools=tools), "Go", session_of(model, tools, clock=clock)
    )

    assert tries == {"safe": 2, "once": 1}
    assert clock.slept == [3]
    retried, failed = done(steps, "tool")
    assert retried.result.text == "fine"
    assert [attempt["wait_s"] for attempt in retried.meta["attempts"]] == [3]
    assert failed.result.is_error
    assert "busy" in failed.result.text


@pytest.mark.asyncio
async def test_a_tool_that_stays_busy_becomes_an_error_result():
    @tool(idempotent=True)
    def busy() -> str:
        """Be busy."""
        raise ToolExecutionError("busy", retryable=True)

    model = ScriptedModel(calls("busy"), "It is busy.")
    steps = await run(Agent("a", model=MODEL, tools=[busy]), "Go", session_of(model, [busy]))

    assert len(done(steps, "tool")[0].meta["attempts"]) == 2
    assert done(steps, "tool")[0].result.is_error
    assert final_of(steps).output == "It is busy."


@pytest.mark.asyncio
@pytest.mark.parametrize("streamed", [False, True])
async def test_the_step_records_which_model_of_a_chain_answered(streamed):
    chain = FallbackModel(ScriptedModel(fails(503)), ScriptedModel("From the second."))
    session = session_of(ScriptedModel())
    session.gateway = LocalGateway(model=chain, stream=chain.stream)
    agent = Agent("a", model=MODEL)
    how = agent.stream if streamed else agent.run
    steps = [event async for event in how("Hi", session=session)]

    meta = done(steps, "model")[0].meta
    assert meta["answered_by"]["chain_index"] == 1
    assert meta["attempts"][0]["error"]["type"] == "ProviderError"
    assert final_of(steps).output == "From the second."


@pytest.mark.asyncio
async def test_a_gateway_that_fails_is_asked_again_for_an_idempotent_call():
    @tool(idempotent=True)
    def look() -> str:
        """Look."""
        return "dust"

    class Shaky:
        """A gateway far away: its connection breaks once."""

        def __init__(self, inner):
            self._inner, self.broken = inner, False

        def __getattr__(self, name):
            return getattr(self._inner, name)

        async def invoke_tool(self, call, context):
            if not self.broken:
                self.broken = True
                raise NetworkError("lost")
            return await self._inner.invoke_tool(call, context)

    session = session_of(ScriptedModel(calls("look"), "Dusty."), [look])
    session.gateway = Shaky(session.gateway)
    steps = await run(Agent("a", model=MODEL, tools=[look]), "Go", session)

    assert done(steps, "tool")[0].result.text == "dust"
    assert done(steps, "tool")[0].meta["attempts"][0]["error"]["type"] == "NetworkError"


@pytest.mark.asyncio
async def test_a_run_killed_between_two_attempts_is_resumed_and_asks_again():
    class DyingClock(FakeClock):
        """The process ends while it waits."""

        async def sleep(self, seconds):
            raise KeyboardInterrupt

    model = ScriptedModel(fails(503), "ok")
    agent, session = Agent("a", model=MODEL), session_of(model, clock=DyingClock())
    with pytest.raises(KeyboardInterrupt):
        await run(agent, "Hi", session)
    steps = await run(agent, "Hi", session)

    assert final_of(steps).output == "ok"
    assert len((await session.state()).events) == 4


@pytest.mark.asyncio
async def test_a_tool_of_somebody_else_that_says_try_again_is_not_if_it_is_not_idempotent():
    tries = []

    @tool
    def once() -> str:
        """Stand for the definition alone."""
        return ""

    class Foreign:
        name = "once"
        definition = once.definition

        async def invoke(self, call_id, arguments):
            tries.append(call_id)
            raise ToolExecutionError("busy", retryable=True)

    model = ScriptedModel(calls("once"), "It is busy.")
    tools = [Foreign()]
    steps = await run(Agent("a", model=MODEL, tools=tools), "Go", session_of(model, tools))

    assert len(tries) == 1
    assert done(steps, "tool")[0].result.is_error


class Odd(ProviderError):
    def __str__(self):
        raise ValueError("no words")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ProviderError("busy", status=503, retry_after=float("nan")), "busy"),
        (ProviderError("busy", status=503, retry_after="5"), "busy"),
        (ProviderError("busy \ud83d\ude00", status=503), "busy \U0001f600"),
        (Odd("busy", status=503), ""),
    ],
    ids=["nan", "text", "half-characters", "no-words"],
)
@pytest.mark.parametrize("chained", [False, True])
async def test_a_failure_that_is_odd_in_itself_does_not_cost_the_answer_after_it(
    error, told, chained
):
    answers = iter([error, Response(Message.assistant("ok"), FinishReason.STOP)])

    async def model(request):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    asked = FallbackModel(model, model) if chained else model
    clock = FakeClock()
    session = Session("r1", LocalGateway(model=asked), sleep=clock.sleep, random=lambda: 1.0)
    steps = await run(Agent("a", model=MODEL), "Hi", session)

    (attempt,) = done(steps, "model")[0].meta["attempts"]
    assert attempt["error"]["message"] == told
    assert clock.slept == ([] if chained else [0.5])
    assert final_of(steps).output == "ok"
