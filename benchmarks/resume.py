"""What checking a run costs: stopping it at every boundary, in the process and by kill -9.

    python benchmarks/resume.py [--steps 4 10 20 50] [--no-kill]

A step is a model turn or a tool call; each is two writes, so an agent of n steps has about 2n
boundaries. "each" is a boundary of its own for every kind of stop (work of order n squared);
"chains" is what a run of more than 40 boundaries gets by default: all boundaries one after the
other, and a dozen of them each in a run of its own. Processor time is that of this process and its
children, which a busy machine does not change much; the time on the clock is what a test waits.
Part of a kill runs beside it on a second core: the fork of the next child.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from pathlib import Path
from typing import Any

from pytest_synaptum import ResumeReport, Stop, check_resume
from synaptum import Agent, Limits, SqliteCheckpointer, tool
from synaptum.testing import ScriptedModel, calls

IN_PROCESS = {Stop.ENDED, Stop.BEFORE, Stop.AFTER, Stop.CANCELLED}
KILLS = {Stop.KILLED_BEFORE, Stop.KILLED_AFTER}


@tool(idempotent=True)
async def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


AGENT = Agent("a", model="openai-compatible:m", tools=[read], limits=Limits(max_steps=1_000))


def on_disk(folder: Path) -> SqliteCheckpointer:
    return SqliteCheckpointer(folder / "journal.db")


def seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(steps: int, **settings: Any) -> tuple[float, float, ResumeReport]:
    """Processor seconds, seconds on the clock, and the report."""
    script = [calls("read", path=str(turn)) for turn in range(max(1, (steps - 1) // 2))]
    model = ScriptedModel(*script, "Done.")
    started, began = seconds(), time.perf_counter()
    report = asyncio.run(check_resume(AGENT, "Go", model=model, **settings))
    took, waited = seconds() - started, time.perf_counter() - began
    assert report.ok, str(report)
    return took, waited, report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, nargs="+", default=[4, 10, 20, 50])
    parser.add_argument("--no-kill", action="store_true")
    options = parser.parse_args()
    print(f"{'':53}{'processor':>17}{'clock':>9}")
    print(
        f"{'steps':>6} {'boundaries':>10} {'how':28} {'stops':>6}"
        f" {'seconds':>8} {'ms/stop':>8} {'ms/stop':>8}"
    )
    affordable = 0
    for steps in options.steps:
        kinds: list[tuple[str, dict[str, Any]]] = [("in memory", {"stops": IN_PROCESS})]
        if steps <= 20:
            kinds.append(("in memory, each", {"stops": IN_PROCESS, "sample": 10_000}))
        if not options.no_kill:
            kinds.append(("kill -9, SQLite", {"stops": KILLS, "checkpointer": on_disk}))
        for how, settings in kinds:
            took, waited, report = measure(steps, **settings)
            boundaries, stops = len(report.boundaries), len(report.cells)
            print(
                f"{steps:>6} {boundaries:>10} {how:28} {stops:>6} {took:>8.2f}"
                f" {took * 1_000 / stops:>8.1f} {waited * 1_000 / stops:>8.1f}"
            )
            if how == "in memory" and took < 10:
                affordable = max(affordable, steps)
    print(f"\nIn under ten processor seconds, at every boundary in memory: {affordable} steps.")
    print("For longer runs give sample=, which looks at about so many boundaries.")


main()
