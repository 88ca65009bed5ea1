"""One run of the task, stopped or not: its name, and all that it was seen to do.

A world outlives the passages of its run, and the process of a killed one: what a child does
goes down a file, line by line, as it happens.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from synaptum.vocabulary import Request, Step, ToolCall

__all__ = ["Stray", "World"]

#: A step of a run, by the run's name without what tells the worlds apart, and the step's id.
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Stray:
    """A request that is not the straight run's; `expected` is None where it made none there."""

    run: str
    step_id: str
    came: Request
    expected: Request | None


@dataclass(slots=True)
class World:
    """What one run did, over all its passages.

    Attributes:
        run_id: the run's name in the store.
        asks: questions to the model, in order.
        effects: tools that were begun, in order.
        acknowledged: writes that the store acknowledged: run, step, phase.
        written: the events of these writes, but for those of another process.
        uncertain: calls of which the run said that their fate is not known.
        is_shifted: a call was settled by running it again as a step of its own, so that the
            steps behind it have other numbers.
    """

    run_id: str
    asks: list[Place] = field(default_factory=list)
    effects: list[Place] = field(default_factory=list)
    acknowledged: list[tuple[str, str, str]] = field(default_factory=list)
    written: list[Step] = field(default_factory=list)
    uncertain: list[Place] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    is_shifted: bool = False
    log: int | None = None

    def name_of(self, run_id: str) -> str:
        """`run` for the run itself, `run.000003-delegate` for a sub-agent's."""
        return "run" + run_id.removeprefix(self.run_id)

    def id_of(self, run: str) -> str:
        """The inverse of `name_of`."""
        return self.run_id + run.removeprefix("run")

    @staticmethod
    def suffix(run_id: str) -> str:
        """What tells a sub-agent's run from the run itself: `.000003-delegate`."""
        return run_id[run_id.find(".") :] if "." in run_id else ""

    def asked(self, run: str, step_id: str, request: Request) -> None:
        """The model was asked."""
        self._keep("asks", (run, step_id))

    def effect(self, run: str, step_id: str, call: ToolCall) -> None:
        """A tool is about to be run."""
        self._keep("effects", (run, step_id))

    def wrote(self, event: Step) -> None:
        """The store acknowledged a write."""
        run = self.name_of(event.run_id)
        self.written.append(event)
        self._keep("acknowledged", (run, event.step_id, event.phase.value))

    def strayed(self, run: str, step_id: str, request: Request, expected: Request | None) -> None:
        """A request is not the straight run's."""
        self.strays.append(Stray(run, step_id, request, expected))

    def times_run(self) -> Counter[Place]:
        """How often the tool of each step was begun."""
        return Counter(self.effects)

    def _keep(self, kind: str, what: tuple[str, ...]) -> None:
        getattr(self, kind).append(what)
        if self.log is not None:
            # One write, so that a kill leaves whole lines.
            os.write(self.log, json.dumps([kind, *what]).encode() + b"\n")

    def adopt(self, log: bytes) -> None:
        """Take over what a child did."""
        for line in log.splitlines():
            kind, *what = json.loads(line)
            getattr(self, kind).append(tuple(what))

    def names(self, text: str) -> str:
        """A text with this world's name replaced by the common one."""
        return text.replace(self.run_id, "run")

    def plain(self, value: Any) -> Any:
        """A JSON value with this world's name replaced by the common one."""
        return json.loads(self.names(json.dumps(value)))
