"""The contract of a tool, and what the agent, the gateway and every tool share about it.

A tool has a `name`, a `definition` (what the model and the policy see) and an `invoke`. What
`invoke` does with each kind of failure is one rule for all tools:

- returns `ToolResult(is_error=True)`: the tool failed or refused a value, and repeating the
  same call is either pointless or not safe. The model reads it and goes on;
- raises `ToolExecutionError`: the failure is retryable **and** the tool is idempotent, so
  whoever called may repeat it; when they give up, `error_result` makes the result;
- raises `InvalidToolCallError`: the arguments do not fit the signature; the run ends, or,
  with `Limits(invalid_calls="to_model")`, `invalid_call_result` makes the result;
- lets `NeedsHumanError`, `AbortError`, `UncertainEffect` and the cancellation of its task
  through. A `CancelledError` of its own, of something it waited for, is a failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol, runtime_checkable

from synaptum import canonical
from synaptum.errors import (
    AbortError,
    ConfigurationError,
    EncodingError,
    InvalidToolCallError,
    NeedsHumanError,
    ToolExecutionError,
    UncertainEffect,
    is_retryable,
    words_of,
)
from synaptum.schema.problems import SchemaProblemError
from synaptum.vocabulary import ToolDefinition, ToolResult
from synaptum.wording import Wording, current_wording

__all__ = [
    "PASSES_THROUGH",
    "CallBridge",
    "DefinedTool",
    "MakesCalls",
    "ResolvesCalls",
    "Tool",
    "arguments_schema",
    "cancelled_inside",
    "check_tool_names",
    "error_result",
    "invalid_call_result",
    "is_own_cancellation",
    "misfit",
    "refuse_set",
    "settle_failure",
    "unwritable",
]


#: What ends or suspends a run, and is no failure of a tool.
PASSES_THROUGH: Final = (NeedsHumanError, AbortError, UncertainEffect)


@runtime_checkable
class Tool(Protocol):
    """Something a model can call."""

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        ...

    @property
    def definition(self) -> ToolDefinition:
        """What the model and the policy see; the same object's value for the whole run."""
        ...

    async def invoke(self, call_id: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run the tool on decoded JSON arguments. Failures: see the module's first lines."""
        ...


class DefinedTool:
    """What the tools of this package share: they hold their definition, `_definition`."""

    _definition: ToolDefinition

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self._definition.name

    @property
    def definition(self) -> ToolDefinition:
        """What the model and the policy see."""
        return self._definition


@runtime_checkable
class ResolvesCalls(Protocol):
    """A tool that hands its calls to other tools, such as the dispatcher of `deferred`.

    Attributes:
        catalogue: every tool it can reach; part of the run's configuration.
    """

    catalogue: tuple[Tool, ...]

    def resolve_call(self, arguments: Mapping[str, Any]) -> tuple[Tool, Mapping[str, Any]] | None:
        """The tool a call would reach, with its arguments; None where it reaches none.

        The policy's check carries both, so that it decides on what will really run.
        """
        ...


class CallBridge(Protocol):
    """Through which a running tool asks for further calls; whoever runs it carries them out."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Have a tool called: validated, before the policy, and journalled as a step.

        Failures are error results. It is cancelled where the run stops at this call.
        """
        ...


@runtime_checkable
class MakesCalls(Protocol):
    """A tool that calls other tools while it runs, such as a script's `code_tool`.

    Attributes:
        catalogue: every tool it can call; part of the run's configuration.
    """

    catalogue: tuple[Tool, ...]

    async def invoke_with(
        self, call_id: str, arguments: Mapping[str, Any], bridge: CallBridge
    ) -> ToolResult:
        """Run; every call of another tool goes through `bridge`. Failures as of `invoke`."""
        ...


def refuse_set(what: str, values: object) -> None:
    """Refuse a set where order travels: its order is another one in every process.

    Raises:
        ConfigurationError: `values` is a set; `what` names them, as in "tools".
    """
    if isinstance(values, set | frozenset):
        msg = (
            f"{what}= is a set, which has another order in every process, and their order is part"
            " of what a server caches: give a list."
        )
        raise ConfigurationError(msg)


def arguments_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of arguments as the chat dialect wants it: with `type` and `properties`.

    Members that are null are left out: some libraries write them for what they do not have.
    """
    told = {name: value for name, value in schema.items() if value is not None}
    return {"type": "object", "properties": {}, **told}


def check_tool_names(tools: Iterable[Any]) -> tuple[Tool, ...]:
    """The tools as a tuple, in order, once no two of them share a name.

    Raises:
        ConfigurationError: two tools have one name, something here is no tool, or the tools
            are a set.
    """
    refuse_set("tools", tools)
    given: object = tools
    if not isinstance(given, Iterable):
        msg = f"tools={tools!r} is no list of tools; put it in one, even where it is the only one."
        raise ConfigurationError(msg)
    found: dict[str, Tool] = {}
    for tool in tools:
        if not isinstance(tool, Tool):
            msg = f"{tool!r} is no tool: put @tool on the function."
            raise ConfigurationError(msg)
        if tool.name in found:
            msg = (
                f"Two tools are called {tool.name!r}, and a model cannot tell them apart: rename"
                " one with name=, or give one MCP server a prefix=."
            )
            raise ConfigurationError(msg)
        found[tool.name] = tool
    return tuple(found.values())


def is_own_cancellation() -> bool:
    """Whether a `CancelledError` just caught is the callee's own: nobody cancelled this task.

    Awaiting something that was cancelled raises the same error as being cancelled, and only the
    task knows which it is. Outside of a task nothing can tell, and it counts as the task's.
    """
    task = asyncio.current_task()
    return task is not None and not task.cancelling()


def cancelled_inside() -> ToolExecutionError:
    """What a callee's own cancellation is told as: a failure that repeating does not mend."""
    return ToolExecutionError(current_wording().tool_cancelled)


def unwritable(error: EncodingError, wording: Wording | None = None) -> str:
    """The sentence that says why a value has no JSON form; `wording` as in `misfit`."""
    wording = wording or current_wording()
    template = wording.encodings.get(error.code)
    return str(error) if template is None else template.format(**error.facts)


def misfit(name: str, error: SchemaProblemError, wording: Wording | None = None) -> str:
    """The sentence that says where the arguments of `name` do not fit.

    `wording` is the one in use where it is not given.
    """
    wording = wording or current_wording()
    return wording.tool_arguments.format(name=name, problem=error.problem.text(wording.problems))


def error_result(
    call_id: str, name: str, error: BaseException, wording: Wording | None = None
) -> ToolResult:
    """What the model is told of a failure: the operation, whether repeating helps, what to do.

    `wording` is the one in use where it is not given.
    """
    wording = wording or current_wording()
    template = wording.tool_failed_for_now if is_retryable(error) else wording.tool_failed
    text = template.format(name=name, error=_told(error))
    return ToolResult.of(call_id, text, is_error=True)


def settle_failure(call_id: str, definition: ToolDefinition, error: Exception) -> ToolResult:
    """What `invoke` does with a failure: the error result, unless the call may be repeated.

    Raises:
        ToolExecutionError: repeating may help and is safe; it says what came of it.
    """
    if not (is_retryable(error) and definition.idempotent):
        return error_result(call_id, definition.name, error)
    if isinstance(error, ToolExecutionError):
        raise error
    msg = _told(error)
    raise ToolExecutionError(
        msg, retryable=True, retry_after=getattr(error, "retry_after", None)
    ) from error


def invalid_call_result(
    call_id: str,
    definition: ToolDefinition,
    error: InvalidToolCallError,
    wording: Wording | None = None,
) -> ToolResult:
    """What the model is told of arguments that do not fit: the mistake and the real schema."""
    wording = wording or current_wording()
    text = wording.invalid_call.format(
        name=definition.name,
        error=str(error),
        schema=canonical.wire_text(definition.parameters),
    )
    return ToolResult.of(call_id, text, is_error=True)


def _told(error: BaseException) -> str:
    message = words_of(error).strip()
    if not isinstance(error, ToolExecutionError) or not message:
        message = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return message if message.endswith((".", "!", "?", "…")) else f"{message}."
