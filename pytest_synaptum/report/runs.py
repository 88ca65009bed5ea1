"""A run's steps as a timeline, and its economy as the numbers of a plot; plain JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pytest_synaptum.cassette.bodies import pretty
from pytest_synaptum.report.texts import value_text
from synaptum.context.economy import economy
from synaptum.journal.encoding import common_prefix
from synaptum.journal.store import RunState
from synaptum.vocabulary import (
    ApprovalStep,
    DelegateStep,
    FinalStep,
    Message,
    ModelStep,
    Phase,
    Step,
    ToolResult,
    ToolStep,
    Usage,
)
from synaptum.vocabulary.codec import to_json
from synaptum.wording import ENGLISH

__all__ = ["plain_run"]

_TITLE_CHARS: Final = 160
_COUNTERS: Final = ("input", "cache_read", "output")


def plain_run(run_id: str, events: Sequence[Step]) -> dict[str, Any]:
    """One run, as the page's script draws it.

    Out: `steps`, one entry a step with what it began with and what came of it; `turns`, the
    tokens of each answer (None: not measured); `economy`, the sentences for people.
    """
    steps = list(_steps(events))
    final = next((e for e in events if _is_done(e) and isinstance(e, FinalStep)), None)
    turns = [
        {"step": event.step_id, **_tokens(event.usage or event.response.usage)}
        for event in events
        if _is_done(event) and isinstance(event, ModelStep) and event.response is not None
    ]
    return {
        "run": run_id,
        "state": final.reason if isinstance(final, FinalStep) else "not closed",
        "steps": steps,
        "turns": turns,
        "economy": economy(RunState(run_id, tuple(events))).report(ENGLISH).splitlines()[1:],
    }


def _is_done(event: Step) -> bool:
    return event.phase is Phase.COMPLETED


def _tokens(usage: Usage) -> dict[str, int | None]:
    return {name: getattr(usage, name) for name in _COUNTERS}


def _steps(events: Iterable[Step]) -> Iterable[dict[str, Any]]:
    """Steps in the order in which they began, intent and end together."""
    pairs: dict[str, dict[Phase, Step]] = {}
    for event in events:
        pairs.setdefault(event.step_id, {})[event.phase] = event
    before: Sequence[Message] = ()
    for step_id, phases in pairs.items():
        begun = phases.get(Phase.ATTEMPTED) or phases[Phase.COMPLETED]
        ended = phases.get(Phase.COMPLETED)
        step: dict[str, Any] = {
            "id": step_id,
            "kind": begun.kind,
            "at": begun.at,
            "open": ended is None,
            "took_s": None if ended is None else _seconds(begun.at, ended.at),
        }
        last = ended or begun
        if isinstance(last, ModelStep):
            request = begun.request if isinstance(begun, ModelStep) else None
            step |= _model(last, request or last.request, before)
            if request is not None:
                before = request.messages
        elif isinstance(last, ToolStep):
            step |= _tool(last)
        elif isinstance(last, DelegateStep):
            step |= _delegate(last)
        elif isinstance(last, ApprovalStep):
            step |= _approval(last)
        else:
            step |= _final(last)
        yield step


def _model(step: ModelStep, request: Any, before: Sequence[Message]) -> dict[str, Any]:
    parts = []
    title = ""
    if request is not None:
        kept = common_prefix(before, request.messages)
        fresh = [to_json(message) for message in request.messages[kept:]]
        label = f"asked {request.model}, messages: {len(request.messages)}, of them new:"
        parts.append(_part(label, fresh))
        if not before:
            offered = {"system": request.system, "tools": [tool.name for tool in request.tools]}
            parts.append(_part("instructions and tools", offered))
    response = step.response
    if response is not None:
        calls = [f"{call.name}(…)" for call in response.tool_calls]
        title = response.text or ", ".join(calls) or response.finish_reason.value
        parts.append(_part(f"answered, {response.finish_reason.value}", response.message))
    return {
        "title": _title(title or "no answer on record"),
        "tokens": None if response is None else _tokens(step.usage or response.usage),
        "parts": parts + _meta(step.meta),
    }


def _tool(step: ToolStep) -> dict[str, Any]:
    return _called(step, step.call.name, [f"risk {step.risk.value}"])


def _delegate(step: DelegateStep) -> dict[str, Any]:
    called = _called(step, step.call.name, [f"run {step.child_run_id}"])
    return called | {"tokens": None if step.usage is None else _tokens(step.usage)}


def _called(step: ToolStep | DelegateStep, name: str, notes: list[str]) -> dict[str, Any]:
    given: Any = step.call.unreadable_arguments
    arguments = to_json(step.call.arguments) if given is None else given
    result = step.result
    failed = result is not None and result.is_error
    parts = [_part("arguments" if given is None else "arguments, unreadable", arguments)]
    if result is not None:
        parts.append(_part("error" if failed else "result", _content(result)))
    return {
        "title": _title(f"{name} {arguments if isinstance(arguments, str) else pretty(arguments)}"),
        "failed": failed,
        "notes": notes + ([] if step.idempotent else ["not idempotent"]),
        "parts": parts + _meta(step.meta),
    }


def _content(result: ToolResult) -> Any:
    plain = to_json(result)
    return plain.get("content", plain) if isinstance(plain, dict) else plain


def _approval(step: ApprovalStep) -> dict[str, Any]:
    decision = step.decision
    title = "waits for a person" if decision is None else decision.disposition.value
    parts = [_part("call", step.call)] if step.call is not None else []
    if decision is not None:
        parts.append(_part("decision", decision))
    notes = [f"for {step.target}", f"risk {step.risk.value}"]
    return {"title": title, "notes": notes, "parts": parts + _meta(step.meta)}


def _final(step: FinalStep) -> dict[str, Any]:
    output = to_json(step.output)
    text = output if isinstance(output, str) else ""
    return {
        "title": _title(text or step.reason),
        "failed": step.reason != "finished",
        "notes": [step.reason],
        "tokens": None if step.usage is None else _tokens(step.usage),
        "parts": [_part("output", output), *_meta(step.meta)],
    }


def _meta(meta: Mapping[str, Any]) -> list[dict[str, str]]:
    kept = {key: value for key, value in meta.items() if key != "configuration"}
    return [_part("noted", to_json(kept))] if kept else []


def _part(label: str, value: Any) -> dict[str, str]:
    return {"label": label, "text": value_text(value)}


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE_CHARS else f"{line[: _TITLE_CHARS - 1]}…"


def _seconds(begun: str, ended: str) -> float | None:
    try:
        first, last = (datetime.fromisoformat(text) for text in (begun, ended))
    except ValueError:
        return None
    return max(0.0, (last - first).total_seconds())
