"""Agents of any framework: what the check needs to see of them.

    class MyAgent:                       # one run of the agent, over a store in a folder
        async def start(self, task, probe): ...
        async def resume(self, probe): ...
        async def journal(self): ...     # what is on record, as JSON, oldest first

The adapter tells the probe of every durable write (`probe.before_write()`,
`probe.after_write()`), every question to the model (`probe.asked(request)`) and every tool that
takes effect (`probe.effect(name, arguments)`, then `probe.effect_happened()`). The model is the
adapter's own: give it one that answers the same every time.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from pytest_synaptum.resume.stops import Gate, die
from synaptum import canonical
from synaptum.errors import EncodingError

__all__ = ["AnyAgent", "Probe", "as_json", "is_any_agent"]


#: What tells an `AnyAgent`.
_METHODS: Final = ("start", "resume", "journal")


class AnyAgent(Protocol):
    """One run of an agent. A new one over the same folder goes on with the run."""

    async def start(self, task: Any, probe: Probe) -> Any:
        """Begin the run and go on to its end; the final output, as JSON."""
        ...

    async def resume(self, probe: Probe) -> Any:
        """Go on with the run that is on record to its end; the final output.

        Where the process died before the first write nothing is on record, and the run is to
        begin anew: an adapter that needs the task for it keeps it itself.
        """
        ...

    async def journal(self) -> Sequence[Any]:
        """What is on record, oldest first, as JSON without times and drawn ids."""
        ...


@dataclass(slots=True)
class Probe:
    """What an adapter tells of a run, and what stops it.

    Attributes:
        gate: counts the writes, and stops the run at one.
        last_effect: number of the effect, from 0, after which the process is killed; None
            never kills. A framework may write in another thread while a tool runs, so the
            number of writes does not say for sure which effect it is.
        asks: questions to the model, as canonical JSON, with the number of writes before each.
        effects: tools that took effect, likewise.
        happened: for each effect, in the order in which they were done, the number of writes
            before that.
        names: what each write was called, in order.
        log: descriptor to which a child process writes what it did, for its parent; None in
            the parent itself.
    """

    gate: Gate
    last_effect: int | None = None
    asks: list[tuple[int, str]] = field(default_factory=list)
    effects: list[tuple[int, str]] = field(default_factory=list)
    happened: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    log: int | None = None

    def before_write(self) -> None:
        """A durable write is about to happen."""
        self.gate.before()

    def after_write(self, name: str = "write") -> None:
        """A durable write has happened; `name` says in the report which."""
        self._keep("names", name)
        self.gate.after()

    def asked(self, request: Any) -> None:
        """The model is asked; `request` is JSON."""
        self._keep("asks", (self.gate.writes, as_json("probe.asked()", request)))

    def effect(self, name: str, arguments: Any = None) -> None:
        """A tool that may not be repeated is about to take effect."""
        what = as_json("probe.effect()", [name, arguments])
        self._keep("effects", (self.gate.writes, what))

    def effect_happened(self) -> None:
        """It has. Does not return where the process is to be killed here."""
        self._keep("happened", self.gate.writes)
        if self.last_effect == len(self.happened) - 1:
            die()

    def _keep(self, kind: str, what: Any) -> None:
        getattr(self, kind).append(what)
        if self.log is not None:
            os.write(self.log, json.dumps([kind, what]).encode() + b"\n")

    def adopt(self, log: bytes) -> None:
        """Take over what a child did."""
        for line in log.splitlines():
            kind, what = json.loads(line)
            getattr(self, kind).append(tuple(what) if isinstance(what, list) else what)


def is_any_agent(given: Any) -> bool:
    """Whether it makes an `AnyAgent`: a class, or a function that needs one thing, a folder.

    Raises:
        TypeError: it is itself one, where what makes it is needed.
    """
    if isinstance(given, type):
        return any(hasattr(given, name) for name in _METHODS)
    if all(hasattr(given, name) for name in _METHODS):
        msg = (
            f"agent={given!r} is one run, and each stop needs its own: give its class, or a"
            " function that makes it from a folder."
        )
        raise TypeError(msg)
    if not callable(given) or hasattr(given, "run"):
        return False
    try:
        parameters = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        return False
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [p for p in parameters if p.default is p.empty and p.kind not in variadic]
    return len(needed) == 1


def as_json(what: str, value: Any) -> str:
    """A value of the adapter's as canonical JSON.

    In: `what` says whose it is, for the error.

    Raises:
        EncodingError: it is no JSON.
    """
    try:
        return canonical.encode(value)
    except EncodingError as error:
        msg = f"{what} gave the check what is no JSON: {error}"
        raise EncodingError(msg) from None
