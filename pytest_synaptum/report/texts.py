"""Values and bytes as texts that people read on the page, none of them too long for it."""

from __future__ import annotations

from typing import Any, Final

from pytest_synaptum.cassette.bodies import pretty, split_body
from synaptum.vocabulary.codec import to_json

__all__ = ["LIMIT", "body_text", "shortened", "value_text"]

#: Longest text on the page, in characters. The cassette beside the test has the rest.
LIMIT: Final = 100_000


def shortened(text: str, limit: int = LIMIT) -> str:
    """`text`, or its beginning and how long it was."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… cut here: {len(text):,} characters in all"


def value_text(value: Any) -> str:
    """A value of ours, or plain JSON, indented; a text as itself."""
    return shortened(value if isinstance(value, str) else pretty(to_json(value)))


def body_text(body: bytes, *, stream: bool = False) -> tuple[str, str]:
    """A body's kind (`json`, `sse`, `text`, `base64`, `empty`) and its text.

    JSON is indented, and its numbers and escapes are those of the wire; a stream is one event
    a line.
    """
    if not body:
        return "empty", ""
    split = split_body(body, stream=stream)
    if split.kind == "json":
        return "json", shortened(pretty(split.value))
    if split.kind == "sse":
        return "sse", shortened("\n".join(split.events))
    return split.kind, shortened(str(split.value))
