"""What a run did, and how pytest explains that it did something else."""

from __future__ import annotations

import pytest
from support.agents import MODEL, run

from pytest_synaptum import calls, trajectory
from pytest_synaptum.trajectories import explain
from synaptum.agent import Agent, Session
from synaptum.tools import tool
from synaptum.vocabulary import ALLOW, Decision, Disposition


@tool
def weather(city: str) -> str:
    """Tells the weather."""
    return f"sun in {city}"


@pytest.mark.asyncio
async def test_a_run_is_read_from_its_steps(model_double):
    model = model_double([calls("weather", city="Oslo"), calls("weather", city="Rome")], "Sunny.")

    steps = await run(
        Agent("a", model=MODEL, tools=[weather]), "?", Session("r1", model.gateway([weather]))
    )
    seen = trajectory(steps)

    assert seen.run_id == "r1"
    assert seen.turns == 2
    assert seen.tools == ["weather", ("weather", {"city": "Rome"})]
    assert seen.tools.names == ["weather", "weather"]
    assert seen.tools[0].result.text == "sun in Oslo"
    assert not seen.denials
    assert (seen.output, seen.reason) == ("Sunny.", "finished")
    assert seen.usage.input is None


@pytest.mark.asyncio
async def test_a_refused_call_is_a_denial_with_its_reason(model_double):
    def policy(check):
        return (
            ALLOW if check.kind == "model" else Decision(Disposition.DENY_STEP, "closed", "Shut.")
        )

    model = model_double(calls("weather", city="Oslo"), "No.", tools=[weather], policy=policy)

    steps = await run(Agent("a", model=MODEL, tools=[weather]), "?", Session("r1", model.gateway()))
    seen = trajectory(steps)

    assert seen.denials == ["weather"]
    assert seen.denials[0].denied.reason_code == "closed"
    assert seen.tools[0].is_error


def test_an_empty_journal_is_a_run_that_did_nothing():
    seen = trajectory([])

    assert (seen.turns, list(seen.tools), seen.output, seen.reason) == (0, [], None, None)


@pytest.mark.asyncio
async def test_a_comparison_explains_where_it_parted(model_double):
    model = model_double(calls("weather", city="Oslo"), "Sunny.")
    steps = await run(
        Agent("a", model=MODEL, tools=[weather]), "?", Session("r1", model.gateway([weather]))
    )

    lines = explain(trajectory(steps).tools, [("weather", {"city": "Rome"}), "search"])

    assert lines == [
        "the run made 1 calls, 2 were expected",
        "  call 0: expected weather(city='Rome')",
        "           made weather(city='Oslo')",
        "  call 1: expected search, the run made no more",
    ]


def test_pytest_prints_the_explanation(pytester):
    pytester.makepyfile(
        """
        from pytest_synaptum.trajectories import CalledTool, CalledTools
        def test_one():
            made = CalledTools([CalledTool("open", {"page": 1}, None)])
            assert made == [("open", {"page": True})]
        """
    )

    result = pytester.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the run made 1 calls, 1 were expected", "*made open(page=1)"])


@pytest.mark.asyncio
async def test_a_call_that_waited_for_a_person_is_one_call(model_double):
    def policy(check):
        ask = Decision(Disposition.REQUIRE_APPROVAL, "ask", "Ask.")
        return ALLOW if check.kind == "model" else ask

    model = model_double(calls("weather", city="Oslo"), "Sunny.", tools=[weather], policy=policy)
    session = Session("r1", model.gateway())
    agent = Agent("a", model=MODEL, tools=[weather])

    waiting = trajectory(await run(agent, "?", session))
    await session.decide((await session.waiting()).step_id, ALLOW)
    seen = trajectory(await run(agent, "?", session))

    assert (waiting.tools, waiting.tools[0].result) == (["weather"], None)
    assert seen.tools == ["weather"]
    assert seen.tools[0].result.text == "sun in Oslo"
