"""Tool calls, put together from fragments that servers number and name in many ways.

Which call a fragment belongs to, in this order (each seen in recorded exchanges or public
reports):
- a new id at an index that already has a call starts another call (every call numbered 0);
- an id that is already known continues its call, whatever the index says;
- an index continues the call it numbers, also interleaved with others;
- without index and id, a name starts a call when the last one is complete or differs;
- anything else continues the last call.

A name may be split over fragments, before any argument came, or repeated in each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import EncodingError
from synaptum.providers.openai_compatible.call_ids import made_id
from synaptum.providers.openai_compatible.merging import combine, joined, json_text
from synaptum.vocabulary import StreamEvent, ToolCall, ToolCallDelta, ToolCallStart

__all__ = ["Call", "Calls", "call_events", "index_of", "readable_object"]

#: Fields of a call that the dialect knows; others are kept in `ToolCall.provider_metadata`.
_KNOWN: Final = frozenset({"index", "id", "type", "function"})


def index_of(value: Any) -> int | None:
    """An index as a server gives it: a whole number, however it is written, or none."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def readable_object(text: str) -> dict[str, Any] | None:
    """The arguments in `text`, or None where it is no JSON object that we can keep exactly.

    Blank text and `null` are how servers write "no arguments" (OpenAI-like servers send
    `""`, Groq was seen to send `null`): both are `{}`.
    """
    if not text.strip():
        return {}
    try:
        value = canonical.decode(text)
    except EncodingError:
        return None
    if value is None:
        return {}
    return value if isinstance(value, dict) else None


class Call:
    """One call as far as it has come."""

    __slots__ = ("chunk", "custom", "extra", "fragments", "id", "index", "name", "started")

    def __init__(self, chunk: int) -> None:
        self.id = ""
        self.name = ""
        self.fragments: list[str] = []
        self.index = -1  # place among the blocks of the answer, once started
        self.started = False
        self.custom = False
        self.chunk = chunk  # number of the chunk it began in
        self.extra: dict[str, list[Any]] = {}

    @property
    def text(self) -> str:
        """The arguments' text so far."""
        return joined(self.fragments)

    def looks_complete(self) -> bool:
        """Whether the text is a whole object; looks at it only where its end may be one."""
        if not self.fragments or not self.fragments[-1].rstrip().endswith("}"):
            return False
        return readable_object(self.text) is not None

    def build(self, position: int, *, cut: bool) -> ToolCall:
        """The call; `cut` says that the answer was cut off while this call was its last."""
        text = self.text
        arguments = None if self.custom else readable_object(text)
        # The end came before the arguments did: "" is then no way to say {}.
        unreadable = arguments is None or (cut and not text.strip())
        extra = {name: combine(name, values) for name, values in self.extra.items()}
        return ToolCall(
            self.id or made_id(position, self.name, text),
            self.name,
            {} if unreadable or arguments is None else arguments,
            text if unreadable else None,
            arguments_text=text if not unreadable and text.strip() else None,
            provider_metadata=extra,
        )


class Calls:
    """The calls of one choice, in the order in which they began."""

    __slots__ = ("_by_id", "_by_index", "all")

    def __init__(self) -> None:
        self.all: list[Call] = []
        self._by_index: dict[int, Call] = {}
        self._by_id: dict[str, Call] = {}

    def feed(self, item: Mapping[str, Any], chunk: int, *, whole: bool = False) -> tuple[Call, str]:
        """Take one fragment; gives its call and the new piece of arguments (maybe empty).

        With `whole` the item is a call of a body: a call of its own, whatever its number
        and id.
        """
        function = item.get("function")
        if not isinstance(function, Mapping):
            function = {}
        name = function.get("name")
        piece = function.get("arguments")
        custom = item.get("custom")
        # OpenAI's custom tools take free text; Snowflake sends an empty one as filler.
        is_custom = not name and isinstance(custom, Mapping) and bool(custom.get("name"))
        if is_custom and isinstance(custom, Mapping):
            name, piece = custom["name"], custom.get("input")
        if not isinstance(name, str):
            name = ""
        if piece is None:
            piece = ""
        elif not isinstance(piece, str):
            # An object in place of its text (builds of llama.cpp and Ollama, public reports).
            piece = json_text(piece)
        call_id = item.get("id")
        if not isinstance(call_id, str):
            call_id = "" if call_id is None else str(call_id)
        index = index_of(item.get("index"))
        call = None if whole else self._find(index, call_id, name, piece, chunk)
        if call is None:
            call = Call(chunk)
            self.all.append(call)
        if index is not None:
            self._by_index[index] = call
        if call_id and not call.id:
            call.id = call_id
            self._by_id.setdefault(call_id, call)
        if name and name != call.name and not call.fragments:
            call.name += name
        call.custom = call.custom or is_custom
        if piece:
            call.fragments.append(piece)
        for key, value in item.items():
            if key not in _KNOWN and value is not None and not (key == "custom" and not is_custom):
                call.extra.setdefault(key, []).append(value)
        return call, piece

    def _find(
        self, index: int | None, call_id: str, name: str, piece: str, chunk: int
    ) -> Call | None:
        """The call that this fragment continues, or None where it starts one."""
        if index is not None and index in self._by_index:
            call = self._by_index[index]
            if call_id and call.id and call_id != call.id:
                return self._by_id.get(call_id)
            if (
                name
                and not call_id
                and call.fragments
                and (name != call.name or piece.lstrip().startswith("{"))
                and call.looks_complete()
            ):
                return None
            return call
        if call_id and call_id in self._by_id and not (index is not None and name):
            return self._by_id[call_id]
        if not self.all:
            return None
        last = self.all[-1]
        if call_id:
            # A late id for a call that began without one.
            if not last.id and not name and (index is None or last not in self._by_index.values()):
                return last
            return None
        if index is not None:
            return None if name else last
        if not name:
            return last
        if last.chunk == chunk or (last.fragments and (name != last.name or last.looks_complete())):
            return None
        return last


def call_events(
    call: Call, piece: str, next_index: int, *, forced: bool = False
) -> tuple[list[StreamEvent], int]:
    """The events of one fragment; a call starts when its name is there, or when `forced`."""
    if call.started:
        return ([ToolCallDelta(call.index, piece)] if piece else []), next_index
    if not call.name and not forced:
        return [], next_index
    call.started = True
    call.index = next_index
    events: list[StreamEvent] = [ToolCallStart(call.index, call.id, call.name)]
    if call.fragments:
        events.append(ToolCallDelta(call.index, joined(call.fragments)))
    return events, next_index + 1
