"""The same stops and ends through `run`, through `stream`, and resumed by another process.

"Another process" is a store opened anew on the same file, a new session and a new agent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.agents import MODEL, done, final_of, outline, run, session_of, stream

from synaptum import (
    ALLOW,
    Agent,
    Decision,
    Delegate,
    Disposition,
    JsonlCheckpointer,
    LimitExceeded,
    Limits,
    Risk,
    tool,
)
from synaptum.testing import ScriptedModel, calls, says

WAYS = [(run, run), (run, stream), (stream, run), (stream, stream)]


class Bank:
    """A boss that hands payments to a sub-agent, and what was paid."""

    def __init__(self, folder: Path, disposition: Disposition, *script: Any) -> None:
        self.paid: list[int] = []
        self.model = ScriptedModel(*script)
        self._path = folder / "journal.jsonl"
        self._disposition = disposition

        @tool(risk=Risk.DESTRUCTIVE)
        def pay(amount: int) -> str:
            """Pay."""
            self.paid.append(amount)
            return f"paid {amount}"

        self._pay = pay

    def agent(self, **limits: Any) -> Agent:
        payer = Agent("payer", model=MODEL, tools=[self._pay], limits=Limits(**limits))
        return Agent("boss", model=MODEL, delegates=[Delegate(payer, description="Pays.")])

    def policy(self, check: Any) -> Decision:
        if check.risk is Risk.DESTRUCTIVE and check.kind == "tool":
            return Decision(self._disposition, reason_code="cap")
        return ALLOW

    async def go(self, how: Any, decide: Decision | None = None, **limits: Any) -> list[Any]:
        """One process: opens the journal, decides where asked, goes on."""
        with JsonlCheckpointer(self._path) as store:
            session = session_of(self.model, [self._pay], checkpointer=store, policy=self.policy)
            if decide is not None:
                waits = (await session.state()).events[-1]
                await session.decide(waits.step_id, decide)
            events = await how(self.agent(**limits), "Pay 5", session)
            return [event for event in events if hasattr(event, "step_id")]


@pytest.mark.asyncio
@pytest.mark.parametrize(("first", "second"), WAYS)
async def test_an_approval_under_a_delegate_waits_and_goes_on(first, second, tmp_path):
    bank = Bank(
        tmp_path,
        Disposition.REQUIRE_APPROVAL,
        calls("payer", brief="Pay 5."),
        calls("pay", amount=5),
        "It is paid.",
        "Done.",
    )
    waiting = await bank.go(first)
    assert outline(waiting)[-1] == "000002-approval attempted"
    assert (waiting[-1].call.name, bank.paid) == ("pay", [])

    assert outline(await bank.go(second)) == outline(waiting), "nothing was decided"

    steps = await bank.go(second, decide=ALLOW)
    assert (final_of(steps).output, bank.paid) == ("Done.", [5])
    assert done(steps, "delegate")[0].result.text == "It is paid."


@pytest.mark.asyncio
@pytest.mark.parametrize(("first", "second"), WAYS)
async def test_a_policy_that_ends_the_run_under_a_delegate_ends_it_for_good(
    first, second, tmp_path
):
    bank = Bank(
        tmp_path,
        Disposition.TERMINATE_RUN,
        calls("payer", brief="Pay 5."),
        calls("pay", amount=5),
    )
    steps = await bank.go(first)
    again = await bank.go(second)

    assert (final_of(steps).reason, bank.paid) == ("terminated", [])
    assert outline(again) == outline(steps)
    assert bank.model.left == ()


@pytest.mark.asyncio
@pytest.mark.parametrize(("first", "second"), WAYS)
async def test_a_limit_under_a_delegate_is_told_to_the_model_once(first, second, tmp_path):
    bank = Bank(
        tmp_path,
        Disposition.ALLOW,
        calls("payer", brief="Pay 5."),
        says(""),
        says(""),
        "It could not.",
    )
    steps = await bank.go(first, max_steps=2)
    again = await bank.go(second, max_steps=2)

    result = done(steps, "delegate")[0].result
    assert result.is_error
    assert "max_steps=2" in result.text
    assert final_of(again).output == "It could not."
    assert outline(again) == outline(steps)


@pytest.mark.asyncio
@pytest.mark.parametrize(("first", "second"), WAYS)
async def test_a_run_that_met_its_limit_asks_nothing_more_under_the_same_one(
    first, second, tmp_path
):
    model = ScriptedModel("", "", "Here.")
    for how in (first, second):
        with JsonlCheckpointer(tmp_path / "journal.jsonl") as store:
            agent = Agent("a", model=MODEL, limits=Limits(max_steps=2))
            with pytest.raises(LimitExceeded) as caught:
                await how(agent, "Hi", session_of(model, checkpointer=store))
            assert (caught.value.limit, caught.value.value) == ("max_steps", 2)

    assert model.left == ("Here.",)
