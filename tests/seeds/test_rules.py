"""Rules of the founding documents that no other test shows by itself."""

import ast
from pathlib import Path

import pytest
from support.agents import MODEL, done, final_of, run, session_of, stream

import synaptum
from synaptum import (
    Agent,
    ApprovalStep,
    Decision,
    DelegateStep,
    Disposition,
    FinalStep,
    JsonlCheckpointer,
    Limits,
    MemoryCheckpointer,
    ModelStep,
    Phase,
    Risk,
    ToolStep,
    Usage,
    deferred,
    economy,
    tool,
)
from synaptum.testing import ScriptedModel, calls, says

PACKAGE = Path(synaptum.__file__).parent


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_the_intent_of_a_call_is_on_disk_before_it_runs(how, tmp_path):
    path, seen = tmp_path / "journal.jsonl", []

    @tool
    def charge() -> str:
        """Charges."""
        seen.append(path.read_text(encoding="utf-8").splitlines()[-1])
        return "charged"

    with JsonlCheckpointer(path) as store:
        model = ScriptedModel(calls("charge"), "Done.")
        session = session_of(model, [charge], checkpointer=store)
        await how(Agent("a", model=MODEL, tools=[charge]), "Charge", session)

    assert len(seen) == 1
    assert '"step_id":"000001-tool"' in seen[0]
    assert '"phase":"attempted"' in seen[0]


@pytest.mark.asyncio
async def test_a_risk_authorises_nothing_and_forbids_nothing_by_itself():
    ran = []

    @tool(risk=Risk.READ)
    def peek() -> str:
        """Peeks."""
        ran.append("peek")
        return ""

    @tool(risk=Risk.DESTRUCTIVE)
    def wipe() -> str:
        """Wipes."""
        ran.append("wipe")
        return ""

    def policy(check):
        no = check.kind == "tool" and check.risk is Risk.READ
        return Decision(Disposition.DENY_STEP if no else Disposition.ALLOW)

    tools = [peek, wipe]
    model = ScriptedModel([calls("peek"), calls("wipe")], "Done.")
    await run(Agent("a", model=MODEL, tools=tools), "Go", session_of(model, tools, policy=policy))

    assert ran == ["wipe"]


@pytest.mark.asyncio
async def test_the_model_sees_an_error_and_can_put_it_right():
    @tool
    def divide(a: int, b: int) -> float:
        """Divides."""
        return a / b

    model = ScriptedModel(calls("divide", a=1, b=0), calls("divide", a=1, b=2), "A half.")
    steps = await run(Agent("a", model=MODEL, tools=[divide]), "1/2?", session_of(model, [divide]))

    told = model.requests[1].messages[-1].content[0]
    assert told.is_error
    assert "ZeroDivisionError" in told.text
    assert [step.result.text for step in done(steps, "tool")][1] == "0.5"
    assert final_of(steps).output == "A half."


@pytest.mark.asyncio
async def test_the_journal_has_the_whole_result_and_the_context_the_capped_one():
    @tool
    def log() -> str:
        """Reads a log."""
        return "start " + "x" * 92_000 + " end"

    limits = Limits(max_tool_chars=400)
    model = ScriptedModel(calls("log"), "Read.")
    steps = await run(
        Agent("a", model=MODEL, tools=[log], limits=limits), "Read", session_of(model, [log])
    )

    sent = model.requests[1].messages[-1].content[0].text
    assert len(done(steps, "tool")[0].result.text) == 92_010
    assert len(sent) <= 400
    assert sent.startswith("start ")
    assert sent.endswith(" end")


@pytest.mark.asyncio
async def test_a_deferred_tool_costs_two_turns_and_leaves_the_prefix_alone():
    catalogue = [
        tool(lambda: "done", name=f"task_{n}", description=f"Does task number {n}.")
        for n in range(40)
    ]
    two = deferred(catalogue)
    store = MemoryCheckpointer()
    model = ScriptedModel(
        calls("buscar_herramientas", consulta="task number 7"),
        calls("usar_herramienta", nombre="task_7", argumentos={}),
        "Done.",
    )
    agent = Agent("a", model=MODEL, tools=two)
    await run(agent, "Do it", session_of(model, two, checkpointer=store))

    report = economy(await store.load("r1"))
    assert (report.turns, report.prefix_rewrites) == (3, 0)
    assert '"type":"object"' in model.requests[1].messages[-1].content[0].text.replace(" ", "")


@pytest.mark.asyncio
async def test_who_reads_a_run_gets_steps_alone_and_who_streams_gets_fragments_too():
    steps = (ModelStep, ToolStep, DelegateStep, ApprovalStep, FinalStep)
    agent = Agent("a", model=MODEL)

    whole = await run(agent, "Hi", session_of(ScriptedModel("Hello.")))
    streamed = await stream(agent, "Hi", session_of(ScriptedModel("Hello.")))

    assert all(isinstance(event, steps) for event in whole)
    kinds = [event.kind for event in streamed if not isinstance(event, steps)]
    assert kinds[0] == "stream_start"
    assert kinds[-1] == "finish"
    assert "text_delta" in kinds


@pytest.mark.asyncio
async def test_there_is_no_event_that_says_cancelled():
    agent, session = Agent("a", model=MODEL), session_of(ScriptedModel("A long answer."))
    events, seen = agent.stream("Hi", session=session), []
    async for event in events:
        seen.append(event)
        if event.kind == "text_delta":
            break
    await events.aclose()

    assert [event async for event in events] == []
    assert [step.phase for step in (await session.state()).events] == [Phase.ATTEMPTED]
    assert seen[-1].kind == "text_delta"


def test_the_report_speaks_of_tokens_and_sends_nothing_anywhere():
    source = (PACKAGE / "context" / "economy.py").read_text(encoding="utf-8")
    imported = {
        node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)
    }
    outside = {name for name in imported if not name.startswith("synaptum.")}
    report = economy(synaptum.RunState("r1")).report()

    assert outside == {"__future__", "dataclasses", "itertools"}
    assert not any(sign in report for sign in "$€£")


@pytest.mark.asyncio
async def test_a_turn_that_only_reasoned_keeps_its_reasoning_and_its_tokens():
    from synaptum.testing import thinks

    model = ScriptedModel([thinks("hm"), says("", usage=Usage(5, 9, reasoning=9))], "Here.")
    agent = Agent("a", model=MODEL)
    session = session_of(model)
    steps = await run(agent, "Hi", session)

    first = done(steps, "model")[0]
    assert first.response.message.content[0].text == "hm"
    assert first.usage.reasoning == 9
    assert final_of(steps).output == "Here."


def test_no_provider_opens_a_connection_or_reads_a_credential():
    allowed = {"synaptum.errors", "synaptum.canonical", "synaptum.vocabulary"}
    banned = {"socket", "http", "urllib", "ssl", "os", "asyncio", "threading", "pathlib"}
    for path in (PACKAGE / "providers" / "openai_compatible").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name.split(".")[0] not in banned, f"{path.name} imports {name}"
                if name.startswith("synaptum."):
                    home = ".".join(name.split(".")[:2])
                    assert home in {*allowed, "synaptum.providers"}, f"{path.name}: {name}"
