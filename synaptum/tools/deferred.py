"""A large catalogue behind two fixed tools, so that the stable prefix never changes.

The catalogue moves from the prefix to the history: the model asks for what it needs and the
schemas come back as a tool result, at the end, where growing costs no cache. It costs two
turns more and the typed call, which validating and answering a mistake with the real schema
makes up for in part; under about 15 tools it is worse than nothing, and `merece_la_pena`
says so. Source: seed 000, "Un catálogo grande".

The dispatcher has the highest risk of the catalogue, or hiding a tool would launder it; the
policy also gets the inner call (`resolve_call`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import (
    ConfigurationError,
    Denied,
    EncodingError,
    InvalidToolCallError,
    ToolExecutionError,
)
from synaptum.schema.problems import MismatchError
from synaptum.schema.validate import validate
from synaptum.tools.base import (
    PASSES_THROUGH,
    DefinedTool,
    MakesCalls,
    Tool,
    cancelled_inside,
    check_tool_names,
    error_result,
    invalid_call_result,
    is_own_cancellation,
    misfit,
    settle_failure,
)
from synaptum.tools.search import ToolIndex
from synaptum.vocabulary import Text, ToolDefinition, ToolResult
from synaptum.wording import ENGLISH, Wording, current_wording

__all__ = ["deferred", "merece_la_pena", "select_tools", "worth_deferring"]

SEARCH_NAME: Final = "buscar_herramientas"
DISPATCH_NAME: Final = "usar_herramienta"

#: Most tools one search gives. Source: design, from the seed's 3,737 -> 142 tokens.
_MAX_FOUND: Final = 5
#: From here on two turns more cost less than the catalogue in every turn. Source: seed 000.
_PAYS_FROM: Final = 15


def deferred(tools: Iterable[Any], *, wording: Wording = ENGLISH) -> list[Tool]:
    """The two tools that stand for a catalogue: one searches it, one calls what was found.

    Args:
        tools: the catalogue, in an order that stays.
        wording: of the two descriptions, which are part of the prefix.

    Raises:
        ConfigurationError: an empty catalogue, two tools of one name, one of these names, or
            a tool that makes calls of its own.
    """
    catalogue = check_tool_names(tools)
    if not catalogue:
        msg = "deferred() was given no tools: there is nothing to find behind it."
        raise ConfigurationError(msg)
    for tool in catalogue:
        if tool.name in (SEARCH_NAME, DISPATCH_NAME):
            msg = (
                f"A tool of the catalogue is called {tool.name!r}, which is deferred()'s own name."
            )
            raise ConfigurationError(msg)
        if isinstance(tool, MakesCalls):
            msg = (
                f"{tool.name!r} makes calls of its own, which are journalled where the loop calls"
                " it: offer it beside deferred(), not behind it."
            )
            raise ConfigurationError(msg)
    return [_Search(catalogue, wording), _Dispatch(catalogue, wording)]


def merece_la_pena(tools: Iterable[Any]) -> bool:
    """Whether deferring a catalogue of this size pays: from about 15 tools on."""
    return len(list(tools)) >= _PAYS_FROM


worth_deferring = merece_la_pena


def select_tools(tools: Iterable[Any], task: str, limit: int = 5) -> list[Tool]:
    """The tools that have to do with a task, chosen once, before the run.

    In: `task` in words; at most `limit` of the `tools` are given.
    Out: they keep the catalogue's order, so that the same choice is the same prefix. None of
    them matching gives an empty list.

    Raises:
        ConfigurationError: two tools have one name, something is no tool, or `limit` is no
            whole number of at least 1.
    """
    catalogue = check_tool_names(tools)
    given: object = limit
    if not isinstance(given, int) or isinstance(given, bool) or limit < 1:
        msg = f"select_tools(limit={limit!r}): a whole number of at least 1 is needed."
        raise ConfigurationError(msg)
    chosen = {tool.name for tool in ToolIndex(catalogue).search(task, limit)}
    return [tool for tool in catalogue if tool.name in chosen]


class _Search(DefinedTool):
    """`buscar_herramientas(consulta)`: what in the catalogue has to do with some words."""

    def __init__(self, catalogue: Sequence[Tool], wording: Wording) -> None:
        self.catalogue = tuple(catalogue)
        self._index = ToolIndex(catalogue)
        self._definition = ToolDefinition(
            SEARCH_NAME,
            wording.search_description,
            _object(consulta={"type": "string", "description": wording.search_query}),
            idempotent=True,
        )

    async def invoke(self, call_id: str, arguments: Mapping[str, Any]) -> ToolResult:
        mistake = _mistake(call_id, self._definition, arguments)
        if mistake is not None:
            return mistake
        found = self._index.search(arguments["consulta"], _MAX_FOUND)
        if not found:
            names = ", ".join(tool.name for tool in self.catalogue)
            return ToolResult.of(call_id, current_wording().search_found_none.format(names=names))
        shown = [
            {
                "name": tool.name,
                "description": tool.definition.description,
                "parameters": tool.definition.parameters,
            }
            for tool in found
        ]
        return ToolResult(call_id, (Text(canonical.wire_text(shown)),), structured=shown)


class _Dispatch(DefinedTool):
    """`usar_herramienta(nombre, argumentos)`: calls a tool of the catalogue."""

    def __init__(self, catalogue: Sequence[Tool], wording: Wording) -> None:
        self.catalogue = tuple(catalogue)
        self._by_name = {tool.name: tool for tool in catalogue}
        self._definition = ToolDefinition(
            DISPATCH_NAME,
            wording.dispatch_description,
            _object(
                nombre={"type": "string", "description": wording.dispatch_name},
                argumentos={"type": "object", "description": wording.dispatch_arguments},
            ),
            risk=max(tool.definition.risk for tool in catalogue),
            idempotent=all(tool.definition.idempotent for tool in catalogue),
        )

    def resolve_call(self, arguments: Mapping[str, Any]) -> tuple[Tool, Mapping[str, Any]] | None:
        """The tool of the catalogue a call names, and its arguments; None where there is none."""
        arguments = _unwrapped(arguments)
        name, inner = arguments.get("nombre"), arguments.get("argumentos")
        if not isinstance(name, str) or name not in self._by_name or not isinstance(inner, Mapping):
            return None
        return self._by_name[name], inner

    async def invoke(self, call_id: str, arguments: Mapping[str, Any]) -> ToolResult:
        arguments = _unwrapped(arguments)
        mistake = _mistake(call_id, self._definition, arguments)
        if mistake is not None:
            return mistake
        resolved = self.resolve_call(arguments)
        if resolved is None:
            text = current_wording().unknown_tool.format(
                name=arguments["nombre"], tools=", ".join(self._by_name)
            )
            return ToolResult.of(call_id, text, is_error=True)
        tool, inner = resolved
        mistake = _mistake(call_id, tool.definition, inner)
        if mistake is not None:
            return mistake
        try:
            return await tool.invoke(call_id, inner)
        except (*PASSES_THROUGH, ConfigurationError, Denied):
            raise
        except InvalidToolCallError as error:
            return invalid_call_result(call_id, tool.definition, error)
        except ToolExecutionError as error:
            if self._definition.idempotent:
                raise
            return error_result(call_id, tool.name, error)  # this one may; the dispatcher may not
        except asyncio.CancelledError:
            if not is_own_cancellation():
                raise
            return error_result(call_id, tool.name, cancelled_inside())
        except Exception as error:  # said here, where it is known which tool it was
            return settle_failure(call_id, replace(self._definition, name=tool.name), error)


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _unwrapped(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments written as JSON text inside the JSON are read once: models do it often here."""
    inner = arguments.get("argumentos")
    if isinstance(inner, str):
        try:
            read = canonical.decode(inner)
        except EncodingError:
            return arguments
        if isinstance(read, dict):
            return {**arguments, "argumentos": read}
    return arguments


def _mistake(
    call_id: str, definition: ToolDefinition, arguments: Mapping[str, Any]
) -> ToolResult | None:
    """What to answer to arguments that do not fit: the model has not seen the schema typed."""
    try:
        validate(definition.parameters, arguments)
    except MismatchError as error:
        fault = InvalidToolCallError(misfit(definition.name, error))
        return invalid_call_result(call_id, definition, fault)
    return None
