"""Other configurations of an agent of ours, each of which a begun run must refuse."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pytest_synaptum.resume.baseline import Baseline, read_journals
from pytest_synaptum.resume.passage import Setup, passage
from pytest_synaptum.resume.report import Finding
from pytest_synaptum.resume.stops import Gate
from pytest_synaptum.resume.stores import GatedStore
from pytest_synaptum.resume.tape import ReplayingGateway
from pytest_synaptum.resume.world import World
from synaptum.agent.plan import Plan
from synaptum.errors import ConfigurationError
from synaptum.gateway.base import Gateway
from synaptum.journal.store import Checkpointer
from synaptum.tools import tool

__all__ = ["refuses_another"]


@tool(idempotent=True)
async def _another_tool(text: str) -> str:
    """Say a text back."""
    return text


def variants(agent: Any) -> Iterator[tuple[str, Any]]:
    """The agent with one part of its configuration changed; none where it is not one of ours."""
    plan = getattr(agent, "_plan", None)
    if not isinstance(plan, Plan):
        return
    changes: dict[str, dict[str, Any]] = {
        "another model": {"model": f"{plan.model}-other", "wire_model": f"{plan.wire_model}-other"},
        "other instructions": {"instructions": "Do something else."},
        "another tool": {
            "tools": {**plan.tools, _another_tool.name: _another_tool},
            "definitions": (*plan.definitions, _another_tool.definition),
        },
    }
    for name, change in changes.items():
        other = copy.copy(agent)
        other._plan = replace(plan, **change)
        yield name, other


async def refuses_another(
    setup: Setup, baseline: Baseline, world: World, store: Checkpointer, inner: Gateway
) -> Finding | None:
    """The run of `world`, begun and stopped, is not gone on with by another agent."""
    before = await read_journals(store, world, baseline.journals)
    if not before["run"]:
        return None
    for name, other in variants(setup.agent()):
        done = (len(world.asks), len(world.effects))
        gateway = ReplayingGateway(inner, world, Gate(), baseline.tape)
        gated = GatedStore(store, Gate(), world.wrote)
        end = await passage(setup, world, gated, gateway, Gate(), agent=other)
        after = await read_journals(store, world, baseline.journals)
        untouched = done == (len(world.asks), len(world.effects)) and before == after
        if isinstance(end.error, ConfigurationError) and untouched:
            continue
        return Finding(
            check="configuration",
            message=f"the run was gone on with by {name}",
            where=f"resumed with {name}",
            recorded="ConfigurationError, and nothing asked or written",
            came=str(end) if untouched else f"{end}, and the run was touched",
            cause="the configuration on record is not compared: half the run would be of one agent,"
            " half of another",
        )
    return None
