"""Where a run stands: a fold over its journal, and what is to be done next.

`Progress.apply` takes every event exactly once, whether it was just written or read back
from a journal; `next_action` looks at nothing but the result. That is all of resuming: the
same events give the same context, hence the same bytes to the model. Nothing here waits,
reads a clock or throws dice, and each event costs the same however long the run is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from synaptum import canonical
from synaptum.agent.plan import Plan
from synaptum.agent.scripts import ScriptCalls, is_carried_out, script_of
from synaptum.agent.verdict import AskAgain, Close, Fail, RunCalls, judge
from synaptum.errors import (
    InvalidToolCallError,
    JournalDivergedError,
    LimitExceeded,
    UncertainEffect,
)
from synaptum.tools.result_cap import cap_tool_output
from synaptum.vocabulary import (
    ApprovalStep,
    ContentPart,
    Decision,
    DelegateStep,
    Disposition,
    FinalStep,
    History,
    Message,
    ModelStep,
    Phase,
    Request,
    Step,
    ToolCall,
    ToolResult,
    ToolStep,
    Usage,
)
from synaptum.vocabulary.codec import from_json

__all__ = [
    "Action",
    "Ask",
    "AskPerson",
    "Call",
    "Done",
    "EndScript",
    "Progress",
    "Suspend",
    "next_action",
    "uncertain_effect",
]


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the model; `step` is the intent that is on record without its answer, if any."""

    step: ModelStep | None
    approval: Decision | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Carry out a call of the model.

    Attributes:
        step: the intent on record without its end, if any.
        approval: what a person decided about this call, once they did.
        given: the result a person gave in place of a run.
    """

    call: ToolCall
    step: ToolStep | DelegateStep | None
    approval: Decision | None = None
    given: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Ask a person about the call of `target`, then wait for them."""

    target: ToolStep | DelegateStep


@dataclass(frozen=True, slots=True)
class EndScript:
    """Write the end of a script that the run's end has stopped."""

    step: ToolStep


@dataclass(frozen=True, slots=True)
class Suspend:
    """Wait for a person who was asked."""

    approval: ApprovalStep


@dataclass(frozen=True, slots=True)
class Done:
    """The run is closed."""

    final: FinalStep


Action = Ask | Call | AskPerson | EndScript | Suspend | Close | Fail | Done


class Progress:
    """The state of a run, as its events made it.

    Attributes:
        history: the conversation that the next request carries.
        next_seq: number of the next step.
        steps: how many steps were begun, those of scripts not counted.
        usage: tokens so far, sub-agents included.
        script: the calls of the script whose turn it is.
    """

    def __init__(self, plan: Plan, task: tuple[Message, ...]) -> None:
        self._plan = plan
        self.history = History(task)
        self.next_seq = 0
        self.steps = 0
        self.script = ScriptCalls()
        self.usage = Usage.zero()
        self.open: Step | None = None
        self.final: FinalStep | None = None
        self.ending: Close | Fail | None = None
        self.asked: ApprovalStep | None = None
        self.waiting: ToolStep | DelegateStep | None = None
        self.approval: Decision | None = None
        self.given: ToolResult | None = None
        self.calls: tuple[ToolCall, ...] = ()
        self._results: list[ToolResult] = []
        self._samples = 0
        self._matched = 0
        self._last_request: Request | None = None

    @property
    def call(self) -> ToolCall | None:
        """The call whose turn it is."""
        return self.calls[len(self._results)] if len(self._results) < len(self.calls) else None

    def apply(self, event: Step) -> None:
        """Take the next event of the journal.

        Raises:
            JournalDivergedError: a recorded request is not the one this code would ask.
        """
        self.next_seq = max(self.next_seq, event.step_seq + 1)
        completed = event.phase is Phase.COMPLETED
        if isinstance(event, ToolStep) and script_of(event) is not None:
            self._called_by_script(event)
            return
        self.steps += not completed
        if isinstance(event, ApprovalStep):
            self._decided(event) if completed else self._asked(event)
        elif not completed:
            self.open = event
            if isinstance(event, ModelStep):
                self._match(event)
        else:
            self.open = None
            if isinstance(event, ModelStep):
                self._answered(event)
            elif isinstance(event, FinalStep):
                self.final = event
            else:
                self._ran(event)

    def adopt_recorded_messages(self) -> None:
        """Go on from the recorded conversation, so that its messages are held once."""
        recorded = None if self._last_request is None else self._last_request.messages
        if isinstance(recorded, History):
            self.history = recorded.append(*self.history[len(recorded) :])

    def _match(self, event: ModelStep) -> None:
        request = event.request
        if request is None:
            return
        self._last_request = request
        if request.messages is self.history:
            self._matched = len(self.history)
            return
        asked = request.messages
        same_length = len(asked) == len(self.history)
        if not same_length or asked[self._matched :] != self.history[self._matched :]:
            msg = self._plan.wording.other_requests.format(
                run_id=event.run_id, step_id=event.step_id
            )
            raise JournalDivergedError(msg, event.step_id, "/request/messages")
        self._matched = len(asked)

    def _answered(self, event: ModelStep) -> None:
        response = event.response
        if response is None:
            return
        self.approval = None
        self.usage += response.usage
        self.history = self.history.append(as_read_back(response.message))
        verdict = judge(self._plan, response, self._samples)
        if isinstance(verdict, RunCalls):
            self.calls, self._results = verdict.calls, []
        elif isinstance(verdict, AskAgain):
            self._samples += verdict.is_sample
            self.history = self.history.append(Message.user(verdict.text))
        else:
            self.ending = verdict

    def _ran(self, event: ToolStep | DelegateStep) -> None:
        if isinstance(event, DelegateStep) and event.usage is not None:
            self.usage += event.usage
        self._settle(event.meta, event.call)
        if event.result is None:
            self.waiting = event if event.meta.get("needs") == "approval" else None
            if self.waiting is not None:
                self.approval = self.given = None
            return
        self.approval = self.given = None
        self.script = ScriptCalls()
        # As the journal gives it back: a provider may send the structured form, keys in order.
        structured = canonical.in_key_order(event.result.structured)
        self._results.append(replace(event.result, structured=structured))
        if len(self._results) == len(self.calls):
            cap = self._plan.limits.max_tool_chars
            words = self._plan.wording
            capped = [cap_tool_output(r, max_chars=cap, wording=words) for r in self._results]
            self.history = self.history.append(Message.tool_results(*capped))
            self.calls, self._results = (), []

    def _called_by_script(self, event: ToolStep) -> None:
        self.script.apply(event)
        if event.phase is Phase.ATTEMPTED:
            return
        self.waiting = event if event.meta.get("needs") == "approval" else None
        decision = event.meta.get("decision")
        if decision is not None and decision["disposition"] == Disposition.TERMINATE_RUN.value:
            self.ending = Close(None, "terminated", {"decision": decision})

    def _settle(self, meta: Mapping[str, Any], call: ToolCall) -> None:
        """What a call's end may mean for the whole run."""
        decision = meta.get("decision")
        if decision is not None and decision["disposition"] == Disposition.TERMINATE_RUN.value:
            self.ending = Close(None, "terminated", {"decision": decision})
        error = meta.get("error")
        if error is not None and self._plan.limits.invalid_calls == "raise":
            self.ending = Fail(InvalidToolCallError(error["message"]))

    def _asked(self, event: ApprovalStep) -> None:
        self.asked, self.waiting = event, None

    def _decided(self, event: ApprovalStep) -> None:
        self.asked = None
        decision = event.decision
        if decision is None or "child_run_id" in event.meta:
            return  # decided in the journal of the sub-agent, which goes on by itself
        if decision.disposition is Disposition.TERMINATE_RUN:
            self.ending = Close(None, "terminated", {"decision": _plain(decision)})
        elif event.call is None and decision.disposition is not Disposition.ALLOW:
            self.ending = Close(None, "denied", {"decision": _plain(decision)})
        else:
            plain = event.meta.get("result")
            given = None if plain is None else from_json(ToolResult, plain)
            last = self.script.last
            if last is not None and last.step_id == event.target:
                self.script.decided(event, given)
            else:
                self.approval, self.given = decision, given


def as_read_back(message: Message) -> Message:
    """The message as the journal gives it back: equal, with sorted keys in its calls.

    The order of keys travels. A run that goes on from memory and one that goes on from its
    journal must send the same bytes.
    """
    calls = [part for part in message.content if isinstance(part, ToolCall)]
    if not any(call.provider_metadata or call.arguments for call in calls):
        return message
    return replace(message, content=tuple(_sorted_call(part) for part in message.content))


def _sorted_call(part: ContentPart) -> ContentPart:
    if not isinstance(part, ToolCall):
        return part
    return replace(
        part,
        arguments=canonical.in_key_order(part.arguments),
        provider_metadata=canonical.in_key_order(part.provider_metadata),
    )


def next_action(progress: Progress, plan: Plan, run_id: str) -> Action:
    """What a run does next."""
    if progress.final is not None:
        return Done(progress.final)
    if progress.ending is not None:
        if isinstance(progress.open, ToolStep):
            return EndScript(progress.open)
        return progress.ending
    if progress.asked is not None:
        return Suspend(progress.asked)
    if progress.waiting is not None:
        return AskPerson(progress.waiting)
    step = progress.open
    if isinstance(step, ModelStep):
        return Ask(step, progress.approval)
    if isinstance(step, ToolStep):
        uncertain = _uncertain_step(step, progress, plan)
        if uncertain is not None:
            return Fail(uncertain_effect(uncertain, plan))
    if isinstance(step, ToolStep | DelegateStep):
        return Call(step.call, step, progress.approval, progress.given)
    if progress.steps >= plan.limits.max_steps:
        return Fail(_limit(plan, run_id))
    if progress.call is not None:
        return Call(progress.call, None, progress.approval, progress.given)
    return Ask(None)


def _uncertain_step(step: ToolStep, progress: Progress, plan: Plan) -> ToolStep | None:
    """The begun call that may have taken effect without a trace, if there is one."""
    if not plan.makes_calls(step.call.name):
        uncertain = not step.idempotent and is_carried_out(progress.approval, progress.given)
        return step if uncertain and plan.offers(step.call) else None
    # What a script calls is on record, so it is known what it may have begun.
    script = progress.script
    inner = script.open
    if inner is not None and not inner.idempotent and is_carried_out(script.approval, script.given):
        return inner
    return step if script.holds_effects and not script.settled else None


def uncertain_effect(step: ToolStep, plan: Plan) -> UncertainEffect:
    """The error that says that nobody knows what came of `step`."""
    msg = plan.wording.uncertain_effect.format(
        run_id=step.run_id, step_id=step.step_id, name=step.call.name
    )
    return UncertainEffect(msg, step.step_id, step.run_id)


def _limit(plan: Plan, run_id: str) -> LimitExceeded:
    value = plan.limits.max_steps
    msg = plan.wording.limit_exceeded.format(run_id=run_id, limit="max_steps", value=value)
    return LimitExceeded(msg, "max_steps", value)


def _plain(decision: Decision) -> dict[str, Any]:
    return {
        "disposition": decision.disposition.value,
        "reason_code": decision.reason_code,
        "message": decision.message,
    }
