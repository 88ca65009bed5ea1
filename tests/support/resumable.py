"""Agents for the resume check: everything an agent can have, and one that is as small as can be."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_synaptum import ResumeReport, check_resume
from support.agents import MODEL
from synaptum import Agent, Decision, Disposition, Limits, Risk, Session, deferred, tool
from synaptum.testing import FakeClock, ScriptedModel, calls, fails, says, thinks

__all__ = [
    "check",
    "everything",
    "run_everything",
    "script_of_everything",
    "small",
    "with_approvals",
]


@tool(idempotent=True)
async def read(path: str) -> dict[str, str]:
    """Read a file."""
    return {"path": path, "text": "ñ 😀"}


@tool
async def write(zone: str, path: str) -> str:
    """Write a file."""
    return "x" * 400


@tool(idempotent=True)
async def weigh(grams: int) -> float:
    """Weigh a letter."""
    return grams / 1000


def everything() -> Agent:
    """Tools that may be repeated and not, a deferred catalogue, a sub-agent, an output type."""
    return Agent(
        "a",
        model=MODEL,
        instructions="Be exact.",
        tools=[read, write, *deferred([weigh])],
        delegates=[Agent("sub", model=MODEL, tools=[read])],
        output={"type": "object", "required": ["n"]},
        limits=Limits(max_tool_chars=300),
    )


def script_of_everything() -> ScriptedModel:
    """Turns that use all of it, with an attempt that fails and an answer that does not fit."""
    return ScriptedModel(
        thinks("where to begin"),
        [says("I read."), calls("read", path="a"), calls("write", zone="z", path="b")],
        calls("sub", brief="Look."),
        calls("read", path="c"),
        "It is there.",
        fails(503),
        calls("buscar_herramientas", consulta="weigh a letter"),
        calls("usar_herramienta", nombre="weigh", argumentos={"grams": 20}),
        "no object",
        '{"n": 1.0}',
    )


async def run_everything(store: Any) -> None:
    """The agent that has everything, run once into `store` as `r1`."""
    gateway = script_of_everything().gateway([read, write, *deferred([weigh])])
    clock = FakeClock()
    session = Session("r1", gateway, store, clock=clock, sleep=clock.sleep, random=lambda: 0.5)
    async for _ in everything().run("Go", session=session):
        pass


@tool(risk=Risk.HARD_WRITE)
async def publish(text: str) -> str:
    """Publish a text."""
    return "published"


def with_approvals() -> tuple[Agent, ScriptedModel, Any]:
    """A sub-agent with an effect that a person must allow, as must the delegation."""
    editor = Agent("editor", model=MODEL, tools=[publish])
    agent = Agent("a", model=MODEL, tools=[publish], delegates=[editor])
    model = ScriptedModel(
        calls("publish", text="a"),
        calls("editor", brief="Publish it."),
        calls("publish", text="b"),
        "Published.",
        "Both are out.",
    )

    def policy(check: Any) -> Decision:
        needs_person = check.kind != "model"
        return Decision(Disposition.REQUIRE_APPROVAL if needs_person else Disposition.ALLOW, "sure")

    return agent, model, lambda: model.gateway([publish], policy)


def small(*tools: Any, instructions: Any = "Be exact.", **settings: Any) -> Agent:
    """An agent with the tools given, or with `read`."""
    return Agent("a", model=MODEL, tools=tools or [read], instructions=instructions, **settings)


def check(agent: Any, *script: Any, **settings: Any) -> ResumeReport:
    """The report of a check, without failing; the script is the model's."""
    if script:
        settings["model"] = ScriptedModel(*script)
    return asyncio.run(check_resume(agent, "Go", **settings))
