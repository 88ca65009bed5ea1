"""Answers of an OpenAI-compatible server, as bytes, for scripted servers and transports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["chat_body", "chat_stream", "sse"]


def chat_body(
    text: str | None = "Hello.",
    *,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    finish_reason: str | None = None,
    usage: tuple[int, int] = (7, 3),
    model: str = "scripted-model",
) -> bytes:
    """A whole chat completion.

    `tool_calls` are `{"id": ..., "name": ..., "arguments": ...}`, the arguments as text.
    """
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tool_calls:
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in tool_calls
        ]
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": finish_reason or ("tool_calls" if tool_calls else "stop"),
            }
        ],
        "usage": _usage(usage),
    }
    return json.dumps(body, ensure_ascii=False).encode()


def chat_stream(
    text_pieces: Sequence[str] = ("Hel", "lo."),
    *,
    finish_reason: str | None = "stop",
    usage: tuple[int, int] | None = (7, 3),
    model: str = "scripted-model",
    done: bool = True,
) -> list[bytes]:
    """The SSE events of a streamed chat completion, one a piece of the list.

    They are: one opening event with the role, one a text piece, one with the finish word
    (unless None), one with the usage (unless None), `[DONE]` (unless `done` is false).
    """
    chunks = [_chunk(model, {"role": "assistant", "content": ""})]
    chunks += [_chunk(model, {"content": piece}) for piece in text_pieces]
    if finish_reason is not None:
        chunks.append(_chunk(model, {}, finish_reason))
    if usage is not None:
        chunks.append({**_chunk(model, {}), "choices": [], "usage": _usage(usage)})
    return [sse(chunk) for chunk in chunks] + ([sse("[DONE]")] if done else [])


def sse(data: Any) -> bytes:
    """One server-sent event of a JSON value, or of a text as it is."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def _chunk(model: str, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": model,
        "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}],
    }


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    prompt, completion = usage
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
