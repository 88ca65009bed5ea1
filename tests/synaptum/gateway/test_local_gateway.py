"""The gateway in the process: it asks the policy, keeps each check, and carries out."""

from __future__ import annotations

import asyncio

import pytest

from synaptum import (
    ALLOW,
    CallContext,
    Check,
    ConfigurationError,
    Decision,
    Denied,
    Disposition,
    InvalidToolCallError,
    LocalGateway,
    Message,
    NeedsHumanError,
    NetworkError,
    Request,
    Risk,
    StreamStart,
    ToolCall,
    ToolExecutionError,
    ToolResult,
    deferred,
    fold,
    tool,
)
from synaptum.testing import ScriptedModel, calls, says, thinks

CONTEXT = CallContext("r1", "000001-tool")
REQUEST = Request(model="qwen3-8b", messages=(Message.user("Hi"),))
ASK = Decision(Disposition.REQUIRE_APPROVAL, "tope")


@tool(risk=Risk.DESTRUCTIVE)
async def transferir(destino: str, importe: float) -> str:
    """Ordena una transferencia."""
    return f"{importe:g} a {destino}"


def call(name="transferir", **arguments):
    return ToolCall("c1", name, arguments or {"destino": "ES1", "importe": 500.0})


@pytest.mark.asyncio
async def test_a_policy_sees_kind_name_risk_arguments_and_step():
    seen = []

    def policy(check):
        seen.append(check)
        return ALLOW

    model = ScriptedModel("ok")
    gateway = LocalGateway(model=model, tools=[transferir], policy=policy)
    await gateway.invoke_model(REQUEST, CallContext("r1", "000000-model"))
    await gateway.invoke_tool(call(), CONTEXT)

    asked, called = seen
    assert (asked.kind, asked.name, asked.risk, asked.arguments, asked.step_id) == (
        "model",
        "qwen3-8b",
        Risk.READ,
        {},
        "000000-model",
    )
    assert (called.kind, called.name, called.risk, called.step_id, called.run_id) == (
        "tool",
        "transferir",
        Risk.DESTRUCTIVE,
        "000001-tool",
        "r1",
    )
    assert called.arguments == {"destino": "ES1", "importe": 500.0}
    assert called.decision is None


@pytest.mark.asyncio
async def test_every_check_is_kept_with_its_decision_and_prints_in_one_line():
    no = Decision(Disposition.DENY_STEP, "tope")
    gateway = LocalGateway(
        model=ScriptedModel("ok"),
        tools=[transferir],
        policy=lambda check: no if check.kind == "tool" else ALLOW,
    )
    await gateway.invoke_model(REQUEST, CallContext("r1", "000000-model"))
    with pytest.raises(Denied) as caught:
        await gateway.invoke_tool(call(), CONTEXT)

    assert caught.value.decision == no
    assert [str(check) for check in gateway.checks] == [
        "000000-model model qwen3-8b (read): allow",
        "000001-tool tool transferir (destructive): deny_step tope",
    ]


@pytest.mark.asyncio
async def test_without_a_policy_all_is_allowed_and_still_kept():
    gateway = LocalGateway(tools=[transferir])
    result = await gateway.invoke_tool(call(), CONTEXT)

    assert result == ToolResult.of("c1", "500 a ES1")
    assert gateway.checks[0].decision == ALLOW


@pytest.mark.asyncio
async def test_silence_about_risk_reads_as_harmless():
    """A policy that denies what is destructive does not stop a tool that never said so."""

    @tool
    def erase_disks() -> str:
        """Erase all disks."""
        return "erased"

    def policy(check):
        return Decision(Disposition.DENY_STEP) if check.risk is Risk.DESTRUCTIVE else ALLOW

    gateway = LocalGateway(tools=[erase_disks], policy=policy)
    result = await gateway.invoke_tool(ToolCall("c1", "erase_disks", {}), CONTEXT)

    assert result.text == "erased"


@pytest.mark.asyncio
async def test_a_policy_may_be_async():
    async def policy(check):
        await asyncio.sleep(0)
        return Decision(Disposition.DENY_STEP)

    with pytest.raises(Denied):
        await LocalGateway(tools=[transferir], policy=policy).invoke_tool(call(), CONTEXT)


@pytest.mark.asyncio
async def test_a_policy_that_decides_nothing_is_a_mistake_and_nothing_runs():
    gateway = LocalGateway(tools=[transferir], policy=lambda check: True)
    with pytest.raises(ConfigurationError, match="returns a Decision"):
        await gateway.invoke_tool(call(), CONTEXT)


@pytest.mark.asyncio
async def test_an_approval_answers_the_question_and_nothing_else():
    approved = CallContext("r1", "000003-tool", ALLOW)
    asking = LocalGateway(tools=[transferir], policy=lambda check: ASK)
    assert (await asking.invoke_tool(call(), approved)).text == "500 a ES1"
    assert asking.checks[-1].decision == ALLOW

    no = Decision(Disposition.DENY_STEP)
    stricter = LocalGateway(tools=[transferir], policy=lambda check: no)
    with pytest.raises(Denied):
        await stricter.invoke_tool(call(), approved)


@pytest.mark.asyncio
async def test_a_check_of_a_deferred_catalogue_shows_the_inner_tool():
    tools = deferred([transferir])
    gateway = LocalGateway(tools=tools, policy=lambda check: ASK)
    arguments = {"nombre": "transferir", "argumentos": {"destino": "ES1", "importe": 5.0}}
    with pytest.raises(Denied):
        await gateway.invoke_tool(ToolCall("c1", "usar_herramienta", arguments), CONTEXT)

    check = gateway.checks[-1]
    assert check.inner_name == "transferir"
    assert check.inner_arguments == {"destino": "ES1", "importe": 5.0}
    assert check.risk is Risk.DESTRUCTIVE
    assert "usar_herramienta > transferir" in str(check)


@pytest.mark.asyncio
@pytest.mark.parametrize("takes", ["request", "context", "both", "keyword", "star", "bound"])
async def test_a_model_takes_the_request_or_the_request_and_the_context(takes):
    double = ScriptedModel("ok")
    got = []

    def one(request):
        return double(request)

    def two(request, context):
        got.append(context)
        return double(request, context)

    def defaulted(request, context=None):
        got.append(context)
        return double(request)

    def unrelated(request, temperature=0.5):
        assert temperature == 0.5
        return double(request)

    def star(*arguments):
        got.append(arguments[1])
        return double(arguments[0])

    models = {
        "request": one,
        "context": two,
        "both": defaulted,
        "keyword": unrelated,
        "star": star,
        "bound": double.complete,
    }
    response = await LocalGateway(model=models[takes]).invoke_model(REQUEST, CONTEXT)

    assert response.text == "ok"
    assert got == ([CONTEXT] if takes in ("context", "both", "star") else [])


@pytest.mark.asyncio
async def test_a_plain_function_that_answers_at_once_is_a_model():
    answer = await ScriptedModel("ok").complete(REQUEST)
    response = await LocalGateway(model=lambda request: answer).invoke_model(REQUEST, CONTEXT)

    assert response is answer


@pytest.mark.asyncio
async def test_a_stream_is_derived_from_the_whole_answer():
    turn = [thinks("hm"), says("Yes."), says(""), calls("transferir", destino="ES1")]
    double = ScriptedModel(turn, strict=False)
    gateway = LocalGateway(model=double)
    events = [event async for event in gateway.stream_model(REQUEST, CONTEXT)]

    starts = [
        event.index
        for event in events
        if event.kind.endswith("_start") and event.kind != "stream_start"
    ]
    ends = [event.index for event in events if event.kind.endswith("_end")]
    assert events[0] == StreamStart()
    assert starts == ends == [0, 1, 2, 3]
    assert all(event.text for event in events if event.kind.endswith("text_delta"))
    assert fold(events) == await double.complete(REQUEST, CONTEXT)


@pytest.mark.asyncio
async def test_a_whole_answer_is_folded_from_a_stream():
    gateway = LocalGateway(stream=ScriptedModel("Hello.").stream)

    assert (await gateway.invoke_model(REQUEST, CONTEXT)).text == "Hello."


@pytest.mark.asyncio
async def test_a_stream_that_ends_early_is_no_answer():
    async def broken(request):
        yield StreamStart()

    with pytest.raises(NetworkError, match="no finish"):
        await LocalGateway(stream=broken).invoke_model(REQUEST, CONTEXT)


@pytest.mark.asyncio
async def test_a_stream_may_come_from_a_coroutine():
    double = ScriptedModel("Hello.")

    async def opened(request, context):
        return double.stream(request, context)

    gateway = LocalGateway(stream=opened)
    events = [event async for event in gateway.stream_model(REQUEST, CONTEXT)]

    assert fold(events).text == "Hello."


@pytest.mark.asyncio
async def test_a_denied_stream_asks_nothing():
    double = ScriptedModel("never")
    gateway = double.gateway(policy=lambda check: Decision(Disposition.DENY_STEP))
    with pytest.raises(Denied):
        async for _ in gateway.stream_model(REQUEST, CONTEXT):
            pass

    assert double.requests == []


@pytest.mark.asyncio
async def test_a_gateway_without_a_model_says_what_to_give_it():
    gateway = LocalGateway(tools=[transferir])
    with pytest.raises(ConfigurationError, match="has no model"):
        await gateway.invoke_model(REQUEST, CONTEXT)
    with pytest.raises(ConfigurationError, match="has no model"):
        async for _ in gateway.stream_model(REQUEST, CONTEXT):
            pass


@pytest.mark.asyncio
async def test_an_unknown_tool_is_named_with_those_there_are():
    with pytest.raises(InvalidToolCallError, match=r"'nowhere'.*\['transferir'\]"):
        await LocalGateway(tools=[transferir]).invoke_tool(call("nowhere"), CONTEXT)


class Foreign:
    """A tool written by hand, which may raise what it likes."""

    name = "foreign"
    definition = transferir.definition

    def __init__(self, error):
        self._error = error

    async def invoke(self, call_id, arguments):
        raise self._error


@pytest.mark.asyncio
async def test_an_unexpected_failure_of_a_tool_is_a_result_and_a_meant_one_passes():
    result = await LocalGateway(tools=[Foreign(ValueError("x"))]).invoke_tool(
        call("foreign"), CONTEXT
    )
    assert result.is_error
    assert "ValueError: x" in result.text
    lost = await LocalGateway(tools=[Foreign(NetworkError("gone"))]).invoke_tool(
        call("foreign"), CONTEXT
    )
    assert lost.is_error

    for error in (NeedsHumanError("p"), ToolExecutionError("t"), InvalidToolCallError("i")):
        with pytest.raises(type(error)):
            await LocalGateway(tools=[Foreign(error)]).invoke_tool(call("foreign"), CONTEXT)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ConfigurationError, match="'transferir'"):
        LocalGateway(tools=[transferir, transferir])


def test_a_bare_function_is_no_tool():
    with pytest.raises(ConfigurationError, match="@tool"):
        LocalGateway(tools=[lambda: None])


def test_a_check_that_is_not_decided_prints_without_a_decision():
    check = Check(kind="tool", name="leer", step_id="000001-tool")

    assert str(check) == "000001-tool tool leer (read)"
