"""The code of the seeds' page on tools, as printed; only what it elides is filled in."""

from typing import Annotated

import pytest

from synaptum.tools import cap_tool_output, deferred, merece_la_pena, tool
from synaptum.vocabulary import ALLOW, Decision, Disposition, Risk, ToolResult
from synaptum.wording import SPANISH


@tool
async def contar_lineas(
    fichero: Annotated[str, "Ruta relativa a la raíz del proyecto"],
    maximo: int = 100,
) -> str:
    """Cuenta las líneas de un fichero del proyecto."""
    return f"{fichero}: {maximo}"


@tool(risk=Risk.DESTRUCTIVE)
async def transferir(destino: str, importe: float) -> str:
    """Ordena una transferencia."""
    return f"{destino}: {importe}"


def politica(check):
    if check.risk is Risk.DESTRUCTIVE and check.arguments.get("importe", 0) > 100:
        return Decision(disposition=Disposition.REQUIRE_APPROVAL, reason_code="tope")
    return ALLOW


def test_the_schema_is_what_the_page_says_the_model_sees():
    definition = contar_lineas.definition

    assert definition.description == "Cuenta las líneas de un fichero del proyecto."
    assert definition.parameters == {
        "type": "object",
        "properties": {
            "fichero": {
                "type": "string",
                "description": "Ruta relativa a la raíz del proyecto",
            },
            "maximo": {"type": "integer", "default": 100},
        },
        "required": ["fichero"],
        "additionalProperties": False,
    }


@pytest.mark.asyncio
async def test_the_tools_of_the_page_run():
    counted = await contar_lineas.invoke("c1", {"fichero": "a.txt"})
    paid = await transferir.invoke("c2", {"destino": "ES12", "importe": 250})

    assert (counted.text, paid.text) == ("a.txt: 100", "ES12: 250.0")


@pytest.mark.asyncio
async def test_the_policy_of_the_page_sees_risk_and_amount():
    from synaptum.gateway.base import CallContext
    from synaptum.gateway.local import LocalGateway
    from synaptum.vocabulary import ToolCall

    asked = []

    def recorded(check):
        decision = politica(check)
        asked.append((check.name, decision.reason_code))
        return ALLOW

    gateway = LocalGateway(tools=[transferir], policy=recorded)
    for amount in (50, 500):
        call = ToolCall("c1", "transferir", {"destino": "ES12", "importe": amount})
        await gateway.invoke_tool(call, CallContext("r1", "000001-tool"))

    assert asked == [("transferir", ""), ("transferir", "tope")]


def test_the_notice_of_the_page_is_printed_to_the_letter():
    capped = cap_tool_output(ToolResult.of("c1", "x" * 92_000), max_chars=396, wording=SPANISH)

    assert (
        "[… recortado: 91.700 de 92.000 caracteres. Pide un rango concreto si necesitas lo que"
        " falta …]" in capped.text
    )


def test_forty_tools_become_the_two_of_the_page():
    las_cuarenta = [tool(name=f"herramienta_{n}")(lambda: "") for n in range(40)]

    assert merece_la_pena(las_cuarenta)
    assert [item.name for item in deferred(las_cuarenta)] == [
        "buscar_herramientas",
        "usar_herramienta",
    ]
