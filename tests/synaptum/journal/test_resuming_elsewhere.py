"""A run goes on in whichever process takes it up, and in one at a time."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from support.agents import MODEL, final_of, run, session_of
from support.children import fork, kill, reap
from support.stores import FILE_STORES

from synaptum import ALLOW, Agent, Decision, Disposition, JournalBusyError, Session, tool
from synaptum.testing import ScriptedModel, calls

pytestmark = pytest.mark.parametrize("name", FILE_STORES)


@tool
async def pay() -> str:
    """Pays."""
    return "paid"


@tool(idempotent=True)
async def look() -> str:
    """Looks."""
    return "a lock"


AGENT = Agent("a", model=MODEL, tools=[pay, look])


def asks(check: Any) -> Decision:
    return Decision(Disposition.REQUIRE_APPROVAL, "ask") if check.name == "pay" else ALLOW


def session(store: Any, *script: Any, policy: Any = None) -> Session:
    return session_of(ScriptedModel(*script), [pay, look], policy=policy, checkpointer=store)


def elsewhere(name: str, folder: Path, *script: Any, policy: Any = None) -> int:
    """The exit code of another process that runs the agent: 0, or 3 where the run is held."""

    async def work() -> None:
        try:
            with FILE_STORES[name](folder) as store:
                await run(AGENT, "Go", session(store, *script, policy=policy))
        except JournalBusyError:
            os._exit(3)

    return reap(fork(lambda: asyncio.run(work())))


async def state_of(name: str, folder: Path) -> list[Any]:
    with FILE_STORES[name](folder) as store:
        return list((await store.load("r1")).events)


def test_who_decides_does_not_hold_the_run(name: str, tmp_path: Path) -> None:
    assert elsewhere(name, tmp_path, calls("pay"), policy=asks) == 0
    store = FILE_STORES[name](tmp_path)

    async def decide() -> None:
        waiting = session(store)
        await waiting.decide((await waiting.waiting()).step_id, ALLOW)  # type: ignore[union-attr]

    asyncio.run(decide())
    code = elsewhere(name, tmp_path, "Done.", policy=asks)
    store.close()

    assert code == 0
    assert final_of(asyncio.run(state_of(name, tmp_path))).output == "Done."


def stops_at(folder: Path, name: str, call: str) -> tuple[int, int]:
    """A child that is in the midst of `call`, and what it holds open."""
    ready, said = os.pipe()

    async def hang(*_: Any) -> Any:
        os.write(said, b".")
        await asyncio.sleep(60)

    async def work() -> None:
        store = FILE_STORES[name](folder)
        held = session(store, calls("look"), "Done.")
        if call == "model":
            held.gateway.invoke_model = hang  # type: ignore[method-assign]
        else:
            held.gateway.invoke_tool = hang  # type: ignore[method-assign]
        await run(AGENT, "Go", held)

    pid = fork(lambda: asyncio.run(work()))
    os.close(said)
    assert os.read(ready, 1) == b"."
    return pid, ready


@pytest.mark.parametrize("call", ["model", "tool"])
def test_a_run_that_another_process_is_at_is_not_done_twice(
    name: str, tmp_path: Path, call: str
) -> None:
    pid, ready = stops_at(tmp_path, name, call)
    model = ScriptedModel(*([calls("look")] if call == "model" else []), "Done.")
    ran: list[str] = []

    async def second() -> None:
        with FILE_STORES[name](tmp_path) as store:
            here = session_of(model, [pay, look], checkpointer=store)
            inner = here.gateway.invoke_tool

            async def invoke(asked: Any, context: Any) -> Any:
                ran.append(asked.name)
                return await inner(asked, context)

            here.gateway.invoke_tool = invoke  # type: ignore[method-assign]
            await run(AGENT, "Go", here)

    with pytest.raises(JournalBusyError, match=f"is being written by process {pid};"):
        asyncio.run(second())
    assert (model.requests, ran) == ([], [])

    kill(pid)
    os.close(ready)
    asyncio.run(second())
    assert ran == ["look"]
