"""Scripts in a journal: a call that makes calls of its own, and what is known when it is cut."""

from __future__ import annotations

from collections.abc import Iterable

from synaptum.agent.scripts import ScriptCalls, is_carried_out, script_of
from synaptum.vocabulary import ApprovalStep, Phase, Step, ToolStep

__all__ = ["is_script", "unknown_fate"]


def is_script(step: Step | None) -> bool:
    """Whether a step is a script, whose effects are those of the calls it makes."""
    return isinstance(step, ToolStep) and bool(step.meta.get("script"))


def unknown_fate(events: Iterable[Step]) -> ToolStep | None:
    """The call of which a journal does not tell whether it took effect, if there is one.

    A call that may not be repeated and has no end on record; or a script that was cut after it
    had begun one.
    """
    opened: ToolStep | None = None
    calls = ScriptCalls()
    waits = False
    for event in events:
        if isinstance(event, ApprovalStep):
            waits = event.phase is Phase.ATTEMPTED
            if not waits and calls.last is not None and calls.last.step_id == event.target:
                calls.decided(event, None)
        elif isinstance(event, ToolStep) and script_of(event) is not None:
            calls.apply(event)
            waits = event.meta.get("needs") == "approval"
        elif isinstance(event, ToolStep):
            opened = event if event.phase is Phase.ATTEMPTED else None
            if event.result is not None:
                calls = ScriptCalls()
        else:
            opened = None
    if opened is None or waits:
        return None
    if not is_script(opened):
        return None if opened.idempotent else opened
    inner = calls.open
    if inner is not None and not inner.idempotent:
        return inner if is_carried_out(calls.approval, calls.given) else None
    return opened if calls.holds_effects and not calls.settled else None
