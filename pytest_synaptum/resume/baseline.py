"""The straight run, and what the journals of other runs are held against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_synaptum.resume.boundaries import Boundary
from pytest_synaptum.resume.passage import End
from pytest_synaptum.resume.requests import Texts, stored_form
from pytest_synaptum.resume.stores import loaded
from pytest_synaptum.resume.tape import Tape
from pytest_synaptum.resume.world import World
from synaptum.journal.store import Checkpointer
from synaptum.vocabulary import DelegateStep, Step, ToolResult, ToolStep
from synaptum.vocabulary.codec import to_json

__all__ = ["Baseline", "Journals", "Key", "boundaries_of", "keys_of", "read_journals", "shown"]

#: The events of a run and of its sub-agents, by the run's common name.
Journals = Mapping[str, Sequence[Step]]

#: One write: run, step, phase.
Key = tuple[str, str, str]


async def read_journals(store: Checkpointer, world: World, runs: Iterable[str]) -> Journals:
    """The journals of `runs` as the store gives them back.

    Raises: `JournalError`, or `StoreFailedError`.
    """
    journals = {}
    for run in runs:
        journals[run] = (await loaded(store, world.id_of(run))).events
    return journals


def keys_of(run: str, events: Iterable[Step]) -> list[Key]:
    """Run, step and phase of each event."""
    return [(run, event.step_id, event.phase.value) for event in events]


def shown(event: Step, world: World) -> Any:
    """An event whole, as JSON, for showing where it differs."""
    plain = world.plain(to_json(replace(event, at="")))
    del plain["run_id"]
    return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What the run did that was not stopped.

    Attributes:
        journals: as the store gave them back.
        writes: every write in order, over all runs.
        written: the event of each, as it was given to the store.
        end: how it ended.
    """

    world: World
    tape: Tape
    journals: Journals
    writes: Sequence[Key]
    written: Mapping[Key, Step]
    end: End
    stored_texts: Texts = field(default_factory=lambda: Texts(stored_form))

    @classmethod
    def of(cls, world: World, tape: Tape, journals: Journals, end: End) -> Baseline:
        """Settle a straight run."""
        return cls(
            world=world,
            tape=tape,
            journals=journals,
            writes=tuple(world.acknowledged),
            written=dict(zip(world.acknowledged, world.written, strict=True)),
            end=end,
        )

    def step(self, run: str, step_id: str, phase: str) -> Step | None:
        """An event of the straight run."""
        for event in self.journals.get(run, ()):
            if event.step_id == step_id and event.phase.value == phase:
                return event
        return None

    def settled(self, run: str, step_id: str) -> ToolResult | None:
        """What came of the call of a step."""
        step = self.step(run, step_id, "completed")
        return step.result if isinstance(step, ToolStep | DelegateStep) else None

    def is_idempotent(self, run: str, step_id: str) -> bool:
        """Whether a step's tool says that it may be run again."""
        step = self.step(run, step_id, "attempted")
        return isinstance(step, ToolStep) and step.idempotent

    def tool_of(self, run: str, step_id: str) -> str | None:
        """The tool of a step, where it is a tool's."""
        step = self.step(run, step_id, "attempted")
        return step.call.name if isinstance(step, ToolStep) else None


def boundaries_of(baseline: Baseline) -> list[Boundary]:
    """The boundaries of a straight run, in the order of its writes."""
    effects = set(baseline.world.effects)
    return [
        Boundary(
            number,
            run,
            f"{step_id} {phase}",
            is_yielded=run == "run" and not (step_id.endswith("-approval") and _ended(phase)),
            is_answer=step_id.endswith("-model") and _ended(phase),
            is_effect=(run, step_id) in effects and _ended(phase),
        )
        for number, (run, step_id, phase) in enumerate(baseline.writes)
    ]


def _ended(phase: str) -> bool:
    return phase == "completed"
