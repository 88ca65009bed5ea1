"""What a policy says, and what a person says, becomes of the run."""

from __future__ import annotations

import pytest
from support.agents import MODEL, done, final_of, outline, run, session_of, stream

from synaptum import (
    ALLOW,
    Agent,
    ConfigurationError,
    Decision,
    Denied,
    Disposition,
    NeedsHumanError,
    Phase,
    Risk,
    UncertainEffect,
    tool,
)
from synaptum.testing import ScriptedModel, calls, denies

NO = Decision(Disposition.DENY_STEP, "no", "Not today.")
STOP = Decision(Disposition.TERMINATE_RUN, "stop", "Enough.")
ASK = Decision(Disposition.REQUIRE_APPROVAL, "tope")


class Bank:
    """A tool with an effect that can be counted."""

    def __init__(self):
        self.sent = []

        @tool(risk=Risk.DESTRUCTIVE)
        async def transferir(destino: str, importe: float) -> str:
            """Ordena una transferencia."""
            self.sent.append((destino, importe))
            return f"sent {importe:g}"

        self.tool = transferir
        self.agent = Agent("a", model=MODEL, tools=[transferir])


def transfer(amount):
    return calls("transferir", destino="ES1", importe=amount)


def politica(check):
    """The policy of the documentation."""
    if check.risk is Risk.DESTRUCTIVE and check.arguments.get("importe", 0) > 100:
        return Decision(disposition=Disposition.REQUIRE_APPROVAL, reason_code="tope")
    return ALLOW


def on_tools(decision):
    return lambda check: decision if check.kind == "tool" else ALLOW


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_a_denied_call_is_an_error_result_with_the_reason(how):
    bank, model = Bank(), ScriptedModel(transfer(5.0), "I may not.")
    session = session_of(model, [bank.tool], policy=on_tools(NO))
    steps = await how(bank.agent, "Pay", session)

    step = done(steps, "tool")[0]
    assert step.result.is_error
    assert step.result.text == (
        "transferir was not run: the policy does not allow it (Not today.)."
    )
    assert step.meta["decision"]["disposition"] == "deny_step"
    assert bank.sent == []
    assert final_of(steps).output == "I may not."


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_a_terminated_run_is_closed_and_stays_closed(how):
    bank, model = Bank(), ScriptedModel(transfer(5.0), "never")
    session = session_of(model, [bank.tool], policy=on_tools(STOP))
    for _ in range(2):
        final = final_of(await how(bank.agent, "Pay", session))
        assert (final.reason, final.output) == ("terminated", None)
        assert final.meta["decision"]["message"] == "Enough."

    assert bank.sent == []
    assert len(model.requests) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_an_approval_suspends_the_run_until_a_person_allows_it(how):
    bank, model = Bank(), ScriptedModel(transfer(500.0), "Paid.")
    session = session_of(model, [bank.tool], policy=politica)
    steps = await how(bank.agent, "Pay", session)

    approval = steps[-1]
    assert (approval.kind, approval.phase) == ("approval", Phase.ATTEMPTED)
    assert approval.target == "000001-tool"
    assert approval.call.arguments == {"destino": "ES1", "importe": 500.0}
    assert approval.risk is Risk.DESTRUCTIVE
    assert approval.meta["decision"]["reason_code"] == "tope"
    assert await session.waiting() == approval
    assert bank.sent == []

    # Run again without a decision, it waits again and does nothing.
    assert (await run(bank.agent, "Pay", session))[-1] == approval

    await session.decide(approval.step_id, ALLOW)
    steps = await how(bank.agent, "Pay", session)
    assert final_of(steps).output == "Paid."
    assert bank.sent == [("ES1", 500.0)]
    assert await session.waiting() is None
    assert [s for s in outline(e for e in steps if hasattr(e, "phase")) if "completed" in s] == [
        "000000-model completed",
        "000001-tool completed",
        "000002-approval completed",
        "000003-tool completed",
        "000004-model completed",
        "000005-final completed",
    ]


@pytest.mark.asyncio
async def test_a_small_amount_is_not_asked_about():
    bank, model = Bank(), ScriptedModel(transfer(5.0), "Paid.")
    steps = await run(bank.agent, "Pay", session_of(model, [bank.tool], policy=politica))

    assert bank.sent == [("ES1", 5.0)]
    assert done(steps, "approval") == []


@pytest.mark.asyncio
async def test_a_persons_no_is_final_and_goes_to_the_model():
    bank, model = Bank(), ScriptedModel(transfer(500.0), "I may not.")
    session = session_of(model, [bank.tool], policy=politica)
    await run(bank.agent, "Pay", session)
    await session.decide("000001-tool", NO)  # by the id of the step that waits
    steps = await run(bank.agent, "Pay", session)

    assert bank.sent == []
    assert done(steps, "tool")[-1].result.text == (
        "transferir was not run: a person refused it (Not today.)."
    )
    assert final_of(steps).output == "I may not."
    asked = [check for check in session.gateway.checks if check.kind == "tool"]
    assert len(asked) == 1
    with pytest.raises(ConfigurationError, match="final"):
        await session.decide("000002-approval", ALLOW)


@pytest.mark.asyncio
async def test_a_person_can_end_the_run():
    bank, model = Bank(), ScriptedModel(transfer(500.0), "never")
    session = session_of(model, [bank.tool], policy=politica)
    await run(bank.agent, "Pay", session)
    await session.decide("000002-approval", STOP)
    steps = await run(bank.agent, "Pay", session)

    assert final_of(steps).reason == "terminated"
    assert bank.sent == []


@pytest.mark.asyncio
async def test_deciding_twice_the_same_is_deciding_once():
    bank, model = Bank(), ScriptedModel(transfer(500.0), "Paid.")
    session = session_of(model, [bank.tool], policy=politica)
    await run(bank.agent, "Pay", session)
    await session.decide("000002-approval", ALLOW)
    await session.decide("000002-approval", ALLOW)

    assert len([e for e in (await session.state()).events if e.kind == "approval"]) == 2


@pytest.mark.asyncio
async def test_what_decides_nothing_is_refused_and_the_run_still_waits(given):
    bank = Bank()
    session = session_of(ScriptedModel(transfer(500.0), "Done."), [bank.tool], policy=politica)
    await run(bank.agent, "Go", session)
    waiting = await session.waiting()

    with pytest.raises(ConfigurationError, match="A person decides ALLOW, DENY_STEP or"):
        await session.decide(waiting.step_id, given)

    assert await session.waiting() == waiting
    assert bank.sent == []
