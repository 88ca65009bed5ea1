"""What one run cost and how it went, as far as surfaces are compared: from its journal alone.

Counters of the model (`input`, `cached`, `output`) are what the server measured, or None. Tokens
of texts (catalogue, discovery, results) are estimated at four characters a token: no server
counts them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import ConfigurationError
from synaptum.journal.store import RunState
from synaptum.vocabulary import (
    ApprovalStep,
    DelegateStep,
    Message,
    ModelStep,
    Phase,
    Role,
    Step,
    ToolCall,
    ToolResult,
    ToolStep,
    Usage,
)
from synaptum.vocabulary.codec import to_json

__all__ = ["DISCOVERY_TOOLS", "Measures", "SurfaceRun", "estimated_tokens", "measure"]

#: The tools of ours that find or explain, and do not act.
DISCOVERY_TOOLS: Final = frozenset({"buscar_herramientas", "read_skill", "read_skill_file"})
_CHARS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceRun:
    """One run of a task on one surface.

    Attributes:
        surface: its name, such as `json`, `mcp`, `command`, `skills`, `code`.
        state: the journal of a run that began.
        operations: what the run was permitted to do, in words that hold on every surface.
        server: who answered: `llama.cpp b7100`, or `scripted`, where a double did.
        right: whether the final state was what the task asks for. It is judged outside of the
            model's words: a ledger, a file, a row.
        discovery: names of tools that find or explain (the search of a catalogue, a skill's
            text, `--help`); what they give counts apart.
    """

    surface: str
    state: RunState
    operations: Set[str]
    server: str
    right: bool
    discovery: Set[str] = field(default=DISCOVERY_TOOLS)

    @property
    def task(self) -> str:
        """What the run was asked: the text of its first request."""
        return "\n".join(m.text for m in self._first.messages if m.role is not Role.ASSISTANT)

    @property
    def model(self) -> str:
        """The model as it was configured."""
        step = self.state.events[0]
        configured = step.meta.get("configuration", {}).get("model", {}).get("name")
        return str(configured or self._first.model)

    @property
    def _first(self) -> Any:
        first = self.state.events[0] if self.state.events else None
        if not isinstance(first, ModelStep) or first.request is None:
            msg = (
                f"Run {self.state.run_id!r} has no request on record: there is nothing to compare."
            )
            raise ConfigurationError(msg)
        return first.request


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The numbers of one run.

    Attributes:
        catalogue: tokens of the tools offered, in one request; estimated.
        discovery: tokens that discovery put into the context; estimated.
        failed_discovery: discovery calls that found nothing or failed.
        input, cached, output: tokens as measured, sub-agents included; None: not measured.
            `input` includes `cached`.
        execution: tokens of what tools gave back into the context; estimated.
        turns: answers of the model.
        retries: attempts that failed and were repeated.
        recoveries: error results after which the same tool succeeded.
        escalations: times a person was asked.
        syntax_errors, runtime_errors: scripts that ended so.
        partial_endings: scripts that did not finish, after at least one call.
        time_s: seconds from the first step to the last, without those a person took; None with
            no journalled times.
    """

    catalogue: int
    discovery: int
    failed_discovery: int
    input: int | None
    cached: int | None
    output: int | None
    execution: int
    turns: int
    retries: int
    recoveries: int
    escalations: int
    syntax_errors: int
    runtime_errors: int
    partial_endings: int
    time_s: float | None

    @property
    def uncached(self) -> int | None:
        """Input that was not served from cache."""
        if self.input is None or self.cached is None:
            return None
        return self.input - self.cached


def estimated_tokens(text: str) -> int:
    """About how many tokens a text is."""
    return -(-len(text) // _CHARS_PER_TOKEN)


def measure(run: SurfaceRun) -> Measures:
    """The numbers of a run. Raises `ConfigurationError` where it has no request."""
    events = run.state.events
    ended = [event for event in events if event.phase is Phase.COMPLETED]
    called = [event for event in ended if isinstance(event, ToolStep)]
    usage = _usage(ended)
    scripts = [_ending(step.result) for step in called]
    failed = [s for s in scripts if s is not None and s["ending"] != "finished"]
    results = list(_results(_last_messages(events)))
    return Measures(
        catalogue=estimated_tokens(canonical.wire_text([to_json(t) for t in run._first.tools])),
        discovery=sum(estimated_tokens(r.text) for n, r in results if n in run.discovery),
        failed_discovery=sum(_found_nothing(s) for s in called if s.call.name in run.discovery),
        input=usage.input,
        cached=usage.cache_read,
        output=usage.output,
        execution=sum(estimated_tokens(r.text) for n, r in results if n not in run.discovery),
        turns=sum(isinstance(event, ModelStep) for event in ended),
        retries=sum(len(event.meta.get("attempts", ())) for event in ended),
        recoveries=_recoveries(called),
        escalations=sum(isinstance(e, ApprovalStep) and e.phase is Phase.ATTEMPTED for e in events),
        syntax_errors=sum(s["ending"] == "syntax_error" for s in failed),
        runtime_errors=sum(s["ending"] == "runtime_error" for s in failed),
        partial_endings=sum(s["calls"] > 0 for s in failed),
        time_s=_time_s(events),
    )


def _usage(ended: list[Step]) -> Usage:
    total = Usage.zero()
    for event in ended:
        if isinstance(event, ModelStep | DelegateStep):
            total += event.usage or Usage()
    return total


def _last_messages(events: tuple[Step, ...]) -> tuple[Message, ...]:
    requests = [e.request for e in events if isinstance(e, ModelStep) and e.request is not None]
    return tuple(requests[-1].messages) if requests else ()


def _results(messages: tuple[Message, ...]) -> Iterator[tuple[str, ToolResult]]:
    """The results in the context, as the model saw them, with the name of the tool."""
    names: dict[str, str] = {}
    for message in messages:
        for part in message.content:
            if isinstance(part, ToolCall):
                names[part.id] = part.name
            elif isinstance(part, ToolResult):
                yield names.get(part.call_id, ""), part


def _ending(result: ToolResult | None) -> Mapping[str, Any] | None:
    """How a script ended, where the result is one's (`CodeTool` says so)."""
    told = None if result is None else result.structured
    if isinstance(told, Mapping) and told.keys() == {"ending", "calls"}:
        return told
    return None


def _found_nothing(step: ToolStep) -> bool:
    result = step.result
    if result is None:
        return False
    # A search that found something gives a list as its value.
    return result.is_error or (step.call.name == "buscar_herramientas" and not result.structured)


def _recoveries(called: list[ToolStep]) -> int:
    count = 0
    failed: dict[str, int] = {}
    for step in called:
        if step.result is None:
            continue
        if step.result.is_error:
            failed[step.call.name] = failed.get(step.call.name, 0) + 1
        else:
            count += failed.pop(step.call.name, 0)
    return count


def _time_s(events: tuple[Step, ...]) -> float | None:
    times = [datetime.fromisoformat(event.at) for event in events if event.at]
    if len(times) < 2 or len(times) != len(events):
        return None
    waited = sum(
        (times[index] - times[index - 1]).total_seconds()
        for index, event in enumerate(events)
        if isinstance(event, ApprovalStep) and event.phase is Phase.COMPLETED
    )
    return max(0.0, (times[-1] - times[0]).total_seconds() - waited)
