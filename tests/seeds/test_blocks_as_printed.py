"""Every code block of the two documents on the framework runs as it is printed.

Only what a block elides is filled in. Where the documents are not beside the checkout these tests
are skipped; the same code in our own words runs always (docs/rules.md says where).
"""

import ast
import importlib.util
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.agents import MODEL, done, final_of, run, session_of
from support.loopback import Answer, LoopbackServer, chat_body, chat_stream
from support.seeds import SEEDS, Block, seed_lines

import synaptum
from synaptum import (
    ALLOW,
    SPANISH,
    Agent,
    ConfigurationError,
    Decision,
    Disposition,
    Limits,
    LocalGateway,
    MemoryCheckpointer,
    Risk,
    Session,
    ToolResult,
    Usage,
    cap_tool_output,
    economy,
    tool,
)
from synaptum.testing import ScriptedModel, calls, says
from synaptum.wording import use_wording

pytestmark = pytest.mark.skipif(
    set(SEEDS) != {"000", "001"},
    reason="the founding documents are not beside this checkout (../shared/seeds)",
)

#: First and last line of every code block, and of every text that the code prints.
BLOCKS = {
    "000": [
        (5, 14), (24, 26), (44, 47), (63, 63), (75, 75), (83, 85), (116, 116), (118, 121),
        (133, 133),
    ],
    "001": [
        (5, 5), (19, 22), (32, 35), (49, 50), (60, 62), (70, 72), (82, 85), (87, 91), (101, 102),
        (114, 116), (129, 133), (153, 153), (157, 162),
    ],
}  # fmt: skip


def is_code(line):
    """Whether a line alone is Python that does something, or opens a block of it."""
    text = line.strip()
    if text.startswith(("def ", "class ", "async def ", "async with ", "async for ", "@")):
        return True
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return False
    words = (ast.Name, ast.Constant)  # a heading of one word, a number
    return any(not (isinstance(s, ast.Expr) and isinstance(s.value, words)) for s in statements)


@pytest.mark.parametrize("number", ["000", "001"])
def test_no_line_of_code_stands_outside_of_the_blocks(number):
    inside = {line for first, last in BLOCKS[number] for line in range(first, last + 1)}
    code = [place for place, line in enumerate(seed_lines(number), 1) if is_code(line)]

    assert [place for place in code if place not in inside] == []
    assert len(code) > 15


def run_block(number, first, last, **names):
    return Block(number, first, last).run(**names)


@pytest.mark.asyncio
async def test_the_schema_comes_from_the_signature():
    printed = run_block("000", 5, 14)["contar_lineas"]

    assert printed.definition.description == "Cuenta las líneas de un fichero del proyecto."
    assert printed.definition.parameters == {
        "type": "object",
        "properties": {
            "fichero": {"type": "string", "description": "Ruta relativa a la raíz del proyecto"},
            "maximo": {"type": "integer", "default": 100},
        },
        "required": ["fichero"],
        "additionalProperties": False,
    }
    assert (await printed.invoke("c1", {"fichero": "a.txt"})).text == ""


@pytest.mark.asyncio
async def test_risk_is_declared_and_the_policy_asks_above_the_cap():
    transferir = run_block("000", 24, 26, tool=tool, Risk=Risk)["transferir"]
    names = {"Risk": Risk, "Decision": Decision, "Disposition": Disposition, "ALLOW": ALLOW}
    politica = run_block("000", 44, 47, **names)["politica"]
    model = ScriptedModel(
        calls("transferir", destino="ES1", importe=100.0),
        calls("transferir", destino="ES1", importe=100.5),
    )
    session = session_of(model, [transferir], policy=politica)
    steps = await run(Agent("a", model=MODEL, tools=[transferir]), "Paga", session)

    assert [step.risk for step in done(steps, "tool")] == [Risk.DESTRUCTIVE] * 2
    assert steps[-1].kind == "approval"
    assert steps[-1].meta["decision"]["reason_code"] == "tope"


def test_the_caps_default_and_its_notice():
    assert eval(Block("000", 63, 63).text, {"Limits": Limits}) == Limits()

    capped = cap_tool_output(ToolResult.of("c1", "x" * 92_000), max_chars=396, wording=SPANISH)
    assert Block("000", 75, 75).text in capped.text


@pytest.mark.asyncio
async def test_forty_tools_become_two():
    las_cuarenta = [tool(lambda: "hecho", name=f"t{n}", description="Hace.") for n in range(40)]
    block = Block("000", 83, 85).fill("model=…", f"model={MODEL!r}")
    space = block.run(Agent=Agent, las_cuarenta=las_cuarenta)

    assert space["merece_la_pena"](las_cuarenta)
    offered = [definition.name for definition in space["agente"].plan.definitions]
    assert offered == ["buscar_herramientas", "usar_herramienta"]


def test_the_extra_that_is_installed_for_mcp_exists():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]

    for number, line in (("000", 116), ("001", 32)):
        extra = Block(number, line, line).text.split("synaptum[", 1)[1].split("]", 1)[0]
        assert extra in project["optional-dependencies"]


@pytest.mark.asyncio
@pytest.mark.skipif(
    importlib.util.find_spec("mcp") is None or importlib.util.find_spec("mcp_server_git") is None,
    reason="needs the extra pytest-synaptum[mcp] and mcp-server-git",
)
async def test_the_tools_of_a_git_server_are_an_agents(tmp_path, monkeypatch):
    import subprocess

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    block = Block("000", 118, 121)
    block.fill('"uvx", "mcp-server-git"', f'{sys.executable!r}, "-m", "mcp_server_git"')
    block.fill("model=...", f"model={MODEL!r}")
    seen = Block("000", 133, 133).fill("repo", "git").text
    block.text += f"\n    shown = {seen.split('#')[0].removeprefix('print').strip()}"
    names = await block.run_async(Agent=Agent)

    offered = [definition.name for definition in names["agente"].plan.definitions]
    assert offered
    assert all(name.startswith("git.") for name in offered)
    assert "git.git_reset" in names["shown"]
    assert "git.git_status" not in names["shown"]


def test_a_model_is_named_with_the_prefix_of_its_provider():
    agent = eval(Block("001", 5, 5).text, {"Agent": Agent})

    assert agent.plan.model == "openai-compatible:qwen3-8b"
    assert agent.plan.wire_model == "qwen3-8b"


@pytest.mark.asyncio
async def test_the_direct_transport_and_its_stream():
    answers = [
        Answer(body=chat_body("Hola.")),
        Answer(chunks=chat_stream(["Hola", " otra", " vez."])),
    ]
    with LoopbackServer(answers) as server:
        block = Block("001", 19, 22).fill("http://localhost:8080/v1", server.base_url)
        gateway = block.fill("[...]", "[]").run()["gateway"]
        agente = Agent("a", model=MODEL)
        steps = await run(agente, "Hola", Session("r1", gateway))
        written = []
        block = Block("001", 114, 116)
        await block.run_async(
            agente=agente,
            tarea="Hola",
            sesion=Session("r2", gateway),
            print=lambda text, **_: written.append(text),
        )

    assert final_of(steps).output == "Hola."
    assert "".join(written) == "Hola otra vez."


@pytest.mark.skipif(
    importlib.util.find_spec("axonium") is None, reason="needs the extra pytest-synaptum[axonium]"
)
def test_the_bridge_to_a_platform_stands_in_a_gateway(monkeypatch):
    monkeypatch.setenv("AXONIUM_API_KEY", "key")
    block = Block("001", 32, 35).fill("AxoniumModel()", "AxoniumModel(token_provider=token)")
    gateway = block.fill("[...]", "[]").run(LocalGateway=LocalGateway, token=lambda _: "t")

    assert isinstance(gateway["gateway"], LocalGateway)
    assert not hasattr(gateway["puente"], "to_wire"), "it is no provider"


def test_what_nobody_measured_is_none():
    usage = eval(Block("001", 49, 49).text, {"Usage": Usage})
    unmeasured = Block("001", 50, 50).text.split("←")[0].strip("# \t")

    assert usage == Usage(100, 20, None, 80, None, True)
    assert unmeasured == "reasoning=None, cache_write=None"
    assert (usage.reasoning, usage.cache_write) == (None, None)


def test_the_measured_prefixes_have_the_printed_ratio():
    ratios = []
    for line in Block("001", 60, 62).text.splitlines():
        counts = dict(part.split("=") for part in line.split() if "=" in part)
        usage = Usage(input=int(counts["input"]), cache_read=int(counts["cache_read"]))
        ratios.append(round(usage.cache_hit_ratio, 3))

    assert ratios == [0.0, 0.998, 0.0]
    assert "99,8 %" in Block("001", 61, 61).text


@pytest.mark.asyncio
async def test_resuming_with_another_configuration_says_what_is_printed():
    leer, borrar = (tool(lambda: "", name=name, description="") for name in ("leer", "borrar"))
    model = ScriptedModel("Hecho.")
    session = session_of(model, [leer, borrar], run_id="r1")
    agent = Agent("a", model=MODEL, tools=[leer], wording=SPANISH)
    await run(agent, "Hola", session)
    other = Agent("a", model=MODEL, tools=[leer, borrar], wording=SPANISH)

    with pytest.raises(ConfigurationError) as caught:
        await run(other, "Hola", session)
    printed = " ".join(Block("001", 70, 72).text.split())
    assert f"{type(caught.value).__name__}: {caught.value}" == printed


@pytest.mark.asyncio
async def test_the_report_of_a_run_is_the_printed_one():
    look = tool(lambda: "nada", name="mira", description="Mira.")
    store, printed = MemoryCheckpointer(), []
    model = ScriptedModel(
        [calls("mira"), says("", usage=Usage(177, 200, cache_read=0))],
        says("Hecho.", usage=Usage(234, 178, cache_read=177)),
    )
    session = session_of(model, [look], run_id="run-1", checkpointer=store)
    await run(Agent("a", model=MODEL, tools=[look]), "Mira", session)

    with use_wording(SPANISH):  # the document speaks Spanish, the default does not
        await Block("001", 82, 85).run_async(store=store, print=printed.append)
    assert printed == [Block("001", 87, 91).text]


@pytest.mark.asyncio
async def test_a_rewritten_prefix_is_reported_with_the_printed_lines():
    look = tool(lambda: "nada", name="mira", description="Mira.")
    store, said = MemoryCheckpointer(), iter(["Sé breve.", "Sé exacto."])
    agent = Agent("a", model=MODEL, tools=[look], instructions=lambda: next(said))
    session = session_of(ScriptedModel(calls("mira"), "Hecho."), [look], checkpointer=store)
    await run(agent, "Mira", session)

    lines = economy(await store.load("r1")).report(wording=SPANISH).splitlines()
    printed = Block("001", 101, 102).text.replace("000001-model", "000002-model")
    assert printed in "\n".join(lines), "the printed run had no step of a tool between its turns"


@pytest.mark.asyncio
async def test_leaving_the_stream_is_the_cancellation():
    model = ScriptedModel("Una respuesta larga que nadie lee entera.")
    session, seen = session_of(model), []

    def suficiente(event):
        seen.append(event)
        return event.kind == "text_delta"

    agente = Agent("a", model=MODEL)
    await Block("001", 129, 133).run_async(
        agente=agente, tarea="Cuenta", sesion=session, suficiente=suficiente
    )

    assert [event.phase.value for event in (await session.state()).events] == ["attempted"]
    assert seen[-1].text == "Una "


def test_the_limits_of_retries_are_the_defaults():
    assert eval(Block("001", 153, 153).text, {"Limits": Limits}) == Limits()


@pytest.mark.asyncio
async def test_a_dataclass_is_enough_for_an_output():
    block = Block("001", 157, 162).fill("model=...", f"model={MODEL!r}")
    block.fill("Agent(", "agente = Agent(")
    space = block.run(Agent=Agent, dataclass=dataclass)
    model = ScriptedModel('{"causa": "disco", "confianza": 0.9}')
    steps = await run(space["agente"], "¿Qué pasa?", session_of(model))

    assert final_of(steps).output == space["Diagnostico"]("disco", 0.9)


def test_every_name_that_the_blocks_import_is_public():
    for number, blocks in BLOCKS.items():
        for first, last in blocks:
            for line in Block(number, first, last).text.splitlines():
                if line.startswith("from synaptum import "):
                    names = line.removeprefix("from synaptum import ").split(", ")
                    assert set(names) <= set(synaptum.__all__), line
