"""What the framework costs: reading a stream, a turn of the loop, resuming, memory.

    python benchmarks/framework.py [--chunks 2000] [--steps 10 100 1000 10000]

Read the ratios, all of one run on one machine. Times are processor time, so that a busy machine
does not bend them.

1. A stream of `--chunks` chunks through `stream_from_wire` and `fold`, against the openai SDK's own
   accumulation of the same decoded JSON. Its streams always turn each chunk into a model first;
   "accumulation alone" leaves that out. The aim is 5 times its chunks a second.
2. A turn of the loop with the double: one question, one call of a tool, its result.
3. Resuming a run of `--steps` steps from each store: loading the journal and deciding what comes
   next, with one more question. The time a step must stay flat (linear growth).
4. Memory of the longest of them: the peak of what Python allocates.

The stores themselves are measured by journal.py.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openai._models import construct_type
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from synaptum import (
    Agent,
    JsonlCheckpointer,
    Limits,
    MemoryCheckpointer,
    Session,
    SqliteCheckpointer,
    tool,
)
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.testing import ScriptedModel, calls
from synaptum.vocabulary import Phase, fold

Chunks = Sequence[dict[str, Any]]

# 1. Streams


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """A chunk with the fields OpenAI itself sends."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {
        "id": "chatcmpl-x",
        "object": "chat.completion.chunk",
        "created": 1764500000,
        "model": "m",
        "service_tier": "default",
        "system_fingerprint": "fp_0",
        "choices": [choice],
        "usage": None,
    }


def text_stream(count: int) -> list[dict[str, Any]]:
    """An answer of `count` words."""
    words = [chunk({"content": f" word{number}"}) for number in range(count)]
    return [chunk({"role": "assistant", "content": ""}), *words, chunk({}, "stop")]


def call_stream(count: int) -> list[dict[str, Any]]:
    """A call whose arguments come in `count` fragments."""

    def piece(text: str) -> dict[str, Any]:
        return chunk({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})

    head = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    first = chunk({"role": "assistant", "content": None, "tool_calls": [head]})
    pieces = [piece("word ") for _ in range(count)]
    return [first, piece('{"a":"'), *pieces, piece('"}'), chunk({}, "tool_calls")]


def ours(chunks: Chunks) -> None:
    """Read with synaptum."""
    fold(OpenAICompatible().stream_from_wire(chunks))


def sdk(chunks: Chunks) -> None:
    """Read with the openai SDK, from JSON."""
    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    for one in chunks:
        state.handle_chunk(construct_type(type_=ChatCompletionChunk, value=one))  # type: ignore[arg-type]


def sdk_ready(chunks: Sequence[Any]) -> None:
    """Accumulate with the openai SDK, from chunks that are its models already."""
    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    for one in chunks:
        state.handle_chunk(one)


def best_us(read: Callable[[Any], None], chunks: Sequence[Any], rounds: int = 3) -> float:
    """Microseconds of processor time a chunk, best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        read(chunks)
        best = min(best, time.process_time() - start)
    return best / len(chunks) * 1e6


def streams(count: int) -> None:
    """The first table."""
    print(f"reading a stream of {count} chunks")
    for name, make in (("text", text_stream), ("arguments", call_stream)):
        chunks = make(count)
        models = [construct_type(type_=ChatCompletionChunk, value=one) for one in chunks]
        mine = best_us(ours, chunks)
        theirs, ready = best_us(sdk, chunks), best_us(sdk_ready, models)
        print(
            f"  {name:10} ours {mine:6.1f} us/chunk   openai {theirs:6.1f} ({theirs / mine:.1f}x)"
            f"   accumulation alone {ready:6.1f} ({ready / mine:.1f}x)"
        )
    flat = [best_us(ours, text_stream(size)) for size in (500, 8_000)]
    print(f"  8000 chunks over 500, a chunk: {flat[1] / flat[0]:.2f} (flat is 1)")


# 2. and 3. Runs


@tool(idempotent=True)
async def look(n: int) -> str:
    """Look at a number."""
    return "nothing there " * 5


def world(turns: int) -> tuple[Agent, ScriptedModel]:
    """An agent whose model calls the tool `turns` times and then answers."""
    model = ScriptedModel(*(calls("look", n=n) for n in range(turns)), "Nothing at all.")
    limits = Limits(max_steps=10 * turns + 10)
    agent = Agent(
        "a", model="openai-compatible:m", instructions="Be exact.", tools=[look], limits=limits
    )
    return agent, model


async def run_until(agent: Agent, session: Session, steps: int | None) -> float:
    """Run up to a number of completed steps, or to the end; seconds of processor time."""
    start, done = time.process_time(), 0
    events = agent.run("Look at every number.", session=session)
    async for event in events:
        done += event.phase is Phase.COMPLETED
        if done == steps:
            break
    await events.aclose()
    return time.process_time() - start


async def turn_us(turns: int) -> float:
    """Microseconds of one turn: a question, a call, its result."""
    agent, model = world(turns)
    session = Session("r", model.gateway([look]), MemoryCheckpointer())
    return await run_until(agent, session, None) / turns * 1e6


@dataclass(frozen=True)
class Resumed:
    """What resuming one journal took."""

    us_a_step: float
    peak_bytes: int


async def resume(kind: str, steps: int, *, traced: bool) -> Resumed:
    """Write a journal of `steps` steps, then go on with it in a new store to its end."""
    turns = steps // 2
    agent, model = world(turns)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal"

        def store() -> Any:
            return JsonlCheckpointer(path) if kind == "jsonl" else SqliteCheckpointer(path)

        with store() as written:
            await run_until(agent, Session("r", model.gateway([look]), written), 2 * turns)
        gc.collect()
        if traced:
            tracemalloc.start()
        with store() as again:
            took = await run_until(agent, Session("r", model.gateway([look]), again), None)
        peak = tracemalloc.get_traced_memory()[1] if traced else 0
        if traced:
            tracemalloc.stop()
        size = path.stat().st_size
    print(
        f"  {kind:7}{steps:>7} steps  "
        + (
            f"peak {peak / 1e6:7.1f} MB, {peak / size:4.1f} x the journal's {size / 1e6:.1f} MB"
            if traced
            else f"{took / steps * 1e6:8.1f} us a step"
        )
    )
    return Resumed(took / steps * 1e6, peak)


async def runs(steps: Sequence[int]) -> None:
    """The other tables."""
    await turn_us(10)  # warm: imports and the codec's readers
    print("\na turn of the loop with the double (a question, a call, its result)")
    few, many = await turn_us(100), await turn_us(2_000)
    print(f"  {few:.0f} us in a run of 100 turns, {many:.0f} in one of 2000: {many / few:.2f}")
    print("\nresuming")
    for kind in ("jsonl", "sqlite"):
        rows = [await resume(kind, count, traced=False) for count in steps]
        base = rows[min(1, len(rows) - 1)]
        ratio = rows[-1].us_a_step / base.us_a_step
        print(
            f"  {kind}: a step of {steps[-1]} over one of {steps[min(1, len(rows) - 1)]}:"
            f" {ratio:.2f} (flat is 1)"
        )
    print("\nmemory while resuming")
    for kind in ("jsonl", "sqlite"):
        await resume(kind, steps[-1], traced=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=2_000)
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 100, 1_000, 10_000])
    options = parser.parse_args()
    streams(options.chunks)
    asyncio.run(runs(options.steps))


if __name__ == "__main__":
    main()
