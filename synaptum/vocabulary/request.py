"""What is asked of a model, in neutral words; no dialect and no server shows here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Final, Literal, overload

from synaptum.vocabulary.content import Message

__all__ = ["History", "Request", "ResponseFormat", "Risk", "ToolChoice", "ToolDefinition"]


class Risk(Enum):
    """What a tool can do to the world, from harmless to beyond repair; ordered.

    Declaring is not deciding: the risk travels to the gateway, and the policy decides.
    Silence on risk means harmless (`READ`). Source: seed 000, "Riesgo e idempotencia".
    """

    READ = "read"
    SOFT_WRITE = "soft_write"
    HARD_WRITE = "hard_write"
    DESTRUCTIVE = "destructive"

    @property
    def level(self) -> int:
        """0 for READ up to 3 for DESTRUCTIVE."""
        return _LEVELS[self]

    def __lt__(self, other: Risk) -> bool:
        return self.level < other.level

    def __le__(self, other: Risk) -> bool:
        return self.level <= other.level

    def __gt__(self, other: Risk) -> bool:
        return self.level > other.level

    def __ge__(self, other: Risk) -> bool:
        return self.level >= other.level


_LEVELS = {risk: level for level, risk in enumerate(Risk)}


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model sees it (name, description, schema) and as the policy does.

    Attributes:
        name: what the model calls it by; profiles know which names a server takes.
        description: one line for the model.
        parameters: a JSON Schema of type object.
        risk: what it can do; see `Risk`.
        idempotent: repeating a call has no further effect.

    Raises:
        ValueError: a risk that is no `Risk`, or an `idempotent` that is no bool. A word in place
            of either would pass a policy that denies, or have a call repeated.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    risk: Risk = Risk.READ
    idempotent: bool = False

    def __post_init__(self) -> None:
        for what, value, kind in (("risk", self.risk, Risk), ("idempotent", self.idempotent, bool)):
            if not isinstance(value, kind):
                msg = f"The {what} of the tool {self.name!r} is {value!r}: give a {kind.__name__}."
                raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether the model may, must or must not call tools.

    `mode` is `auto`, `none`, `required` or `named`; `name` goes with `named` alone.

    Raises:
        ValueError: another mode, or a name where there should be none, or none.
    """

    mode: Literal["auto", "none", "required", "named"]
    name: str | None = None

    def __post_init__(self) -> None:
        if self.mode not in ("auto", "none", "required", "named"):
            msg = f"ToolChoice mode {self.mode!r} is none of auto, none, required, named."
            raise ValueError(msg)
        if (self.mode == "named") != (self.name is not None):
            msg = "ToolChoice('named', name=...) takes a name; the other modes take none."
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """The form the answer must have.

    Attributes:
        kind: `text`, `json_object` or `json_schema`.
        schema: a JSON Schema; goes with `json_schema` alone.
        name: what the schema is called on the wire; None takes a name of ours.
        strict: whether the server is to hold the model to the schema; None does not say.

    Raises:
        ValueError: another kind, or a schema where there should be none, or none.
    """

    kind: Literal["text", "json_object", "json_schema"]
    schema: Mapping[str, Any] | None = None
    name: str | None = None
    strict: bool | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("text", "json_object", "json_schema"):
            msg = f"ResponseFormat kind {self.kind!r} is none of text, json_object, json_schema."
            raise ValueError(msg)
        if (self.kind == "json_schema") != (self.schema is not None):
            msg = "ResponseFormat('json_schema', schema=...) takes a schema; the others take none."
            raise ValueError(msg)


#: Messages at either end that the repr of a `History` shows.
_SHOWN: Final = 4


class History(Sequence[Message]):
    """An immutable run of messages that shares its storage with the longer ones grown from it.

    It compares as a tuple of the same messages does. A conversation of n turns
    makes n requests; sharing keeps that O(n) in memory where tuples would be O(n²).
    """

    __slots__ = ("_length", "_shared")
    __hash__ = None  # type: ignore[assignment] # messages hold dicts

    kind: ClassVar[Literal["history"]] = "history"

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._shared = list(messages)
        self._length = len(self._shared)

    def append(self, *messages: Message) -> History:
        """A longer history; this one stays as it is. O(1) a message while this is the longest."""
        if len(self._shared) != self._length:  # somebody else grew from here: copy once
            return History([*self._shared[: self._length], *messages])
        self._shared.extend(messages)
        return self._view(len(self._shared))

    def shares_storage_with(self, other: History) -> bool:
        """Whether the shorter of the two is known to be a prefix of the longer, unread."""
        return other._shared is self._shared

    def is_prefix_of(self, other: Sequence[Message]) -> bool:
        """Whether `other` begins with these messages; O(1) for histories that share storage."""
        if len(other) < self._length:
            return False
        if isinstance(other, History) and other._shared is self._shared:
            return True
        return all(mine == theirs for mine, theirs in zip(self, other, strict=False))

    def _view(self, length: int) -> History:
        view = object.__new__(History)
        view._shared = self._shared
        view._length = length
        return view

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self._shared[i] for i in range(*index.indices(self._length)))
        if not -self._length <= index < self._length:
            msg = f"message {index} of a history of {self._length}"
            raise IndexError(msg)
        return self._shared[index if index >= 0 else self._length + index]

    def __iter__(self) -> Iterator[Message]:
        for index in range(self._length):
            yield self._shared[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, History):
            if other._length != self._length:
                return False
            if other._shared is self._shared:
                return True
        elif not isinstance(other, tuple) or len(other) != self._length:
            return NotImplemented if not isinstance(other, tuple) else False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __repr__(self) -> str:
        # Bounded, since every request of a run repeats the messages before it.
        if self._length <= 2 * _SHOWN:
            return repr(tuple(self))
        shown = [repr(message) for message in (*self[:_SHOWN], *self[-_SHOWN:])]
        shown.insert(_SHOWN, f"<{self._length - 2 * _SHOWN} more>")
        return f"({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    Attributes:
        model: the model's name as the server knows it, without our provider prefix.
        messages: the conversation; a tuple, a list or a `History`.
        system: the system prompt, or None.
        tools: the catalogue, in the order it travels.
        tool_choice: None leaves it to the server; without tools it does not travel.
        max_output_tokens: upper bound of generated tokens; None leaves it to the server.
        temperature, top_p: how the model samples, in the server's own ranges; None: not sent.
        stop: texts that end the answer.
        response_format: the form of the answer; None is plain text.
        provider_options: body fields of the dialect that have no neutral name; they travel
            as they are and may not replace a field that has one.

    Raises:
        ValueError: `messages` holds what is no message, or `stop` is a set, which has no order.
    """

    model: str
    messages: Sequence[Message]
    system: str | None = None
    tools: Sequence[ToolDefinition] = ()
    tool_choice: ToolChoice | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: Sequence[str] = ()
    response_format: ResponseFormat | None = None
    provider_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.messages, History):
            object.__setattr__(self, "messages", _messages(self.messages))
        if not isinstance(self.tools, tuple):
            object.__setattr__(self, "tools", tuple(self.tools))
        if isinstance(self.stop, Set):
            msg = "Request.stop is a set, which has no order of its own; give a list or a tuple."
            raise ValueError(msg)
        if isinstance(self.stop, str):
            object.__setattr__(self, "stop", (self.stop,))
        elif not isinstance(self.stop, tuple):
            object.__setattr__(self, "stop", tuple(self.stop))


def _messages(given: Any) -> tuple[Message, ...]:
    found = (given,) if isinstance(given, str | Message) else tuple(given)
    for one in found:
        if not isinstance(one, Message) or one is given:
            what = type(one).__name__ if one is given else f"of {type(one).__name__}"
            msg = f"Request.messages is a list of messages, not {what}: [Message.user('…')]."
            raise ValueError(msg)
    return found
