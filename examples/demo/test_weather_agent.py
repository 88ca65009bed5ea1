"""A weather agent with one tool: recorded once from a real model, replayed offline for ever.

`scripts/demo` records it in front of your eyes. The small model it uses has to be shown how a
tool is used, so the conversation begins with two worked turns; a larger model needs none.
"""

import asyncio
from typing import Annotated

from synaptum import (
    Agent,
    FinalStep,
    Message,
    ModelStep,
    Phase,
    Role,
    Sampling,
    Session,
    SqliteCheckpointer,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolStep,
    tool,
)

SKIES = {"Oslo": ("snow", -3), "Cairo": ("sun", 31), "Lima": ("fog", 18)}


@tool(idempotent=True)
def get_weather(city: Annotated[str, "Name of the city"]) -> dict[str, str | int]:
    """Current weather of a city."""
    sky, celsius = SKIES[city]
    return {"celsius": celsius, "sky": sky}


def worked_turn(number: int, city: str, answer: str) -> list[Message]:
    """A question, the call, its result and the answer, as the model is to do it."""
    call = ToolCall(f"call_{number}", "get_weather", {"city": city})
    sky, celsius = SKIES[city]
    return [
        Message.user(f"What is the weather in {city}?"),
        Message(Role.ASSISTANT, (call,)),
        Message.tool_results(ToolResult.of(call.id, f'{{"celsius":{celsius},"sky":"{sky}"}}')),
        Message.assistant(answer),
    ]


WORKED_TURNS = [
    *worked_turn(1, "Oslo", "In Oslo it is snowing, -3 degrees."),
    *worked_turn(2, "Cairo", "In Cairo it is sunny, 31 degrees."),
]
TASK = [*WORKED_TURNS, Message.user("What is the weather in Lima?")]


def weather_agent(model: str) -> Agent:
    return Agent(
        "weather",
        model=model,
        tools=[get_weather],
        sampling=Sampling(temperature=0, max_output_tokens=60),
    )


async def run(agent: Agent, session: Session) -> list:
    return [step async for step in agent.run(TASK, session=session)]


def test_the_agent_calls_its_tool_and_answers_with_what_it_said(recorded_provider):
    agent = weather_agent(recorded_provider.model)
    session = Session("lima", recorded_provider.gateway(tools=[get_weather]))

    steps = asyncio.run(run(agent, session))

    calls = [s.call for s in steps if isinstance(s, ToolStep) and s.phase is Phase.COMPLETED]
    assert [(c.name, c.arguments) for c in calls] == [("get_weather", {"city": "Lima"})]
    assert isinstance(steps[-1], FinalStep)
    assert "18" in steps[-1].output
    assert "fog" in steps[-1].output


def test_the_answer_streams_while_it_is_written(recorded_provider):
    agent = weather_agent(recorded_provider.model)
    session = Session("lima", recorded_provider.gateway(tools=[get_weather]))

    async def fragments() -> list[str]:
        events = agent.stream(TASK, session=session)
        return [e.text async for e in events if isinstance(e, TextDelta)]

    written = asyncio.run(fragments())

    assert len(written) > 1
    assert "18" in "".join(written)


def test_a_run_that_stopped_goes_on_without_asking_again(recorded_provider, tmp_path):
    agent = weather_agent(recorded_provider.model)

    def session() -> Session:
        gateway = recorded_provider.gateway(tools=[get_weather])
        return Session("lima", gateway, SqliteCheckpointer(tmp_path / "journal.db"))

    async def until_the_tool_is_done() -> None:
        steps = agent.run(TASK, session=session())
        async for step in steps:
            if isinstance(step, ToolStep) and step.phase is Phase.COMPLETED:
                break
        await steps.aclose()

    asyncio.run(until_the_tool_is_done())
    asked_before = len(recorded_provider.exchanges)
    steps = asyncio.run(run(agent, session()))

    assert asked_before == 1
    assert len(recorded_provider.exchanges) == 2
    answered = [s for s in steps if isinstance(s, ModelStep) and s.phase is Phase.COMPLETED]
    assert len(answered) == 2
    assert isinstance(steps[-1], FinalStep)


def test_what_goes_back_to_the_model_is_held_to_a_golden(recorded_provider, synaptum_golden):
    agent = weather_agent(recorded_provider.model)
    session = Session("lima", recorded_provider.gateway(tools=[get_weather]))

    steps = asyncio.run(run(agent, session))

    requests = [s.request for s in steps if isinstance(s, ModelStep) and s.phase is Phase.ATTEMPTED]
    # A server draws the ids of its calls: their values do not count, which is which does.
    ids = ["messages.*.tool_calls.*.id: <id>", "messages.*.tool_call_id: <id>"]
    synaptum_golden.wire(requests[-1], masks=ids)
