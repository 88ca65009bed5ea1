"""Carrying out one call of the model, and what came of it as a value.

Nothing here writes the journal. Every failure has one of three ends: a result that the
model reads, a person who is asked, or an exception that ends the passage and leaves the
intent on record.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from synaptum import canonical
from synaptum.agent.foreign import cancellation_told, checked_result
from synaptum.agent.plan import Plan
from synaptum.agent.progress import Call
from synaptum.agent.retries import Attempts
from synaptum.agent.scripts import ScriptBridge, script_of
from synaptum.agent.session import Session
from synaptum.errors import (
    Denied,
    InvalidToolCallError,
    LimitExceeded,
    NeedsHumanError,
    NoObjectGeneratedError,
    ToolExecutionError,
)
from synaptum.gateway.base import CallContext
from synaptum.schema.problems import MismatchError
from synaptum.schema.validate import validate
from synaptum.tools.base import error_result, invalid_call_result, misfit
from synaptum.vocabulary import (
    ApprovalStep,
    Decision,
    DelegateStep,
    Disposition,
    FinalStep,
    Message,
    ToolCall,
    ToolResult,
    ToolStep,
    Usage,
)
from synaptum.vocabulary.codec import to_json
from synaptum.wording import use_wording

__all__ = ["Caller", "ChildRun", "Outcome"]


class ChildRun(Protocol):
    """The run of a sub-agent, as far as its caller sees it."""

    def events(self, task: tuple[Message, ...] | None) -> AsyncGenerator[Any, None]:
        """Run it, or go on with it."""
        ...

    @property
    def usage(self) -> Usage:
        """Tokens so far."""
        ...

    @property
    def final(self) -> FinalStep | None:
        """How it closed, as it is on record; None where it did not."""
        ...


#: Opens the run of a sub-agent: its plan and a session in, the run out.
StartChild = Callable[[Plan, Session], ChildRun]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a call.

    Attributes:
        result: what the model reads; None where a person is asked first.
        meta: what the completed step records: `attempts`, `decision`, `error`, `needs`.
        usage: tokens of a sub-agent.
        child_waits: what a sub-agent waits for; the call itself has not ended then.
    """

    result: ToolResult | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None
    child_waits: ApprovalStep | None = None


class Caller:
    """Carries out calls for one run."""

    def __init__(self, plan: Plan, session: Session, start_child: StartChild) -> None:
        self._plan = plan
        self._session = session
        self._start_child = start_child

    async def tool(
        self, step: ToolStep, action: Call, bridge: ScriptBridge | None = None
    ) -> Outcome:
        """Run a tool, or answer in its place where it may not, or cannot, run.

        In: `bridge` takes the calls that the tool makes itself, where it does.
        """
        told = self._instead(step.call, action, script_of(step))
        if told is not None:
            return told
        attempts = self._attempts()
        context = CallContext(
            self._session.run_id,
            step.step_id,
            action.approval,
            within=script_of(step),
            bridge=bridge,
        )
        while True:
            if bridge is not None:
                bridge.restart()
            try:
                what = f"The call of {step.call.name!r}"
                with use_wording(self._plan.wording), cancellation_told(what):
                    result = await self._session.gateway.invoke_tool(step.call, context)
            except Denied as error:
                return self._denied(step.call, error.decision, attempts)
            except NeedsHumanError as error:
                meta = {"needs": "approval", "message": str(error), **attempts.meta()}
                return Outcome(meta=meta)
            except InvalidToolCallError as error:
                return self._invalid(step.call, error)
            except ToolExecutionError as error:
                if not (step.idempotent and attempts.may_retry(error)):
                    result = error_result(step.call.id, step.call.name, error, self._plan.wording)
                    return Outcome(result=result, meta=attempts.meta())
                await attempts.failed(error)
            except Exception as error:
                # The gateway itself failed. What it asks of others may have happened: only an
                # idempotent call is tried again, any other stays on record as begun.
                if not step.idempotent:
                    raise
                await attempts.failed(error)
            else:
                result = checked_result(step.call, result, self._plan.wording)
                return Outcome(result=result, meta=attempts.meta())

    async def delegate(self, step: DelegateStep, action: Call) -> Outcome:
        """Hand a brief to a sub-agent and run it to its end, or to where it waits."""
        told = self._instead(step.call, action)
        if told is not None:
            return replace(told, usage=Usage.zero())
        call, delegate = step.call, self._plan.delegates[step.call.name]
        try:
            validate(delegate.definition.parameters, call.arguments)
        except MismatchError as error:
            fault = InvalidToolCallError(misfit(call.name, error, self._plan.wording))
            return replace(self._invalid(call, fault), usage=Usage.zero())
        try:
            await self._authorize(step, action)
        except Denied as error:
            denied = self._denied(call, error.decision, self._attempts())
            return replace(denied, usage=Usage.zero())
        child = self._start_child(delegate.plan, self._session.child(step.child_run_id))
        last: Any = None
        try:
            async with aclosing(child.events((Message.user(call.arguments["brief"]),))) as events:
                async for event in events:
                    last = event
        except (LimitExceeded, NoObjectGeneratedError, Denied) as error:
            text = self._plan.wording.delegate_failed.format(name=call.name, error=error)
            return Outcome(result=_error(call, text), usage=child.usage)
        if child.final is not None:
            return self._finished(call, child.final, child.usage)
        return Outcome(child_waits=last)

    def _instead(self, call: ToolCall, action: Call, script: str | None = None) -> Outcome | None:
        """The outcome of a call that is not to be run, or None."""
        wording = self._plan.wording
        if call.unreadable_arguments is not None:
            return Outcome(result=_error(call, wording.unreadable_arguments.format(name=call.name)))
        if not self._plan.offers(call, within=script is not None):
            if call.name in self._plan.script_tools:
                return Outcome(
                    result=_error(call, wording.surfaces.code_only.format(name=call.name))
                )
            names = ", ".join(definition.name for definition in self._plan.definitions)
            text = wording.unknown_tool.format(name=call.name, tools=names or "-")
            return Outcome(result=_error(call, text))
        if action.given is not None:
            return Outcome(result=action.given)
        decision = action.approval
        if decision is not None and decision.disposition is not Disposition.ALLOW:
            text = wording.refused_call.format(name=call.name, reason=self._reason(decision))
            return Outcome(result=_error(call, text), meta={"decision": to_json(decision)})
        return None

    def _denied(self, call: ToolCall, decision: Decision, attempts: Attempts) -> Outcome:
        meta = {"decision": to_json(decision), **attempts.meta()}
        if decision.disposition is Disposition.REQUIRE_APPROVAL:
            return Outcome(meta={"needs": "approval", **meta})
        text = self._plan.wording.denied_call.format(name=call.name, reason=self._reason(decision))
        return Outcome(result=_error(call, text), meta=meta)

    def _invalid(self, call: ToolCall, error: InvalidToolCallError) -> Outcome:
        definition = self._plan.definition_of(call.name)
        result = invalid_call_result(call.id, definition, error, self._plan.wording)
        meta = {"error": {"type": type(error).__name__, "message": str(error)}}
        return Outcome(result=result, meta=meta)

    def _finished(self, call: ToolCall, final: FinalStep, usage: Usage) -> Outcome:
        output = final.output
        text = output if isinstance(output, str) else canonical.encode(output)
        if final.reason == "finished":
            structured = None if isinstance(output, str) else output
            result = replace(ToolResult.of(call.id, text), structured=structured)
            return Outcome(result=result, usage=usage)
        told = self._plan.wording.delegate_unfinished.format(
            name=call.name, reason=final.reason, output=text if output else "-"
        )
        # A policy that ended the sub-agent's run meant more than this one call.
        meta = {"decision": final.meta["decision"]} if final.reason == "terminated" else {}
        return Outcome(result=_error(call, told), meta=meta, usage=usage)

    async def _authorize(self, step: DelegateStep, action: Call) -> None:
        authorize = getattr(self._session.gateway, "authorize_delegate", None)
        if authorize is not None:
            context = CallContext(self._session.run_id, step.step_id, action.approval)
            with cancellation_told(f"The call of {step.call.name!r}"):
                await authorize(step.call, step.risk, context)

    def _attempts(self) -> Attempts:
        return Attempts(self._plan.limits, self._session.sleep, self._session.random, None)

    def _reason(self, decision: Decision) -> str:
        return decision.message or decision.reason_code or self._plan.wording.no_reason


def _error(call: ToolCall, text: str) -> ToolResult:
    return ToolResult.of(call.id, text, is_error=True)
