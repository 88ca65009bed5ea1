"""What is true of every case, whatever its golden says.

Each law is a function over one exchange as an adapter reads it, giving a sentence for each
way in which it is broken. `corpus/FORMAT.md` lists them by the same names.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pytest_synaptum.corpus.case import Ask
from pytest_synaptum.corpus.reading import Reading, is_stream_body, read_exchange
from pytest_synaptum.corpus.wire_lint import lint
from pytest_synaptum.exchange import Exchange
from synaptum.errors import SynaptumError
from synaptum.models.dialect import Dialect
from synaptum.transport.sse import sse_data
from synaptum.vocabulary import (
    Finish,
    FinishReason,
    Message,
    ReasoningDelta,
    Request,
    Response,
    Role,
    StreamStart,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolDefinition,
    ToolResult,
)

__all__ = ["LAWS", "Situation", "same_answer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One exchange of a case under one adapter; `wire` is the body the adapter asks with."""

    ask: Ask
    exchange: Exchange
    dialect: Dialect
    reading: Reading
    wire: Mapping[str, Any] | None


def cut(situation: Situation) -> Iterator[str]:
    """However the bytes of a stream are cut, the result is one."""
    recorded = situation.exchange.response
    if recorded is None or not is_stream_body(recorded):
        return
    body = recorded.body
    for name, pieces in _cuts(body):
        again = read_exchange(situation.dialect, situation.exchange, pieces)
        if not _same_reading(situation.reading, again):
            yield f"read {name}, the stream gives another result than in the recorded chunks"


def _cuts(body: bytes) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield "whole", [body]
    yield "byte by byte", (body[index : index + 1] for index in range(len(body)))
    inside = [index for index, byte in enumerate(body) if byte & 0xC0 == 0x80]
    if inside:
        edges = [0, *inside, len(body)]
        pieces = [body[a:b] for a, b in itertools.pairwise(edges)]
        yield "cut inside each UTF-8 character", pieces


def _same_reading(one: Reading, other: Reading) -> bool:
    return (one.events, one.response, type(one.error), str(one.error)) == (
        other.events,
        other.response,
        type(other.error),
        str(other.error),
    )


def events(situation: Situation) -> Iterator[str]:
    """Starts, deltas and ends fit together, and add up to the response."""
    given = situation.reading.events
    if not given:
        return
    if not isinstance(given[0], StreamStart):
        yield f"the stream opens with {given[0].kind}, not with stream_start"
    open_blocks: dict[int, str] = {}
    seen: set[int] = set()
    for event in given:
        index = getattr(event, "index", None)
        if index is None:
            continue
        family, _, phase = event.kind.rpartition("_")
        if phase == "start":
            if index in seen:
                yield f"block {index} starts twice"
            seen.add(index)
            open_blocks[index] = family
        elif open_blocks.get(index) != family:
            yield f"{event.kind} of block {index}, which is not open as {family}"
        elif phase == "end":
            del open_blocks[index]
    response = situation.reading.response
    finishes = [event for event in given if isinstance(event, Finish)]
    if response is None:
        if finishes:
            yield "the stream failed and yet gave a finish"
        return
    if len(finishes) != 1 or given[-1] is not finishes[0]:
        yield "a whole stream ends with its one finish"
    # A call that the limit or a filter cut never ends: no tool may run on it.
    was_cut = response.finish_reason in (FinishReason.LENGTH, FinishReason.CONTENT_FILTER)
    left = [n for n, family in open_blocks.items() if not (was_cut and family == "tool_call")]
    if left:
        yield f"blocks {sorted(left)} never ended"
    yield from _adds_up(situation.reading, response)


def _adds_up(reading: Reading, response: Response) -> Iterator[str]:
    deltas = reading.events
    text = "".join(event.text for event in deltas if isinstance(event, TextDelta))
    if text != response.text:
        yield f"the text deltas say {_short(text)}, the response {_short(response.text)}"
    thought = "".join(event.text for event in deltas if isinstance(event, ReasoningDelta))
    whole = "".join(part.text for part in response.message.content if isinstance(part, Thinking))
    if thought != whole:
        yield f"the reasoning deltas say {_short(thought)}, the response {_short(whole)}"
    calls = tuple(event.call for event in deltas if isinstance(event, ToolCallEnd))
    started = {event.index for event in deltas if isinstance(event, ToolCallStart)}
    known = [call for call in response.tool_calls if call in calls]
    if len(known) != len(calls) or len(response.tool_calls) != len(started):
        yield "the calls that ended in the stream are not those of the response"
    pieces = {event.index for event in deltas if isinstance(event, ToolCallDelta)}
    if not pieces <= started:
        yield "arguments came for a call that never started"


def timings(situation: Situation) -> Iterator[str]:
    """Where llama.cpp's timings came, input tokens are those evaluated and those from cache."""
    response = situation.reading.response
    if response is None:
        return
    for said in _said(situation.exchange):
        numbers = said.get("timings")
        if not isinstance(numbers, Mapping) or "cache_n" not in numbers:
            continue
        wanted = numbers["prompt_n"] + numbers["cache_n"]
        if response.usage.input != wanted:
            yield (
                f"timings say prompt_n {numbers['prompt_n']} + cache_n {numbers['cache_n']}, the"
                f" response has {response.usage.input} input tokens"
            )


def _said(exchange: Exchange) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of an answer, as far as they can be read."""
    recorded = exchange.response
    if recorded is None:
        return
    texts = sse_data([recorded.body]) if is_stream_body(recorded) else [recorded.body]
    for text in texts:
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if isinstance(value, Mapping):
            yield value


def round_trip(situation: Situation) -> Iterator[str]:
    """The answer's turn, sent back and read again, is the same turn."""
    response = situation.reading.response
    if response is None:
        return
    turn = response.message
    travels = any(not isinstance(part, Thinking) for part in turn.content)
    if not travels:
        return  # a turn that only reasoned is not sent
    answers = tuple(ToolResult.of(call.id, "ok") for call in turn.tool_calls)
    tail = (Message.tool_results(*answers),) if answers else ()
    names = dict.fromkeys(call.name for call in turn.tool_calls)
    request = Request(
        model=response.model or "model",
        messages=(Message.user("Go on."), turn, *tail),
        tools=tuple(ToolDefinition(name, "", {"type": "object"}) for name in names),
    )
    try:
        body = situation.dialect.provider.to_wire(request)
    except SynaptumError as error:
        if not turn.tool_calls:  # a name or id that the dialect has no shape for may be refused
            yield f"the answer's turn cannot be sent back: {error}"
        return
    for finding in lint(body):
        yield f"sent back, the turn breaks the wire lint: {finding}"
    sent = [message for message in body["messages"] if message.get("role") == "assistant"]
    if len(sent) != 1:
        yield f"sent back, the turn became {len(sent)} assistant turns"
        return
    finish = "tool_calls" if turn.tool_calls else "stop"
    choice = {"index": 0, "message": sent[0], "finish_reason": finish}
    again = situation.dialect.provider.from_wire({"choices": [choice]}).message
    yield from _compare_turns(turn, again)


def _compare_turns(turn: Message, again: Message) -> Iterator[str]:
    if again.role is not Role.ASSISTANT:
        yield f"read again, the turn is of {again.role.value}"
    if turn.text != again.text:
        yield f"read again, the text is {_short(again.text)} instead of {_short(turn.text)}"
    if not turn.tool_calls:
        before, after = (
            any(isinstance(part, Text) for part in message.content) for message in (turn, again)
        )
        if before != after:
            yield "no text and an empty text are not told apart on the way back"
    # Ids may be rewritten for a server's pattern; what was asked for may not.
    asked, read = (
        [
            (call.name, call.arguments if call.unreadable_arguments is None else {})
            for call in message.tool_calls
        ]
        for message in (turn, again)
    )
    if asked != read:
        yield "read again, the calls are not the same"


def wire_lint(situation: Situation) -> Iterator[str]:
    """No body breaks a rule of the wire lint, but those that the ask names."""
    body = situation.wire if situation.wire is not None else situation.ask.body
    broken = {finding.rule.id: str(finding) for finding in lint(body)}
    for rule, sentence in broken.items():
        if rule not in situation.ask.lint:
            yield sentence
    for rule in situation.ask.lint:
        if rule not in broken:
            yield f"the ask says that it breaks {rule}, and it does not"


def same_answer(readings: Iterable[Reading]) -> Iterator[str]:
    """All forms of one answer give one response, apart from what only one form can say."""
    first: Response | None = None
    for number, reading in enumerate(readings, 1):
        response = reading.response
        if response is None:
            yield f"ask {number} has no response to compare"
        elif first is None:
            first = response
        elif _substance(first) != _substance(response):
            yield f"ask {number} gives another response than the first"


def _substance(response: Response) -> tuple[Any, ...]:
    # A server draws the id of a call anew for each answer, so ids cannot agree.
    parts = tuple(
        replace(part, id="") if isinstance(part, ToolCall) else part
        for part in response.message.content
    )
    return parts, response.finish_reason, response.usage


def _short(text: str) -> str:
    shown = json.dumps(text, ensure_ascii=False)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


#: Every law over one exchange, by the name that reports use.
LAWS: Final[Mapping[str, Callable[[Situation], Iterator[str]]]] = {
    "cut": cut,
    "events": events,
    "timings": timings,
    "round-trip": round_trip,
    "wire-lint": wire_lint,
}
