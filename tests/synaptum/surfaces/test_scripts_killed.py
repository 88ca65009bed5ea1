"""The agent's process killed while a script runs: the script ends too, and the run resumes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.agents import MODEL, done, final_of, run, session_of

from synaptum import Agent, UncertainEffect, tool
from synaptum.journal.jsonl import JsonlCheckpointer
from synaptum.surfaces import code_tool
from synaptum.testing import ScriptedModel, calls

#: Looks, or pays; then spins until the flag is there; then looks again.
SCRIPT = """\
import os
print(await {first}(1))
open({pid!r}, "w").write(str(os.getpid()))
while not os.path.exists({flag!r}):
    pass
print(await look(2))
"""


def tools(log):
    @tool(idempotent=True)
    def look(n: int) -> int:
        """Look."""
        with log.open("a", encoding="utf-8") as file:
            file.write(f"look {n}\n")
        return n * 10

    @tool
    def pay(n: int) -> str:
        """Pay."""
        with log.open("a", encoding="utf-8") as file:
            file.write(f"pay {n}\n")
        return "paid"

    return [look, pay]


class Place:
    """A folder with the journal, the log of effects, the script's pid and the flag."""

    def __init__(self, folder, first):
        self.log, self.pid, self.flag = (folder / name for name in ("log", "pid", "flag"))
        self.journal = folder / "journal.jsonl"
        self.script = SCRIPT.format(first=first, pid=str(self.pid), flag=str(self.flag))
        self.code = code_tool(tools(self.log))
        self.agent = Agent("a", model=MODEL, tools=[self.code])

    def session(self):
        store = JsonlCheckpointer(self.journal, durable=False)
        # A model that is asked again for the first turn: it is on record, so it never is.
        on_record = self.journal.exists()
        turns = ["Done."] if on_record else [calls("run_python", script=self.script), "Done."]
        return session_of(ScriptedModel(*turns), [self.code], checkpointer=store)


def until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("nothing came of it in 30 seconds")


def lives(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def killed_in_the_script(folder, first):
    """Run it in a process of its own, and kill that with SIGKILL while the script spins."""
    place = Place(folder, first)
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[2]), str(Path(__file__).parent)]!r}\n"
        "from test_scripts_killed import Place\n"
        "from support.agents import run\n"
        f"place = Place(Path({str(folder)!r}), {first!r})\n"
        "asyncio.run(run(place.agent, 'Go', place.session()))\n"
    )
    agent = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    try:
        until(lambda: place.pid.exists() and place.pid.read_text(encoding="utf-8"))
        script = int(place.pid.read_text(encoding="utf-8"))
        assert lives(script)
        agent.send_signal(signal.SIGKILL)
        agent.wait()
        until(lambda: not lives(script))
    finally:
        agent.kill()
        agent.wait()
    place.flag.touch()
    return place


@pytest.mark.asyncio
async def test_a_script_ends_with_its_killed_agent_and_what_it_read_is_not_read_again(tmp_path):
    place = killed_in_the_script(tmp_path, "look")

    steps = await run(place.agent, "Go", place.session())

    assert place.log.read_text(encoding="utf-8") == "look 1\nlook 2\n"
    script = next(s for s in done(steps, "tool") if s.call.name == "run_python")
    assert script.result.text == "10\n20"
    assert final_of(steps).output == "Done."


@pytest.mark.asyncio
async def test_a_script_killed_after_a_payment_waits_for_a_person(tmp_path):
    place = killed_in_the_script(tmp_path, "pay")

    with pytest.raises(UncertainEffect):
        await run(place.agent, "Go", place.session())

    session = place.session()
    await session.resolve("000001-tool", rerun=True)
    steps = await run(place.agent, "Go", session)

    assert place.log.read_text(encoding="utf-8") == "pay 1\nlook 2\n"
    assert final_of(steps).output == "Done."
