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
async def test_what_decides_nothing_is_refused():
    session = session_of(ScriptedModel("x"))
    with pytest.raises(ConfigurationError, match="none"):
        await session.decide("000002-approval", ASK)
    with pytest.raises(ConfigurationError, match="no approval '000002-approval'"):
        await session.decide("000002-approval", ALLOW)


@pytest.mark.asyncio
async def test_calls_before_an_approval_are_not_run_again():
    bank = Bank()
    model = ScriptedModel([transfer(5.0), transfer(500.0), transfer(6.0)], "Paid.")
    session = session_of(model, [bank.tool], policy=politica)
    await run(bank.agent, "Pay", session)
    assert bank.sent == [("ES1", 5.0)]
    approval = await session.waiting()
    await session.decide(approval.step_id, ALLOW)
    await run(bank.agent, "Pay", session)

    assert bank.sent == [("ES1", 5.0), ("ES1", 500.0), ("ES1", 6.0)]
    results = model.requests[-1].messages[-1].content
    assert [result.text for result in results] == ["sent 5", "sent 500", "sent 6"]
    assert [result.call_id for result in results] == ["call_0_0", "call_0_1", "call_0_2"]


@pytest.mark.asyncio
async def test_an_approved_call_that_was_interrupted_is_uncertain():
    bank, model = Bank(), ScriptedModel(transfer(500.0), "Paid.")
    session = session_of(model, [bank.tool], policy=politica)
    await run(bank.agent, "Pay", session)
    await session.decide("000002-approval", ALLOW)
    events = bank.agent.run("Pay", session=session)
    async for step in events:
        if (step.step_id, step.phase) == ("000003-tool", Phase.ATTEMPTED):
            break
    await events.aclose()

    with pytest.raises(UncertainEffect) as caught:
        await run(bank.agent, "Pay", session)
    assert caught.value.step_id == "000003-tool"
    assert bank.sent == []


@pytest.mark.asyncio
async def test_a_tool_that_needs_a_human_suspends_the_run():
    approved = []

    @tool
    def contact(client: str) -> str:
        """Contact a client."""
        if client not in approved:
            raise NeedsHumanError("Call them first.")
        return "contacted"

    model = ScriptedModel(calls("contact", client="Ana"), "Done.")
    agent, session = Agent("a", model=MODEL, tools=[contact]), session_of(model, [contact])
    steps = await run(agent, "Go", session)
    assert steps[-1].kind == "approval"
    assert steps[-1].meta["message"] == "Call them first."

    approved.append("Ana")
    await session.decide(steps[-1].step_id, ALLOW)
    assert final_of(await run(agent, "Go", session)).output == "Done."
    assert model.requests[-1].messages[-1].content[0].text == "contacted"


@pytest.mark.asyncio
async def test_a_person_can_do_it_themselves_and_give_the_result():
    @tool
    def contact() -> str:
        """Contact a client."""
        raise NeedsHumanError("Call them.")

    model = ScriptedModel(calls("contact"), "Done.")
    agent, session = Agent("a", model=MODEL, tools=[contact]), session_of(model, [contact])
    await run(agent, "Go", session)
    await session.resolve("000001-tool", result="They agreed.")
    steps = await run(agent, "Go", session)

    assert final_of(steps).output == "Done."
    assert model.requests[-1].messages[-1].content[0].text == "They agreed."


@pytest.mark.asyncio
async def test_a_question_to_the_model_can_be_denied_and_asked_later():
    allowed = []

    def policy(check):
        return ALLOW if allowed else NO

    model = ScriptedModel("Hello.")
    agent, session = Agent("a", model=MODEL), session_of(model, policy=policy)
    with pytest.raises(Denied) as caught:
        await run(agent, "Hi", session)
    assert caught.value.decision == NO
    assert model.requests == []

    allowed.append(True)
    assert final_of(await run(agent, "Hi", session)).output == "Hello."


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_a_question_to_the_model_can_wait_for_a_person(how):
    model = ScriptedModel("Hello.")
    agent = Agent("a", model=MODEL)
    session = session_of(model, policy=lambda check: ASK)
    steps = await how(agent, "Hi", session)
    assert steps[-1].target == "000000-model"
    assert model.requests == []

    await session.decide(steps[-1].step_id, ALLOW)
    assert final_of(await how(agent, "Hi", session)).output == "Hello."
    assert len(model.requests) == 1


@pytest.mark.asyncio
async def test_a_persons_no_to_the_model_closes_the_run():
    model = ScriptedModel("never")
    agent = Agent("a", model=MODEL)
    session = session_of(model, policy=lambda check: ASK)
    await run(agent, "Hi", session)
    await session.decide("000001-approval", NO)

    assert final_of(await run(agent, "Hi", session)).reason == "denied"


@pytest.mark.asyncio
async def test_a_model_that_the_gateway_terminates_closes_the_run():
    model = ScriptedModel(denies(Disposition.TERMINATE_RUN, "quota"))
    steps = await run(Agent("a", model=MODEL), "Hi", session_of(model))

    assert final_of(steps).reason == "terminated"
    assert final_of(steps).meta["decision"]["reason_code"] == "quota"


@pytest.mark.asyncio
async def test_a_call_that_waits_for_a_decision_cannot_be_asked_to_run_again():
    bank, model = Bank(), ScriptedModel(transfer(500.0))
    session = session_of(model, [bank.tool], policy=politica)
    await run(bank.agent, "Pay", session)
    with pytest.raises(ConfigurationError, match=r"Session\.decide"):
        await session.resolve("000001-tool", rerun=True)


def test_a_session_needs_a_name():
    with pytest.raises(ConfigurationError, match="needs a name"):
        session_of(ScriptedModel(), run_id="")


@pytest.mark.asyncio
async def test_one_approval_allows_one_call():
    bank, model = Bank(), ScriptedModel([transfer(500.0), transfer(600.0)], "Paid one.")
    session = session_of(model, [bank.tool], policy=politica)
    await run(bank.agent, "Pay", session)
    await session.decide((await session.waiting()).step_id, ALLOW)
    await run(bank.agent, "Pay", session)
    assert bank.sent == [("ES1", 500.0)]

    second = await session.waiting()
    assert second.call.arguments["importe"] == 600.0
    await session.decide(second.step_id, NO)
    await run(bank.agent, "Pay", session)
    assert bank.sent == [("ES1", 500.0)]


@pytest.mark.asyncio
async def test_a_result_a_person_gave_is_that_calls_alone():
    @tool
    def contact(client: str) -> str:
        """Contact a client."""
        if client == "Ana":
            raise NeedsHumanError("Call her.")
        return f"contacted {client}"

    model = ScriptedModel([calls("contact", client="Ana"), calls("contact", client="Bo")], "Done.")
    agent, session = Agent("a", model=MODEL, tools=[contact]), session_of(model, [contact])
    await run(agent, "Go", session)
    await session.resolve("000001-tool", result="She agreed.")
    await run(agent, "Go", session)

    texts = [result.text for result in model.requests[-1].messages[-1].content]
    assert texts == ["She agreed.", "contacted Bo"]


@pytest.mark.asyncio
@pytest.mark.parametrize("given", [True, "allow", Disposition.ALLOW, None, ASK])
async def test_an_answer_that_is_no_decision_leaves_the_run_waiting(given):
    bank = Bank()
    session = session_of(ScriptedModel(transfer(500.0), "Done."), [bank.tool], policy=politica)
    await run(bank.agent, "Go", session)
    waiting = await session.waiting()

    with pytest.raises(ConfigurationError, match="A person decides ALLOW, DENY_STEP or"):
        await session.decide(waiting.step_id, given)

    assert await session.waiting() == waiting
    assert bank.sent == []
