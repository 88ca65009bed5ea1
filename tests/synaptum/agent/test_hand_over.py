"""A run that is not being worked on can be written by another process."""

from __future__ import annotations

import asyncio

import pytest
from support.children import fork, reap
from support.stores import FILE_STORES

from synaptum.agent.agent import Agent
from synaptum.agent.session import Session
from synaptum.testing.scripted import ScriptedModel, calls
from synaptum.tools.function import tool


@tool
def leer(ruta: str) -> str:
    """Lee un fichero."""
    return f"contenido de {ruta}"


@pytest.mark.parametrize("name", FILE_STORES)
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_a_run_that_was_left_is_finished_by_another_process(name, steps, tmp_path):
    agent = Agent("a", model="openai-compatible:m", tools=[leer])

    def session(store) -> Session:
        model = ScriptedModel(calls("leer", ruta="/x"), "ya está")
        return Session("run-1", model.gateway(tools=[leer]), store)

    async def finish() -> None:
        with FILE_STORES[name](tmp_path) as store:
            done = [step async for step in agent.run("Lee /x.", session=session(store))]
            assert done[-1].output == "ya está"

    async def leave() -> None:
        with FILE_STORES[name](tmp_path) as store:
            run = agent.run("Lee /x.", session=session(store))
            for _ in range(steps):
                await anext(run)
            await run.aclose()
            assert reap(fork(lambda: asyncio.run(finish()))) == 0
            assert (await store.load("run-1")).events[-1].output == "ya está"

    asyncio.run(leave())
