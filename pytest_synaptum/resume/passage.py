"""One passage of an agent of ours through a run: from where its journal ends, to a stop or the end.

A person is played by `decide`, who answers every approval, and by the straight run, which knows
what came of a call that nobody knows about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_synaptum.resume.scripts import is_script
from pytest_synaptum.resume.stops import Gate, Stop, StoppedError
from pytest_synaptum.resume.stores import GatedStore, OpenStore
from pytest_synaptum.resume.tape import DivergedError, ReplayingGateway
from pytest_synaptum.resume.world import World
from synaptum.agent import Session
from synaptum.errors import ConfigurationError, SynaptumError, UncertainEffect
from synaptum.gateway.base import Gateway
from synaptum.testing import FakeClock
from synaptum.vocabulary import ApprovalStep, Decision, FinalStep, Phase, ToolResult

__all__ = ["End", "Settle", "Setup", "passage"]

#: What came of the call of a step (run, step id) in the straight run; None where it did not end
#: with a result.
Settle = Callable[[str, str], ToolResult | None]

#: Approvals and settled calls of one run, at most: a run that never ends must not hang a test.
_MOST_ROUNDS = 1_000


class _Agent(Protocol):
    def run(self, task: Any, *, session: Session) -> Any: ...

    def stream(self, task: Any, *, session: Session) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What is checked: every part is made anew for each passage.

    Attributes:
        agent: gives the agent.
        gateway: gives the gateway.
        open_store: opens the store in a folder.
        decide: answers an approval.
    """

    agent: Callable[[], _Agent]
    task: Any
    gateway: Callable[[], Gateway]
    open_store: OpenStore
    is_streamed: bool
    decide: Callable[[ApprovalStep], Decision]


@dataclass(frozen=True, slots=True)
class End:
    """How a passage ended.

    Attributes:
        kind: `final` (closed), `stopped` (at the boundary) or `raised`.
        error: what was raised, if so.
    """

    kind: str
    error: Exception | None = None

    def __str__(self) -> str:
        if self.error is None:
            return self.kind
        return f"{type(self.error).__name__}: {self.error}"


async def passage(
    setup: Setup,
    world: World,
    store: GatedStore,
    gateway: Gateway,
    gate: Gate,
    *,
    day: int = 0,
    settle: Settle | None = None,
    agent: _Agent | None = None,
) -> End:
    """Run, or go on with, the run of `world`.

    In: `day` is how long after the first passage this one happens; `settle` is given on a
    resumed run.
    """
    clock = FakeClock()
    clock.advance(day * 90_061.0)  # a day, an hour, a minute and a second: every part moves
    session = Session(
        world.run_id,
        gateway,
        store,
        clock=clock,
        sleep=clock.sleep,
        random=lambda: 0.5,
    )
    agent = setup.agent() if agent is None else agent
    task = asyncio.ensure_future(_rounds(setup, agent, session, gate, world, settle))
    try:
        return await task
    except StoppedError:
        return End("stopped")
    except asyncio.CancelledError:
        if task.cancelled() and gate.stop is Stop.CANCELLED and gate.is_just_after:
            return End("stopped")
        raise
    except (SynaptumError, DivergedError) as error:
        return End("raised", error)


async def _rounds(
    setup: Setup,
    agent: _Agent,
    session: Session,
    gate: Gate,
    world: World,
    settle: Settle | None,
) -> End:
    for _ in range(_MOST_ROUNDS):
        try:
            last = await _iterate(setup, agent, session, gate)
        except UncertainEffect as error:
            if settle is None:
                raise
            place = (world.name_of(error.run_id), error.step_id)
            if place in world.uncertain:
                return End("raised", error)
            world.uncertain.append(place)
            await _settle(session, error, settle(*place), world)
            continue
        if last is None:
            return End("stopped")
        if isinstance(last, ApprovalStep) and last.phase is Phase.ATTEMPTED:
            decision: object = setup.decide(last)  # the user's function
            if not isinstance(decision, Decision):
                msg = (
                    f"decide= gave a {type(decision).__name__}: a plain function gives a Decision."
                )
                raise TypeError(msg)
            await session.decide(last.step_id, decision)
        elif isinstance(last, FinalStep):
            return End("final")
        else:
            msg = f"The run ended in {last.step_id} without being closed."
            raise ConfigurationError(msg)
    msg = f"The run was resumed {_MOST_ROUNDS} times, and did not come to an end."
    raise ConfigurationError(msg)


async def _iterate(setup: Setup, agent: _Agent, session: Session, gate: Gate) -> Any:
    """The last step of one iteration; None where it was left at the boundary."""
    run = agent.stream if setup.is_streamed else agent.run
    last = None
    async with aclosing(run(setup.task, session=session)) as events:
        async for event in events:
            if hasattr(event, "step_id"):
                last = event
                if gate.stop is Stop.ENDED and gate.is_just_after:
                    return None
            elif gate.stop is Stop.IN_STREAM and gate.writes == gate.at:
                return None
    return last


async def _settle(
    session: Session, error: UncertainEffect, result: ToolResult | None, world: World
) -> None:
    owner = session if error.run_id == session.run_id else session.child(error.run_id)
    is_cut_script = any(
        event.step_id == error.step_id and is_script(event)
        for event in (await owner.state()).events
    )
    if result is not None:
        await owner.resolve(error.step_id, result=result)
        if not is_cut_script:
            return  # the calls that a cut script did not make are missing from the numbers
    else:
        await owner.resolve(error.step_id, rerun=True)
    world.is_shifted = True
    if isinstance(session.gateway, ReplayingGateway):
        session.gateway.follow_bytes()
