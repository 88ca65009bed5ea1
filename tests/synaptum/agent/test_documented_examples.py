"""The code blocks of the framework's founding documents that concern the agent, run as they are.

Only what they elide is filled in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
from support.agents import MODEL, final_of, run, session_of
from support.loopback import Answer, LoopbackServer, chat_body, chat_stream

from synaptum import (
    ALLOW,
    Agent,
    Decision,
    Disposition,
    Limits,
    MemoryCheckpointer,
    Risk,
    Session,
    Usage,
    tool,
)
from synaptum.testing import FakeClock, ScriptedModel, calls, fails, says


@tool
async def contar_lineas(
    fichero: Annotated[str, "Ruta relativa a la raíz del proyecto"],
    maximo: int = 100,
) -> str:
    """Cuenta las líneas de un fichero del proyecto."""
    return f"{fichero}: {maximo} líneas"


@pytest.mark.asyncio
async def test_the_schema_comes_from_the_signature():
    model = ScriptedModel(calls("contar_lineas", fichero="a.txt"), "Cien.")
    agente = Agent("a", model=MODEL, tools=[contar_lineas])
    await run(agente, "Cuenta", session_of(model, [contar_lineas]))

    offered = model.requests[0].tools[0]
    assert offered.name == "contar_lineas"
    assert offered.description == "Cuenta las líneas de un fichero del proyecto."
    assert offered.parameters["required"] == ["fichero"]
    assert model.requests[1].messages[-1].content[0].text == "a.txt: 100 líneas"


@pytest.mark.asyncio
async def test_risk_is_declared_and_the_policy_decides_by_the_amount():
    @tool(risk=Risk.DESTRUCTIVE)
    async def transferir(destino: str, importe: float) -> str:
        """Ordena una transferencia."""
        return "ordenada"

    def politica(check):
        if check.risk is Risk.DESTRUCTIVE and check.arguments.get("importe", 0) > 100:
            return Decision(disposition=Disposition.REQUIRE_APPROVAL, reason_code="tope")
        return ALLOW

    small = calls("transferir", destino="ES1", importe=100.0)
    large = calls("transferir", destino="ES1", importe=100.5)
    model = ScriptedModel(small, large)
    session = session_of(model, [transferir], policy=politica)
    steps = await run(Agent("a", model=MODEL, tools=[transferir]), "Paga", session)

    assert [check.decision.reason_code for check in session.gateway.checks if check.arguments] == [
        "",
        "tope",
    ]
    assert steps[-1].kind == "approval"


def test_the_cap_on_tool_results_is_on_by_default():
    assert Limits(max_tool_chars=16_000) == Limits()


@pytest.mark.asyncio
async def test_a_large_catalogue_is_two_tools_in_the_prefix():
    from synaptum import deferred, merece_la_pena

    las_cuarenta = [
        tool(lambda: "hecho", name=f"tarea_{i}", description=f"Hace la tarea número {i}.")
        for i in range(40)
    ]
    assert merece_la_pena(las_cuarenta)
    assert not merece_la_pena(las_cuarenta[:10])

    catalogo = deferred(las_cuarenta)
    agente = Agent("a", model=MODEL, tools=catalogo)
    model = ScriptedModel(
        calls("buscar_herramientas", consulta="tarea número 7"),
        calls("usar_herramienta", nombre="tarea_7", argumentos={}),
        "Hecho.",
    )
    steps = await run(agente, "Haz la siete", session_of(model, catalogo))

    names = {tuple(t.name for t in request.tools) for request in model.requests}
    assert names == {("buscar_herramientas", "usar_herramienta")}
    assert "tarea_7" in model.requests[1].messages[-1].content[0].text
    assert model.requests[2].messages[-1].content[0].text == "hecho"
    assert final_of(steps).output == "Hecho."


@pytest.mark.asyncio
async def test_the_prefix_of_a_model_does_not_travel():
    model = ScriptedModel("Hola.")
    await run(Agent("a", model="openai-compatible:qwen3-8b"), "Hola", session_of(model))

    assert model.requests[0].model == "qwen3-8b"


@pytest.mark.asyncio
async def test_the_development_transport_runs_an_agent_whole_and_streamed():
    from synaptum import HttpModel, LocalGateway

    answers = [
        Answer(body=chat_body("Hola.")),
        Answer(chunks=chat_stream(["Hola", " otra", " vez."])),
    ]
    with LoopbackServer(answers) as server:
        modelo = HttpModel(server.base_url, api_key=None)
        gateway = LocalGateway(model=modelo, stream=modelo.stream, tools=[contar_lineas])
        agente = Agent("a", model=MODEL, tools=[contar_lineas])
        steps = await run(agente, "Hola", Session("r1", gateway))
        written = []
        async for evento in agente.stream("Hola", session=Session("r2", gateway)):
            if evento.kind == "text_delta":
                written.append(evento.text)

    assert final_of(steps).output == "Hola."
    assert "".join(written) == "Hola otra vez."


def test_usage_has_three_states():
    usage = Usage(input=100, output=20, cache_read=80, estimated=True)

    assert (usage.reasoning, usage.cache_write) == (None, None)
    assert (usage + Usage.zero()).reasoning is None


@pytest.mark.asyncio
async def test_what_a_run_cost_comes_from_its_journal_alone():
    from synaptum import SPANISH, economy

    store = MemoryCheckpointer()
    model = ScriptedModel(
        [says("", usage=Usage(177, 200, cache_read=0)), calls("contar_lineas", fichero="a")],
        says("Cien.", usage=Usage(234, 178, cache_read=177)),
    )
    agente = Agent("a", model=MODEL, tools=[contar_lineas])
    session = session_of(model, [contar_lineas], run_id="run-1", checkpointer=store)
    await run(agente, "Cuenta", session)

    informe = economy(await store.load("run-1"))
    assert informe.report(wording=SPANISH).splitlines() == [
        "Run run-1 · 2 turnos",
        "  caché      43% de la entrada servida de caché",
        "  crecimiento +57 tokens de entrada por turno",
        "  prefijo    estable durante todo el run",
        "  total      entrada=411 salida=378 caché=177",
    ]


@pytest.mark.asyncio
async def test_cancelling_is_to_stop_iterating():
    model = ScriptedModel("Una respuesta larga que nadie lee entera.")
    agente, sesion = Agent("a", model=MODEL), session_of(model)
    leido = []

    def suficiente(evento):
        leido.append(evento)
        return evento.kind == "text_delta"

    flujo = agente.stream("Cuenta", session=sesion)
    async for evento in flujo:
        if suficiente(evento):
            break
    await flujo.aclose()  # esto es la señal

    assert len((await sesion.state()).events) == 1
    assert leido[-1].text == "Una "


@pytest.mark.asyncio
async def test_the_limits_of_retries_are_the_documented_ones():
    assert Limits(max_retries=2, retry_base=0.5, max_retry_wait=30.0) == Limits()

    clock, model = FakeClock(), ScriptedModel(fails(503), fails(503), "ok")
    await run(Agent("a", model=MODEL), "Hola", session_of(model, clock=clock))
    assert clock.slept == [0.5, 1.0]


@dataclass
class Diagnostico:
    causa: str
    confianza: float


@pytest.mark.asyncio
async def test_a_standard_dataclass_is_enough_for_an_output():
    model = ScriptedModel('{"causa": "disco", "confianza": 0.9}')
    steps = await run(Agent("a", model=MODEL, output=Diagnostico), "¿Qué pasa?", session_of(model))

    assert final_of(steps).output == Diagnostico("disco", 0.9)
