"""A catalogue behind two fixed tools: found by words, called with its real schema."""

import json
import subprocess
import sys
from typing import Annotated

import pytest

from synaptum.errors import ConfigurationError, NeedsHumanError, ToolExecutionError
from synaptum.tools import (
    ResolvesCalls,
    deferred,
    merece_la_pena,
    select_tools,
    tool,
    worth_deferring,
)
from synaptum.vocabulary import Risk, ToolDefinition
from synaptum.wording import SPANISH, use_wording


@tool(idempotent=True)
def leer_fichero(ruta: Annotated[str, "Ruta del fichero"]) -> str:
    """Lee un fichero del proyecto."""
    return f"contenido de {ruta}"


@tool(idempotent=True)
def traducción(texto: str) -> str:
    """Traduce un texto."""
    return texto


@tool(risk=Risk.HARD_WRITE)
def send_invoice(customer: str, amount: float) -> str:
    """Sends an invoice by mail."""
    return f"{customer}: {amount}"


@tool(risk=Risk.SOFT_WRITE, idempotent=True)
def listFiles(folder: str = ".") -> list[str]:
    """Lists what a folder holds."""
    return ["a", "b"]


CATALOGUE = [leer_fichero, traducción, send_invoice, listFiles]


def numbered(count):
    return [tool(name=f"t{index}")(lambda: "") for index in range(count)]


def test_two_fixed_tools_stand_for_the_catalogue():
    search, dispatch = deferred(CATALOGUE)

    assert [search.name, dispatch.name] == ["buscar_herramientas", "usar_herramienta"]
    assert search.definition.parameters["required"] == ["consulta"]
    assert dispatch.definition.parameters["required"] == ["nombre", "argumentos"]


def test_their_definitions_do_not_depend_on_what_is_behind_but_for_the_risk():
    first = [item.definition for item in deferred([leer_fichero])]
    second = [item.definition for item in deferred([traducción])]

    assert first == second


def test_the_prefix_is_a_small_part_of_what_the_catalogue_takes():
    forty = [
        tool(name=f"operation_{index}", description="Does one of many things. " * 3)(send_invoice)
        for index in range(40)
    ]

    def size(tools):
        return sum(
            len(json.dumps(item.definition.parameters)) + len(item.definition.description)
            for item in tools
        )

    assert size(deferred(forty)) * 10 < size(forty)


def test_risk_is_never_laundered_and_idempotence_needs_all():
    _, dispatch = deferred(CATALOGUE)
    _, harmless = deferred([leer_fichero, traducción])

    assert (dispatch.definition.risk, dispatch.definition.idempotent) == (Risk.HARD_WRITE, False)
    assert (harmless.definition.risk, harmless.definition.idempotent) == (Risk.READ, True)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("leer", ["leer_fichero"]),
        ("TRADUCCION", ["traducción"]),
        ("files", ["listFiles"]),
        ("mail the invoices", ["send_invoice"]),
        ("ruta", ["leer_fichero"]),
        ("send_invoice", ["send_invoice"]),
    ],
)
async def test_search_finds_by_name_description_and_parameters(query, names):
    search, _ = deferred(CATALOGUE)

    result = await search.invoke("c1", {"consulta": query})

    found = json.loads(result.text)
    assert [entry["name"] for entry in found][:1] == names
    assert found == result.structured


@pytest.mark.asyncio
async def test_a_found_tool_comes_with_its_whole_schema():
    search, _ = deferred(CATALOGUE)

    result = await search.invoke("c1", {"consulta": "invoice"})

    assert result.structured[0] == {
        "name": "send_invoice",
        "description": "Sends an invoice by mail.",
        "parameters": send_invoice.definition.parameters,
    }


@pytest.mark.asyncio
async def test_at_most_five_are_given_and_ties_keep_the_catalogues_order():
    search, _ = deferred([tool(name=f"paint_{c}")(lambda: "") for c in "zyxwvut"])

    result = await search.invoke("c1", {"consulta": "paint"})

    assert [entry["name"] for entry in result.structured] == [f"paint_{c}" for c in "zyxwv"]


@pytest.mark.asyncio
async def test_a_search_without_a_match_gives_the_names():
    search, _ = deferred(CATALOGUE)

    with use_wording(SPANISH):
        result = await search.invoke("c1", {"consulta": "¿?"})

    assert result.text == (
        "Ninguna herramienta coincide. Los nombres son: leer_fichero, traducción, send_invoice,"
        " listFiles."
    )
    assert not result.is_error


@pytest.mark.asyncio
async def test_the_dispatcher_runs_the_tool_that_was_named():
    _, dispatch = deferred(CATALOGUE)

    result = await dispatch.invoke(
        "c9", {"nombre": "send_invoice", "argumentos": {"customer": "Ana", "amount": 3}}
    )

    assert (result.call_id, result.text, result.is_error) == ("c9", "Ana: 3.0", False)


@pytest.mark.asyncio
async def test_arguments_written_as_json_text_are_read_once():
    _, dispatch = deferred(CATALOGUE)
    arguments = {"nombre": "leer_fichero", "argumentos": '{"ruta": "x"}'}

    assert (await dispatch.invoke("c1", arguments)).text == "contenido de x"
    assert dispatch.resolve_call(arguments) == (leer_fichero, {"ruta": "x"})


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"nombre": "send_invoice", "argumentos": {"customer": "Ana"}}, "amount is required"),
        (
            {"nombre": "send_invoice", "argumentos": {"customer": "Ana", "amount": "3"}},
            'At $.amount: expected number, found string "3".',
        ),
        ({"nombre": "send_invoice", "argumentos": "[1]"}, "expected object"),
        ({"nombre": "send_invoice"}, "argumentos is required"),
        ({"nombre": "nothing", "argumentos": {}}, "leer_fichero, traducción, send_invoice"),
    ],
)
async def test_a_mistake_is_answered_to_the_model(arguments, told):
    _, dispatch = deferred(CATALOGUE)

    result = await dispatch.invoke("c1", arguments)

    assert result.is_error
    assert told in result.text


@pytest.mark.asyncio
async def test_a_mistake_is_answered_with_the_real_schema():
    _, dispatch = deferred(CATALOGUE)

    result = await dispatch.invoke("c1", {"nombre": "send_invoice", "argumentos": {}})

    schema = json.dumps(
        send_invoice.definition.parameters, ensure_ascii=False, separators=(",", ":")
    )
    assert schema in result.text


def test_the_policy_can_see_what_will_really_run():
    search, dispatch = deferred(CATALOGUE)

    assert isinstance(dispatch, ResolvesCalls)
    assert dispatch.resolve_call({"nombre": "send_invoice", "argumentos": {"amount": 5}}) == (
        send_invoice,
        {"amount": 5},
    )
    assert dispatch.resolve_call({"nombre": "nothing", "argumentos": {}}) is None
    assert dispatch.resolve_call({}) is None
    assert dispatch.catalogue == tuple(CATALOGUE)
    assert not isinstance(search, ResolvesCalls)


@pytest.mark.asyncio
async def test_failures_of_the_inner_tool_keep_their_meaning():
    @tool(idempotent=True)
    def busy() -> str:
        raise ToolExecutionError("busy", retryable=True)

    @tool(idempotent=True)
    def ask() -> str:
        raise NeedsHumanError("who?")

    _, safe = deferred([busy, ask])
    _, unsafe = deferred([busy, send_invoice])

    with pytest.raises(ToolExecutionError, match="busy"):
        await safe.invoke("c1", {"nombre": "busy", "argumentos": {}})
    with pytest.raises(NeedsHumanError):
        await safe.invoke("c1", {"nombre": "ask", "argumentos": {}})
    result = await unsafe.invoke("c1", {"nombre": "busy", "argumentos": {}})
    assert result.is_error
    assert result.text.startswith("busy failed: busy.")


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ([], "no tools"),
        ([leer_fichero, leer_fichero], "Two tools are called"),
        ([tool(name="usar_herramienta")(lambda: "")], "own name"),
    ],
)
def test_a_catalogue_that_cannot_work_is_refused(tools, reason):
    with pytest.raises(ConfigurationError, match=reason):
        deferred(tools)


def test_deferring_pays_from_about_fifteen_tools_on():
    assert [merece_la_pena(numbered(count)) for count in (1, 14, 15, 40)] == [
        False,
        False,
        True,
        True,
    ]
    assert worth_deferring is merece_la_pena


def test_tools_can_be_chosen_once_for_a_task_in_the_catalogues_order():
    chosen = select_tools(CATALOGUE, "envía: list the files and send an invoice", limit=2)

    assert [item.name for item in chosen] == ["send_invoice", "listFiles"]
    assert select_tools(CATALOGUE, "zzz") == []


def test_words_of_scripts_without_spaces_are_found():
    weather = tool(name="weather", description="東京の天気予報を調べる")(lambda: "")

    assert select_tools([leer_fichero, weather], "天気") == [weather]


@pytest.mark.parametrize("limit", [0, -1, 2.0, True, None])
def test_a_number_of_tools_to_choose_that_is_none_is_refused(limit):
    with pytest.raises(ConfigurationError, match=r"select_tools\(limit="):
        select_tools(CATALOGUE, "list the files", limit)


class Raises:
    """A tool that was not made by `@tool`, and breaks in a way of its own."""

    name = "raises"

    def __init__(self, error, *, idempotent=False):
        self.definition = ToolDefinition(
            "raises", "", {"type": "object", "properties": {}}, idempotent=idempotent
        )
        self.error = error

    async def invoke(self, call_id, arguments):
        raise self.error


@pytest.mark.asyncio
async def test_a_failure_behind_the_dispatcher_names_the_tool_that_failed():
    _, use = deferred([Raises(ValueError("odd"))])

    result = await use.invoke("c1", {"nombre": "raises", "argumentos": {}})

    assert result.is_error
    assert result.text.startswith("raises failed: ValueError: odd.")


@pytest.mark.asyncio
async def test_a_failure_behind_the_dispatcher_that_may_pass_can_be_repeated_where_all_can():
    _, use = deferred([Raises(TimeoutError("slow"), idempotent=True)])

    with pytest.raises(ToolExecutionError, match="TimeoutError: slow") as caught:
        await use.invoke("c1", {"nombre": "raises", "argumentos": {}})
    assert caught.value.retryable


@pytest.mark.asyncio
async def test_a_setup_that_is_wrong_behind_the_dispatcher_is_the_callers_business():
    _, use = deferred([Raises(ConfigurationError("the server is closed"))])

    with pytest.raises(ConfigurationError, match="the server is closed"):
        await use.invoke("c1", {"nombre": "raises", "argumentos": {}})


def test_every_process_finds_the_same_in_the_same_order():
    code = (
        "from synaptum.tools import select_tools, tool\n"
        "from synaptum.tools.search import ToolIndex\n"
        "names = ['read file', 'file reader', 'write files', 'remove file', 'fil', 'filer']\n"
        "tools = [tool(name=n)(lambda: '') for n in names]\n"
        "print([t.name for t in ToolIndex(tools).search('read the files file', 5)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(outputs) == 1
