"""`trajectory(journal)`: what a run did, in the words a test asks about.

    run = trajectory(await store.load("run-1"))
    assert run.tools == ["search", ("open", {"page": 3})]
    assert run.turns == 3
    assert not run.denials

In pytest a comparison that fails says at which call it parted, and how.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from pytest_synaptum.golden.compare import same
from synaptum.journal.store import RunState
from synaptum.vocabulary import (
    Decision,
    DelegateStep,
    FinalStep,
    ModelStep,
    Phase,
    Step,
    ToolCall,
    ToolResult,
    ToolStep,
    Usage,
)
from synaptum.vocabulary.codec import from_json, to_json

__all__ = ["CalledTool", "CalledTools", "Trajectory", "explain", "trajectory"]


@dataclass(frozen=True, slots=True)
class CalledTool:
    """One call of the run, in its place.

    Attributes:
        result: what the model was told; None where the run has not got it.
        denied: how and why the call was refused, where it was.
    """

    name: str
    arguments: Mapping[str, Any]
    result: ToolResult | None
    denied: Decision | None = None

    @property
    def is_error(self) -> bool:
        """Whether the call failed or was refused."""
        return self.result is not None and self.result.is_error

    def __str__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.name}({inner})"


class CalledTools(Sequence[CalledTool]):
    """The calls of a run in order.

    Equal to a list whose items are names (arguments do not count), `(name, arguments)`
    pairs, or `CalledTool` values, in any mixture.
    """

    def __init__(self, calls: Iterable[CalledTool]) -> None:
        self._calls = tuple(calls)

    @property
    def names(self) -> list[str]:
        """The names alone."""
        return [call.name for call in self._calls]

    @overload
    def __getitem__(self, index: int) -> CalledTool: ...
    @overload
    def __getitem__(self, index: slice) -> CalledTools: ...
    def __getitem__(self, index: int | slice) -> CalledTool | CalledTools:
        return CalledTools(self._calls[index]) if isinstance(index, slice) else self._calls[index]

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[CalledTool]:
        return iter(self._calls)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CalledTools):
            return self._calls == other._calls
        if not isinstance(other, list | tuple):
            return NotImplemented
        return len(other) == len(self) and all(map(_fits, self._calls, other))

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __repr__(self) -> str:
        return f"[{', '.join(map(str, self._calls))}]"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What a run did.

    Attributes:
        turns: answers of the model.
        tools: calls, sub-agents among them, in order.
        usage: tokens of all turns and sub-agents; None where one did not measure.
        denials: calls that a policy or a person refused.
        output: what came out; None while the run is open.
        reason: why it closed (`finished`, `length`, `terminated` ...); None while open.
    """

    run_id: str
    turns: int
    tools: CalledTools
    usage: Usage
    denials: CalledTools
    output: Any
    reason: str | None


def trajectory(journal: RunState | Iterable[Step]) -> Trajectory:
    """What a run did, from its journal (a `RunState`, or the steps that `agent.run` gave)."""
    events = list(journal.events if isinstance(journal, RunState) else journal)
    done = {event.step_id: event for event in events if event.phase is Phase.COMPLETED}
    # Steps in order of their intents: a call without a result was made all the same.
    steps = list({event.step_id: done.get(event.step_id, event) for event in events}.values())
    made = [step for step in steps if isinstance(step, ToolStep | DelegateStep)]
    # A call that waited for a person, or was to be run again, has a step for each time: it is
    # one call, and the last of them has its result.
    last = {(step.call.id, step.call.name): step for step in made}
    tools = [
        _called(step)
        for step in made
        if step.result is not None or last[step.call.id, step.call.name] is step
    ]
    models = [step for step in done.values() if isinstance(step, ModelStep)]
    final = next((step for step in steps if isinstance(step, FinalStep)), None)
    usage = Usage.zero()
    for step in done.values():
        if isinstance(step, ModelStep | DelegateStep):
            usage += step.usage or Usage()
    return Trajectory(
        run_id=events[0].run_id if events else "",
        turns=len(models),
        tools=CalledTools(tools),
        usage=usage,
        denials=CalledTools(call for call in tools if call.denied is not None),
        output=None if final is None else final.output,
        reason=None if final is None else final.reason,
    )


def explain(left: object, right: object) -> list[str] | None:
    """Why a comparison of calls failed, for pytest; None where it is about something else."""
    if isinstance(right, CalledTools) and isinstance(left, list | tuple):
        actual, expected = right, list(left)
    elif isinstance(left, CalledTools) and isinstance(right, list | tuple | CalledTools):
        actual, expected = left, list(right)
    else:
        return None
    lines = [f"the run made {len(actual)} calls, {len(expected)} were expected"]
    for index in range(max(len(actual), len(expected))):
        made = actual[index] if index < len(actual) else None
        wanted = expected[index] if index < len(expected) else None
        if made is None:
            lines.append(f"  call {index}: expected {_shown(wanted)}, the run made no more")
        elif index >= len(expected):
            lines.append(f"  call {index}: {made} was not expected")
        elif not _fits(made, wanted):
            lines.append(f"  call {index}: expected {_shown(wanted)}")
            lines.append(f"          {' ' * len(str(index))}made {made}")
    return lines


def _called(step: ToolStep | DelegateStep) -> CalledTool:
    call: ToolCall = step.call
    decision = step.meta.get("decision")
    denied = None if decision is None else from_json(Decision, decision)
    return CalledTool(call.name, call.arguments, step.result, denied)


def _fits(made: CalledTool, expected: Any) -> bool:
    if isinstance(expected, str):
        return made.name == expected
    if isinstance(expected, tuple) and len(expected) == 2:
        name, arguments = expected
        return bool(made.name == name and same(to_json(arguments), to_json(made.arguments)))
    return bool(made == expected)


def _shown(expected: Any) -> str:
    if isinstance(expected, tuple) and len(expected) == 2 and isinstance(expected[1], Mapping):
        return str(CalledTool(expected[0], expected[1], None))
    return str(expected)
