"""A gateway that wants to know is told of every step, once it is on record."""

import asyncio
from typing import Any

from support.agents import MODEL, run

from synaptum.agent import Agent, Delegate, Session
from synaptum.gateway.local import LocalGateway
from synaptum.journal.memory import MemoryCheckpointer
from synaptum.testing import FakeClock, ScriptedModel, calls
from synaptum.tools import tool
from synaptum.vocabulary import ALLOW, Decision, Disposition, Risk, Step


@tool(risk=Risk.HARD_WRITE)
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def ask_first(check: Any) -> Decision:
    return Decision(Disposition.REQUIRE_APPROVAL) if check.kind == "tool" else ALLOW


def gateway(model: ScriptedModel, told: list[str], **settings: Any) -> LocalGateway:
    return LocalGateway(
        model=model.complete,
        journalled=lambda step: told.append(f"{step.run_id} {step.step_id} {step.phase.value}"),
        **settings,
    )


def test_every_step_is_told_once_a_phase_and_only_when_it_is_on_record():
    store = MemoryCheckpointer()
    seen: list[tuple[str, bool]] = []

    def told(step: Step) -> None:
        # The store in memory never waits, so it can be asked from here.
        try:
            store.load("r1").send(None)
        except StopIteration as done:
            seen.append((step.step_id, step in done.value.events))

    model = ScriptedModel("Hello.")
    session = Session("r1", LocalGateway(model=model.complete, journalled=told), store)

    asyncio.run(run(Agent("a", model=MODEL), "Hi", session))

    assert seen == [
        ("000000-model", True),
        ("000000-model", True),
        ("000001-final", True),
        ("000001-final", True),
    ]


def test_a_person_s_decision_and_a_resumed_journal_are_told():
    store, first, second = MemoryCheckpointer(), [], []
    agent = Agent("a", model=MODEL, tools=[pay])
    model = ScriptedModel(calls("pay", amount=3), "Done.")
    settings = {"tools": [pay], "policy": ask_first}
    waiting = Session("r1", gateway(model, first, **settings), store, clock=FakeClock())
    resumed = Session("r1", gateway(model, second, **settings), store, clock=FakeClock())

    async def both() -> None:
        await run(agent, "Pay 3", waiting)
        await waiting.decide("000002-approval", ALLOW)
        await run(agent, None, resumed)

    asyncio.run(both())

    assert first[-2:] == ["r1 000002-approval attempted", "r1 000002-approval completed"]
    assert second[: len(first)] == first
    assert second[-1] == "r1 000005-final completed"


def test_the_steps_of_a_sub_agent_are_told_under_its_own_run():
    told: list[str] = []
    helper = Agent("helper", model=MODEL, description="Helps.")
    agent = Agent("a", model=MODEL, delegates=[Delegate(helper)])
    model = ScriptedModel(calls("helper", brief="Look."), "Found.", "Done.")

    asyncio.run(run(agent, "Hi", Session("r1", gateway(model, told))))

    assert "r1.000001-delegate 000001-final completed" in told
    assert told[-1] == "r1 000003-final completed"


def test_a_gateway_that_does_not_want_to_know_runs_agents():
    class Plain:
        def __init__(self) -> None:
            self.invoke_model = ScriptedModel("Hello.").gateway().invoke_model

    steps = asyncio.run(run(Agent("a", model=MODEL), "Hi", Session("r1", Plain())))

    assert steps[-1].output == "Hello."
