"""A gateway in the process: it holds the model and the tools, and asks a policy first.

It is for development and tests. It enforces nothing against the process it lives in: it
has the keys in its own memory and calls whom it is told to (seed 001, "Transporte HTTP
directo"). A governed gateway stands elsewhere, behind the same three methods.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from synaptum.errors import (
    AbortError,
    ConfigurationError,
    Denied,
    InvalidToolCallError,
    NeedsHumanError,
    ToolExecutionError,
    UncertainEffect,
)
from synaptum.gateway.base import CallContext
from synaptum.tools.base import (
    MakesCalls,
    ResolvesCalls,
    Tool,
    cancelled_inside,
    check_tool_names,
    error_result,
    is_own_cancellation,
)
from synaptum.vocabulary import (
    ALLOW,
    Decision,
    Disposition,
    Finish,
    Request,
    Response,
    Risk,
    Step,
    StreamEvent,
    ToolCall,
    ToolResult,
    unfold,
)
from synaptum.vocabulary.stream import broken_off
from synaptum.wording import current_wording

__all__ = ["Check", "LocalGateway", "Policy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a policy decides about, and, once kept by the gateway, what it decided.

    Attributes:
        kind: `model`, `tool` or `delegate`.
        name: the model's, the tool's or the sub-agent's name.
        risk: what the call can do; the highest reachable where more stands behind it.
        arguments: what a tool is called with; empty for a model. Deciding without seeing
            the amount is a switch, not a policy (seed 000, "Declarar no es decidir").
        inner_name: the tool a deferred catalogue is asked to use, where it is one.
        inner_arguments: what that tool is called with.
        within: the step of the script that makes the call; None where the model does.
        run_id, step_id: where the call stands.
        decision: None while the policy decides.
    """

    kind: Literal["model", "tool", "delegate"]
    name: str
    risk: Risk = Risk.READ
    arguments: Mapping[str, Any] = field(default_factory=dict)
    run_id: str = ""
    step_id: str = ""
    inner_name: str | None = None
    inner_arguments: Mapping[str, Any] | None = None
    within: str | None = None
    decision: Decision | None = None

    def __str__(self) -> str:
        name = f"{self.name} > {self.inner_name}" if self.inner_name else self.name
        line = f"{self.step_id} {self.kind} {name} ({self.risk.value})"
        if self.decision is None:
            return line
        code = f" {self.decision.reason_code}" if self.decision.reason_code else ""
        return f"{line}: {self.decision.disposition.value}{code}"


#: Decides about a call: `policy(check) -> Decision`, plain or async.
Policy = Callable[[Check], Decision | Awaitable[Decision]]

Model = Callable[..., Any]

#: What a tool raises on purpose; anything else is a failure that the model is told of.
_MEANT = (
    AbortError,
    ConfigurationError,
    Denied,
    InvalidToolCallError,
    NeedsHumanError,
    ToolExecutionError,
    UncertainEffect,
)


class LocalGateway:
    """Carries out calls in this process.

    Args:
        model: `(request)` or `(request, context)` to a `Response`, plain or async.
        stream: the same arguments to an async iterator of stream events. Without it a
            stream is derived from the whole answer; with it alone, the whole answer is
            folded from the stream.
        tools: what `invoke_tool` can run, by name. What stands behind a tool that makes
            calls (`code_tool`) can be run for its scripts, and only for them.
        policy: `policy(check) -> Decision`, plain or async; without one all is allowed.
        journalled: told of every step of the runs served, once it is on record.

    Attributes:
        checks: every check made, in order, each with its decision.

    Raises:
        ConfigurationError: two tools have one name, or something is no tool.
    """

    def __init__(
        self,
        *,
        model: Model | None = None,
        stream: Callable[..., Any] | None = None,
        tools: Iterable[Tool] = (),
        policy: Policy | None = None,
        journalled: Callable[[Step], None] | None = None,
    ) -> None:
        self._model = model
        self._stream = stream
        self._tools = {tool.name: tool for tool in check_tool_names(tools)}
        self._for_scripts = {
            inner.name: inner
            for tool in self._tools.values()
            if isinstance(tool, MakesCalls)
            for inner in tool.catalogue
        }
        self._policy = policy
        self._journalled = journalled
        self._model_takes_context = model is not None and _takes_context(model)
        self._stream_takes_context = stream is not None and _takes_context(stream)
        self.checks: list[Check] = []

    async def invoke_model(self, request: Request, context: CallContext) -> Response:
        """Ask the model for a whole answer.

        Raises:
            Denied: the policy refused.
            SynaptumError: whatever the model raises.
        """
        await self._check(Check(kind="model", name=request.model), context)
        if self._model is None:
            return await self._whole_from_stream(request, context)
        arguments = (request, context) if self._model_takes_context else (request,)
        return cast("Response", await _settled(self._model(*arguments)))

    async def stream_model(
        self, request: Request, context: CallContext
    ) -> AsyncIterator[StreamEvent]:
        """Ask the model for a stream. Closing the iterator closes the model's own.

        Raises: as `invoke_model`.
        """
        await self._check(Check(kind="model", name=request.model), context)
        if self._stream is None:
            if self._model is None:
                raise _no_model()
            arguments = (request, context) if self._model_takes_context else (request,)
            for event in unfold(await _settled(self._model(*arguments))):
                yield event
            return
        events = await self._open_stream(request, context)
        try:
            async for event in events:
                yield event
        finally:
            await _close(events)

    async def invoke_tool(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Run a tool. An unexpected exception of a tool becomes an error result.

        Raises:
            Denied: the policy refused.
            InvalidToolCallError: no such tool, or the arguments do not fit it.
            ToolExecutionError, NeedsHumanError: raised by the tool.
        """
        tool = (self._tools if context.within is None else self._for_scripts).get(call.name)
        if tool is None and call.name in self._for_scripts:
            text = current_wording().surfaces.code_only.format(name=call.name)
            return ToolResult.of(call.id, text, is_error=True)
        if tool is None:
            msg = (
                f"This gateway has no tool {call.name!r}; it has {sorted(self._tools)}."
                " Give it to LocalGateway(tools=...)."
            )
            raise InvalidToolCallError(msg)
        inner_name, inner_arguments = _inner(tool, call.arguments)
        check = Check(
            kind="tool",
            name=call.name,
            risk=tool.definition.risk,
            arguments=call.arguments,
            inner_name=inner_name,
            inner_arguments=inner_arguments,
            within=context.within,
        )
        await self._check(check, context)
        try:
            if context.bridge is not None and isinstance(tool, MakesCalls):
                return await tool.invoke_with(call.id, call.arguments, context.bridge)
            return await tool.invoke(call.id, call.arguments)
        except _MEANT:
            raise
        except asyncio.CancelledError:
            if not is_own_cancellation():
                raise
            return error_result(call.id, call.name, cancelled_inside())
        except Exception as error:
            return error_result(call.id, call.name, error)

    def runs_tool(self, name: str) -> bool:
        """Whether a tool of that name is here."""
        return name in self._tools

    async def authorize_delegate(self, call: ToolCall, risk: Risk, context: CallContext) -> None:
        """Put a delegation before the policy. Raises `Denied`."""
        check = Check(kind="delegate", name=call.name, risk=risk, arguments=call.arguments)
        await self._check(check, context)

    def journalled(self, event: Step) -> None:
        """Pass a step on record to whoever was named for it."""
        if self._journalled is not None:
            self._journalled(event)

    def model_configuration(self) -> object:
        """The model's own `configuration` (JSON), where it says one."""
        return getattr(self._model_itself(), "configuration", None)

    def wire_body(self, request: Request, *, stream: bool) -> bytes | None:
        """The bytes that would travel for a request, where the model knows them; else None."""
        make = getattr(self._model_itself(), "wire_body", None)
        return None if make is None else cast("bytes", make(request, stream=stream))

    def _model_itself(self) -> object:
        model = self._model if self._model is not None else self._stream
        return getattr(model, "__self__", model)  # `model.complete` speaks for its model

    async def _check(self, check: Check, context: CallContext) -> None:
        check = replace(check, run_id=context.run_id, step_id=context.step_id)
        decision = ALLOW if self._policy is None else await _settled(self._policy(check))
        if not isinstance(decision, Decision):
            msg = f"The policy answered {decision!r} for {check}; it returns a Decision."
            raise ConfigurationError(msg)
        if decision.disposition is Disposition.REQUIRE_APPROVAL and context.approval is not None:
            decision = context.approval
        self.checks.append(replace(check, decision=decision))
        if decision.disposition is not Disposition.ALLOW:
            why = decision.message or decision.reason_code or decision.disposition.value
            msg = f"The policy does not allow {check.kind} {check.name!r}: {why}"
            raise Denied(msg, decision)

    async def _open_stream(
        self, request: Request, context: CallContext
    ) -> AsyncIterator[StreamEvent]:
        if self._stream is None:
            raise _no_model()
        arguments = (request, context) if self._stream_takes_context else (request,)
        return cast("AsyncIterator[StreamEvent]", await _settled(self._stream(*arguments)))

    async def _whole_from_stream(self, request: Request, context: CallContext) -> Response:
        events = await self._open_stream(request, context)
        try:
            async for event in events:
                if isinstance(event, Finish):
                    return event.response
        finally:
            await _close(events)
        raise broken_off()


def _inner(tool: Tool, arguments: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any] | None]:
    found = tool.resolve_call(arguments) if isinstance(tool, ResolvesCalls) else None
    return (None, None) if found is None else (found[0].name, found[1])


def _takes_context(function: Callable[..., Any]) -> bool:
    """Whether a model function wants the CallContext besides the request."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    if len(positional) < 2:
        return False
    second = positional[1]
    return second.name == "context" or second.default is second.empty


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _close(events: AsyncIterator[StreamEvent]) -> None:
    close = getattr(events, "aclose", None)
    if close is not None:
        await close()


def _no_model() -> ConfigurationError:
    return ConfigurationError("This gateway has no model; give it LocalGateway(model=...).")
