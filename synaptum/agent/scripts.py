"""The calls that a script makes while it runs, as steps of the journal.

A tool that makes calls (`synaptum.tools.base.MakesCalls`) is one step, and each call it makes
is another between that step's intent and its end, with `meta["within"]`, the step of the
script, and `meta["number"]`, which of its calls it is, from 0. The intent of the script says
`meta["script"]`. Calls are carried out one at a time, in the order in which the script asks.

A script that was stopped is run again from its first line, and the calls that are on record are
answered from there, one after another, as long as it makes the same ones. That is safe where
nothing was begun that must not be repeated, or where the script was stopped at a call, for a
person, and not anywhere. Elsewhere nobody knows how far it came: `UncertainEffect`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synaptum import canonical
from synaptum.tools.base import CallBridge
from synaptum.vocabulary import (
    ApprovalStep,
    Decision,
    Disposition,
    Phase,
    Step,
    ToolCall,
    ToolResult,
    ToolStep,
)

__all__ = ["Asked", "ScriptBridge", "ScriptCalls", "call_of", "is_carried_out", "script_of"]


def script_of(step: Step) -> str | None:
    """The step of the script that made this call; None for a call of the model."""
    within = step.meta.get("within") if isinstance(step, ToolStep) else None
    return within if isinstance(within, str) else None


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that a script waits for; `number` counts from 0 in one run of the script."""

    number: int
    name: str
    arguments: Mapping[str, Any]
    answer: asyncio.Future[ToolResult]


class ScriptBridge(CallBridge):
    """Hands the calls of one running script to the loop, which takes them one by one."""

    def __init__(self) -> None:
        self._asked: asyncio.Queue[Asked] = asyncio.Queue()
        self._count = 0

    def restart(self) -> None:
        """The script begins at its first line."""
        self._count = 0

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Wait until the call was carried out."""
        answer: asyncio.Future[ToolResult] = asyncio.get_running_loop().create_future()
        asked = Asked(self._count, name, arguments, answer)
        self._count += 1
        self._asked.put_nowait(asked)
        return await answer

    async def next_of(self, script: asyncio.Task[Any]) -> Asked | None:
        """The next call that is still waited for; None once the script has ended."""
        while not script.done():
            getter = asyncio.ensure_future(self._asked.get())
            try:
                await asyncio.wait({getter, script}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                getter.cancel()
            if getter.done() and not getter.cancelled():
                asked = getter.result()
                if not asked.answer.done():
                    return asked
        return None


class ScriptCalls:
    """What the journal holds of the calls of the script whose turn it is: a fold.

    Attributes:
        approval: what a person decided about the last call, until it has ended.
        given: the result a person gave for it.
        settled: whether a person had the last word, so that the script goes on.
    """

    def __init__(self) -> None:
        self._steps: list[ToolStep] = []
        self.approval: Decision | None = None
        self.given: ToolResult | None = None
        self.settled = False

    @property
    def last(self) -> ToolStep | None:
        """The call that was begun last."""
        return self._steps[-1] if self._steps else None

    @property
    def open(self) -> ToolStep | None:
        """The call that was begun and whose end is not on record."""
        last = self.last
        return last if last is not None and last.phase is Phase.ATTEMPTED else None

    @property
    def holds_effects(self) -> bool:
        """Whether a call was begun that must not be repeated."""
        return self._effects(0)

    def apply(self, event: ToolStep) -> None:
        """Take the next event of a call."""
        number = event.meta["number"]
        before = self._steps[number] if number < len(self._steps) else None
        del self._steps[number:]
        self._steps.append(event)
        ended = event.phase is Phase.COMPLETED
        if ended or before is None or before.call != event.call:
            self.approval = self.given = None  # they are about the call that was there
        by_person = event.meta.get("needs") == "rerun" or "resolved" in event.meta
        self.settled = ended and by_person

    def decided(self, approval: ApprovalStep, given: ToolResult | None) -> None:
        """Take what a person decided about the last call."""
        self.approval, self.given, self.settled = approval.decision, given, True

    def on_record(self, asked: Asked) -> ToolStep | None:
        """The call that is on record at this place, if it is the same one."""
        if asked.number >= len(self._steps):
            return None
        step = self._steps[asked.number]
        same = step.call.name == asked.name and canonical.encode(
            dict(step.call.arguments)
        ) == canonical.encode(dict(asked.arguments))
        return step if same else None

    def strays(self, asked: Asked) -> bool:
        """Whether the script left what is on record, and something there must not be repeated."""
        return self.on_record(asked) is None and self._effects(asked.number)

    def decision_on(self, asked: Asked) -> tuple[Decision | None, ToolResult | None]:
        """What a person decided, or gave, for this very call."""
        step = self.on_record(asked)
        if step is None or step is not self.last:
            return None, None
        return self.approval, self.given

    def _effects(self, start: int) -> bool:
        return any(not step.idempotent for step in self._steps[start:])


def is_carried_out(approval: Decision | None, given: ToolResult | None) -> bool:
    """Whether a call was, or is, to be carried out, as far as a person had a say."""
    refused = approval is not None and approval.disposition is not Disposition.ALLOW
    return not refused and given is None


def call_of(script: ToolStep, asked: Asked) -> ToolCall:
    """The call as the journal and the policy see it."""
    return ToolCall(f"{script.call.id}.{asked.number}", asked.name, dict(asked.arguments))
