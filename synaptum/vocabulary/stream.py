"""A streamed answer as events: noun then phase, always start, delta, end.

`StreamStart` opens an attempt (a retried stream opens a second one and withdraws nothing);
every block has an `index`, its place in the answer; `Finish` closes the answer and carries
the whole `Response`. A stream without `Finish` did not succeed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from synaptum import canonical
from synaptum.errors import NetworkError
from synaptum.vocabulary.content import RedactedThinking, Text, Thinking, ToolCall
from synaptum.vocabulary.response import Response

__all__ = [
    "Finish",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningStart",
    "StreamEvent",
    "StreamStart",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "broken_off",
    "fold",
    "unfold",
]


@dataclass(frozen=True, slots=True)
class StreamStart:
    """An attempt begins to answer; a second one in a step is a retry.

    `model` is the model's name as the server gave it, where it has come by then.
    """

    kind: ClassVar[Literal["stream_start"]] = "stream_start"
    model: str | None = None


@dataclass(frozen=True, slots=True)
class TextStart:
    """A block of text begins; `index` tells the blocks of an answer apart."""

    kind: ClassVar[Literal["text_start"]] = "text_start"
    index: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A fragment of the block `index`: its `text`, never empty."""

    kind: ClassVar[Literal["text_delta"]] = "text_delta"
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class TextEnd:
    """The block of text is whole; `index` tells the blocks of an answer apart."""

    kind: ClassVar[Literal["text_end"]] = "text_end"
    index: int


@dataclass(frozen=True, slots=True)
class ReasoningStart:
    """A block of reasoning begins; `index` tells the blocks of an answer apart."""

    kind: ClassVar[Literal["reasoning_start"]] = "reasoning_start"
    index: int


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A fragment of the block `index`: its `text`, never empty."""

    kind: ClassVar[Literal["reasoning_delta"]] = "reasoning_delta"
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningEnd:
    """The block of reasoning is whole; `index` tells the blocks of an answer apart."""

    kind: ClassVar[Literal["reasoning_end"]] = "reasoning_end"
    index: int


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """The call in block `index` begins; `id` and `name` as far as they are known by then."""

    kind: ClassVar[Literal["tool_call_start"]] = "tool_call_start"
    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A fragment of the text of a call's arguments.

    `index` is the call's block. `arguments_delta` is raw JSON text, which may be cut inside an
    escape: only `ToolCallEnd` has arguments that can be read.
    """

    kind: ClassVar[Literal["tool_call_delta"]] = "tool_call_delta"
    index: int
    arguments_delta: str


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """The `call` in block `index` is whole: no tool may run on one that has not ended."""

    kind: ClassVar[Literal["tool_call_end"]] = "tool_call_end"
    index: int
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Finish:
    """The answer is whole; `response` is what a body of the same answer gives."""

    kind: ClassVar[Literal["finish"]] = "finish"
    response: Response


StreamEvent = (
    StreamStart
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | Finish
)


def fold(events: Iterable[StreamEvent]) -> Response:
    """Reduce a stream to its Response: the only way a stream becomes one.

    Raises:
        NetworkError: the events end without a `Finish`; the answer is not whole.
    """
    for event in events:
        if isinstance(event, Finish):
            return event.response
    raise broken_off()


def broken_off() -> NetworkError:
    """The error of a stream that ended without a `Finish`."""
    return NetworkError("The stream ended before the answer was whole: no finish arrived.")


def unfold(response: Response, piece_chars: int | None = None) -> Iterator[StreamEvent]:
    """A whole Response as the events of a stream: `fold(unfold(response)) == response`.

    Each block's text is one fragment, or fragments of at most `piece_chars` characters.
    Parts that no event can show (images ...) are in the `Finish` alone.
    """
    yield StreamStart(response.model)
    for index, part in enumerate(response.message.content):
        if isinstance(part, Text):
            yield TextStart(index)
            yield from (TextDelta(index, piece) for piece in _pieces(part.text, piece_chars))
            yield TextEnd(index)
        elif isinstance(part, Thinking | RedactedThinking):
            text = part.text if isinstance(part, Thinking) else ""
            yield ReasoningStart(index)
            yield from (ReasoningDelta(index, piece) for piece in _pieces(text, piece_chars))
            yield ReasoningEnd(index)
        elif isinstance(part, ToolCall):
            yield ToolCallStart(index, part.id, part.name)
            text = _arguments_text(part)
            yield from (ToolCallDelta(index, piece) for piece in _pieces(text, piece_chars))
            yield ToolCallEnd(index, part)
    yield Finish(response)


def _pieces(text: str, chars: int | None) -> Iterator[str]:
    size = chars or len(text)
    return (text[start : start + size] for start in range(0, len(text), size or 1))


def _arguments_text(call: ToolCall) -> str:
    if call.unreadable_arguments is not None:
        return call.unreadable_arguments
    if call.arguments_text is not None:
        return call.arguments_text
    return canonical.wire_text(call.arguments)
