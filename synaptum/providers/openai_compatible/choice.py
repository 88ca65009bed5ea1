"""One choice of an answer, put together from its deltas; a whole message is one delta.

`feed` takes a choice as it stands in a chunk (or in a body) and gives the events it causes;
`close` gives the turn. It never raises for what a server sends: unknown fields are
collected, wrong types are treated as absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from synaptum.providers.openai_compatible.calls import Calls, call_events
from synaptum.providers.openai_compatible.merging import combine, joined, json_text
from synaptum.providers.openai_compatible.think_tags import ThinkTags
from synaptum.providers.openai_compatible.vocabulary import CHUNK_FRAMING, FINISH_REASONS
from synaptum.vocabulary import (
    ContentPart,
    FinishReason,
    Message,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    RedactedThinking,
    Role,
    StreamEvent,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    Thinking,
    ToolCallEnd,
)

__all__ = ["Choice"]

#: Fields of a choice that are read here or belong to the framing.
_CHOICE: Final = frozenset({"index", "delta", "message", "finish_reason"}) | CHUNK_FRAMING
#: Fields of a message or delta that are always read here.
_DELTA: Final = frozenset({"role", "content", "tool_calls"})
#: Where reasoning stands, in order of preference: the first that holds any is the one.
_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_details")
#: The answer was cut off under these, so its last call may be a stump.
_CUT: Final = (FinishReason.LENGTH, FinishReason.CONTENT_FILTER)


class Choice:
    """What one choice has said so far."""

    def __init__(self, *, think_tags: bool = False) -> None:
        self.word: Any = None  # the server's finish word, as far as one came
        self.usage: Any = None  # some servers put usage here (TGI, Moonshot)
        self.calls = Calls()
        self._has_word = False
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._source: str | None = None
        self._content: Any = _ABSENT  # how the server spelled "no text"
        self._no_calls: Any = _ABSENT  # how it spelled "no calls"
        self._extra: dict[str, list[Any]] = {}
        self._delta_extra: dict[str, list[Any]] = {}
        self._tags = ThinkTags() if think_tags else None
        self._open: str | None = None
        self._index = 0  # of the open block
        self._next = 0
        self._chunk = 0

    def feed(self, choice: Mapping[str, Any], *, whole: bool = False) -> list[StreamEvent]:
        """Take one choice of a chunk, or with `whole` the choice of a body."""
        self._chunk += 1
        events: list[StreamEvent] = []
        word = choice.get("finish_reason", _ABSENT)
        if word is not _ABSENT and (word or not self._has_word):
            self.word = word
            self._has_word = True
        # Perplexity sends a cumulative message beside each delta, and a delta in a body.
        delta = choice.get("message" if whole else "delta")
        if delta is None:
            delta = choice.get("delta" if whole else "message")
        if isinstance(delta, Mapping):
            self._feed_delta(delta, events, whole=whole)
        for name, value in choice.items():
            if name not in _CHOICE:
                if name == "usage" and isinstance(value, Mapping):
                    self.usage = value
                self._collect(self._extra, name, value)
        return events

    @property
    def finished(self) -> bool:
        """Whether a finish word came; `""` is none."""
        return bool(self.word)

    def _collect(self, into: dict[str, list[Any]], name: str, value: Any) -> None:
        values = into.get(name)
        if values is None:
            values = into[name] = []
        if value is not None:
            values.append(value)

    def _feed_delta(
        self, delta: Mapping[str, Any], events: list[StreamEvent], *, whole: bool
    ) -> None:
        source = self._source
        if source is None:
            source = self._find_source(delta)
        if source is not None and source != "content":  # parts of the content are read there
            thought = delta.get(source)
            if thought:
                text = thought if isinstance(thought, str) else _details_text(thought)
                if text:
                    self._think(text, events)
        content = delta.get("content", _ABSENT)
        if content is not _ABSENT:
            self._feed_content(content, events)
        items = delta.get("tool_calls", _ABSENT)
        if items is not _ABSENT:
            if isinstance(items, list) and items:
                for item in items:
                    if isinstance(item, Mapping):
                        self._feed_call(item, events, whole=whole)
            elif not items:
                self._no_calls = items
        for name, value in delta.items():
            if name not in _DELTA and (name != source or name == "reasoning_details"):
                if name == "function_call" and _is_call(value):
                    self._feed_call({"index": -1, "function": value}, events, whole=False)
                else:
                    self._collect(self._delta_extra, name, value)

    def _find_source(self, delta: Mapping[str, Any]) -> str | None:
        for name in _REASONING:
            value = delta.get(name)
            if value and (isinstance(value, str) or _details_text(value)):
                self._source = name
                return name
        return None

    def _feed_content(self, content: Any, events: list[StreamEvent]) -> None:
        if isinstance(content, str):
            self._feed_text(content, events)
        elif content is None:
            if self._content is _ABSENT:
                self._content = None
        elif isinstance(content, list):
            for part in content:
                self._feed_part(part, events)
        else:
            # A JSON object as the content of a JSON answer (Cloudflare).
            self._collect(self._delta_extra, "content", content)
            self._say(json_text(content), events)

    def _feed_text(self, text: str, events: list[StreamEvent]) -> None:
        if not text:
            self._content = ""
        elif self._tags is None:
            self._say(text, events)
        else:
            self._say_tagged(self._tags.feed(text), events)

    def _feed_part(self, part: Any, events: list[StreamEvent]) -> None:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if isinstance(part, str):
            kind, part = "text", {"text": part}
        if kind in ("text", "output_text") and isinstance(part.get("text"), str):
            self._feed_text(part["text"], events)
        elif kind == "thinking":
            text = _details_text(part.get("thinking"))
            if text and self._source in (None, "content"):
                self._source = "content"
                self._think(text, events)
        else:
            self._collect(self._delta_extra, "content", [part])

    def _say_tagged(self, pieces: list[tuple[bool, str]], events: list[StreamEvent]) -> None:
        for is_reasoning, text in pieces:
            if is_reasoning:
                self._think(text, events)
            else:
                self._say(text, events)

    def _say(self, text: str, events: list[StreamEvent]) -> None:
        if self._open != "text":
            self._open_block("text", events)
            events.append(TextStart(self._index))
        events.append(TextDelta(self._index, text))
        self._texts.append(text)

    def _think(self, text: str, events: list[StreamEvent]) -> None:
        if self._open != "reasoning":
            self._open_block("reasoning", events)
            events.append(ReasoningStart(self._index))
        events.append(ReasoningDelta(self._index, text))
        self._thoughts.append(text)

    def _open_block(self, kind: str, events: list[StreamEvent]) -> None:
        self._end_block(events)
        self._open = kind
        self._index = self._next
        self._next += 1

    def _end_block(self, events: list[StreamEvent]) -> None:
        if self._open == "text":
            events.append(TextEnd(self._index))
        elif self._open == "reasoning":
            events.append(ReasoningEnd(self._index))
        self._open = None

    def _feed_call(
        self, item: Mapping[str, Any], events: list[StreamEvent], *, whole: bool
    ) -> None:
        call, piece = self.calls.feed(item, self._chunk, whole=whole)
        if not call.started:
            self._end_block(events)
        caused, self._next = call_events(call, piece, self._next)
        events.extend(caused)

    def close(self, events: list[StreamEvent]) -> tuple[Message, FinishReason]:
        """The turn and why it ended; its last events are appended to `events`."""
        if self._tags is not None:
            self._say_tagged(self._tags.flush(), events)
        calls = [call for call in self.calls.all if call.name or call.fragments or call.id]
        finish = self._finish(bool(calls))
        parts: list[ContentPart] = []
        if self._thoughts:
            parts.append(Thinking(joined(self._thoughts), self._signature()))
        parts.extend(RedactedThinking(data) for data in self._encrypted())
        if self._texts:
            parts.append(Text(joined(self._texts)))
        elif self._content == "" and not parts and not calls and not self._delta_extra_says():
            self._open_block("text", events)
            events.append(TextStart(self._index))
            parts.append(Text(""))
        self._end_block(events)
        for position, call in enumerate(calls):
            cut = finish in _CUT and position == len(calls) - 1
            built = call.build(position, cut=cut)
            parts.append(built)
            if not call.started:
                caused, self._next = call_events(call, "", self._next, forced=True)
                events.extend(caused)
            if not (cut and built.unreadable_arguments is not None):
                events.append(ToolCallEnd(call.index, built))
        return Message(Role.ASSISTANT, tuple(parts)), finish

    def _finish(self, has_calls: bool) -> FinishReason:
        known = FINISH_REASONS.get(self.word) if isinstance(self.word, str) else None
        # OpenAI itself says `stop` when a named tool was called, others say `tool_calls`
        # without any call: between these two the content decides.
        if known in (None, FinishReason.STOP, FinishReason.TOOL_CALLS):
            return FinishReason.TOOL_CALLS if has_calls else FinishReason.STOP
        return known

    def _delta_extra_says(self) -> bool:
        """Whether the turn said something that is neither text nor call: a refusal."""
        return any(self._delta_extra.get("refusal", ()))

    def _details(self) -> list[Mapping[str, Any]]:
        details = combine("reasoning_details", self._delta_extra.get("reasoning_details", []))
        items = details if isinstance(details, list) else ()
        return [item for item in items if isinstance(item, Mapping)]

    def _signature(self) -> str | None:
        signatures = [
            item["signature"] for item in self._details() if isinstance(item.get("signature"), str)
        ]
        return signatures[-1] if signatures and signatures[-1] else None

    def _encrypted(self) -> list[str]:
        return [
            item["data"]
            for item in self._details()
            if isinstance(item.get("data"), str) and item["data"]
        ]

    def metadata(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the server said beyond our words: of the choice, and of its message."""
        choice = {name: combine(name, values) for name, values in self._extra.items()}
        if self._has_word:
            choice["finish_reason"] = self.word
        message = {name: combine(name, values) for name, values in self._delta_extra.items()}
        if not self._texts and self._content is not _ABSENT:
            message.setdefault("content", self._content)
        if not self.calls.all and self._no_calls is not _ABSENT:
            message["tool_calls"] = self._no_calls
        if self._source is not None:
            message["reasoning_field"] = self._source
            thought = joined(self._thoughts)
            for name in _REASONING[:2]:
                # The same text under a second name says nothing more (vLLM, OpenRouter).
                if name == self._source or message.get(name) == thought:
                    message.pop(name, None)
        return choice, message


class _Absent:
    """The key is not there, which is neither null nor empty."""


_ABSENT: Final = _Absent()


def _is_call(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value.get("name") or value.get("arguments"))


def _details_text(value: Any) -> str:
    """The text of reasoning given as a list of parts or as an object."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list):
        return ""
    texts: list[str] = []
    for item in value:
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, Mapping):
            text = item.get("text")
            if not isinstance(text, str):
                text = item.get("summary")
            if isinstance(text, str):
                texts.append(text)
    return "".join(texts)
