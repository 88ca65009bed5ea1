"""Running agents in tests: collect what a run yields, and a session that never waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from synaptum.agent import Agent, Session
from synaptum.testing import FakeClock, ScriptedModel
from synaptum.vocabulary import FinalStep, Phase, Step

MODEL = "openai-compatible:qwen3-8b"


def session_of(model: ScriptedModel, tools: Iterable[Any] = (), **settings: Any) -> Session:
    """A session on a scripted model, with a clock that stands still and no jitter."""
    policy = settings.pop("policy", None)
    clock = settings.pop("clock", None) or FakeClock()
    return Session(
        settings.pop("run_id", "r1"),
        model.gateway(tools, policy),
        settings.pop("checkpointer", None),
        clock=clock,
        sleep=clock.sleep,
        random=settings.pop("random", lambda: 1.0),
    )


async def run(agent: Agent, task: Any, session: Session) -> list[Step]:
    """Every step of a run."""
    return [step async for step in agent.run(task, session=session)]


async def stream(agent: Agent, task: Any, session: Session) -> list[Any]:
    """Every step and fragment of a streamed run."""
    return [event async for event in agent.stream(task, session=session)]


def final_of(steps: Iterable[Any]) -> FinalStep:
    """The closing step, which is the last."""
    last = list(steps)[-1]
    assert isinstance(last, FinalStep), f"the run ended in {last}"
    assert last.phase is Phase.COMPLETED
    return last


def done(steps: Iterable[Any], kind: str) -> list[Any]:
    """The completed steps of a kind."""
    return [s for s in steps if s.kind == kind and getattr(s, "phase", None) is Phase.COMPLETED]


def outline(steps: Iterable[Any]) -> list[str]:
    """Ids and phases, such as `000000-model attempted`."""
    return [f"{step.step_id} {step.phase.value}" for step in steps]
