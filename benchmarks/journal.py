"""What a journal costs: appending, loading and resuming runs of 10 to 10,000 steps.

    python benchmarks/journal.py [--steps 10 100 1000 10000] [--durable]

A step is a model turn that grows the conversation by two messages; it is two events. Read the
ratios: "per step" must stay flat (linear growth), and bytes a step too. Times are CPU time of
the process, so that a busy machine does not bend them; with --durable, where the wait for the
disk is what counts, they are wall time. Memory is the peak of what Python allocates while the
journal is loaded, the loaded run included.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from synaptum.context.economy import economy
from synaptum.journal.jsonl import JsonlCheckpointer
from synaptum.journal.memory import MemoryCheckpointer
from synaptum.journal.sqlite import SqliteCheckpointer
from synaptum.vocabulary import (
    FinishReason,
    History,
    Message,
    ModelStep,
    Phase,
    Request,
    Response,
    Step,
    ToolDefinition,
    Usage,
    make_step_id,
)

TOOLS = tuple(
    ToolDefinition(f"tool_{n}", "Does something useful.", {"type": "object", "properties": {}})
    for n in range(8)
)


def conversation(steps: int) -> Iterator[Step]:
    history = History([Message.user("A task of some eighty characters, such as people give. " * 2)])
    for seq in range(steps):
        request = Request("qwen3-8b", history, system="You are helpful. " * 20, tools=TOOLS)
        response = Response(
            Message.assistant(f"Answer {seq}. " * 10), FinishReason.STOP, Usage(seq, 10)
        )
        frame: dict[str, Any] = {
            "run_id": "run",
            "step_id": make_step_id(seq, "model"),
            "step_seq": seq,
            "at": "2026-11-30T12:00:00.000Z",
            "request": request,
        }
        yield ModelStep(**frame, phase=Phase.ATTEMPTED)
        yield ModelStep(**frame, phase=Phase.COMPLETED, response=response, usage=response.usage)
        history = history.append(response.message, Message.user("Go on."))


async def measure(
    name: str, make: Callable[[Path], Any], steps: int, now: Callable[[], float]
) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        events = list(conversation(steps))
        store = make(path)
        begin = now()
        for event in events:
            await store.append("run", event)
        appended = now() - begin
        if name != "memory":
            store.close()
            store = make(path)
        gc.collect()
        begin = now()
        state = await store.load("run")
        loaded = now() - begin
        assert len(state.events) == 2 * steps
        begin = now()
        economy(state)
        reported = now() - begin
        del state
        size = path.stat().st_size if path.exists() else 0
        if name != "memory":
            store.close()
            store = make(path)
        gc.collect()
        tracemalloc.start()
        state = await store.load("run")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del state
        if name != "memory":
            store.close()
    return {
        "append us/step": appended / steps * 1e6,
        "load us/step": loaded / steps * 1e6,
        "economy us/step": reported / steps * 1e6,
        "bytes/step": size / steps,
        "peak MB": peak / 1e6,
        "peak kB/step": peak / steps / 1e3,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 100, 1_000, 10_000])
    parser.add_argument("--durable", action="store_true", help="wait for the disk at each event")
    options = parser.parse_args()
    stores: dict[str, Callable[[Path], Any]] = {
        "memory": lambda path: MemoryCheckpointer(),
        "jsonl": lambda path: JsonlCheckpointer(path, durable=options.durable),
        "sqlite": lambda path: SqliteCheckpointer(path, durable=options.durable),
    }
    now = time.perf_counter if options.durable else time.process_time
    for name, make in stores.items():
        asyncio.run(measure(name, make, 10, now))  # warm: imports, readers of the codec
        rows = [(steps, asyncio.run(measure(name, make, steps, now))) for steps in options.steps]
        columns = list(rows[0][1])
        print(f"\n{name}")
        print(f"{'steps':>8}" + "".join(f"{column:>17}" for column in columns))
        for steps, row in rows:
            print(f"{steps:>8}" + "".join(f"{row[column]:>17,.1f}" for column in columns))
        base, last = rows[min(1, len(rows) - 1)], rows[-1]
        for column in ("append us/step", "load us/step"):
            ratio = last[1][column] / base[1][column]
            print(f"  {column}: {last[0]} steps over {base[0]} steps = {ratio:.2f}")


if __name__ == "__main__":
    main()
