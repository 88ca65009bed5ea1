"""What reading a stream costs: our reader against the openai SDK's own accumulation.

    python benchmarks/stream_reading.py [--chunks 2000]

Both start from the decoded JSON of the same chunks; the SDK's time is given with and without
turning each chunk into its model, which its streams always do. Read the ratios, above 1 means
we are faster; the second table must stay flat (linear time).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

from openai._models import construct_type
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary import fold

Chunks = Sequence[dict[str, Any]]


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


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=2_000)
    count = parser.parse_args().chunks
    for name, make in (("text", text_stream), ("arguments", call_stream)):
        chunks = make(count)
        models = [construct_type(type_=ChatCompletionChunk, value=one) for one in chunks]
        mine, theirs, ready = (
            best_us(ours, chunks),
            best_us(sdk, chunks),
            best_us(sdk_ready, models),
        )
        print(
            f"{name:10} ours {mine:6.1f} us/chunk   openai {theirs:6.1f} ({theirs / mine:.1f}x)"
            f"   accumulation alone {ready:6.1f} ({ready / mine:.1f}x)"
        )
    for size in (500, 2_000, 8_000):
        print(f"{size:6} chunks: {best_us(ours, text_stream(size)):6.1f} us/chunk")


if __name__ == "__main__":
    main()
