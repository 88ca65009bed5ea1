"""What a message is made of: parts, told apart by `kind`.

Parts are frozen values. JSON inside them (tool arguments, metadata) is held as plain
dicts and lists and must not be changed after construction. *No part* and *an empty part*
are two statements: a message without `Text` has nothing to say, one with `Text("")` said
the empty string.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

__all__ = [
    "Audio",
    "ContentPart",
    "Document",
    "Image",
    "Message",
    "RedactedThinking",
    "ResultPart",
    "Role",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
]


class Role(Enum):
    """Who speaks. The system prompt is `Request.system`, never a message."""

    USER = "user"
    ASSISTANT = "assistant"
    DEVELOPER = "developer"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text; `Text("")` says the empty string."""

    kind: ClassVar[Literal["text"]] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class _Media:
    """Bytes in base64 (`data`) or a place to fetch them from (`url`): exactly one of the two.

    `data` may be given as bytes; it is kept as base64 text.
    """

    media_type: str
    data: str | None = None
    url: str | None = None

    def __post_init__(self) -> None:
        data: Any = self.data
        if isinstance(data, bytes | bytearray):
            object.__setattr__(self, "data", base64.b64encode(data).decode("ascii"))
        if (self.data is None) == (self.url is None):
            msg = f"{type(self).__name__} takes data= or url=, exactly one of the two."
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Image(_Media):
    """A picture, such as `Image("image/png", data=b"...")`.

    Attributes:
        media_type: such as `image/png`.
        data: the bytes in base64; may be given as bytes. Exactly one of `data` and `url`.
        url: where to fetch them.

    Raises:
        ValueError: `data` and `url` are both given, or neither.
    """

    kind: ClassVar[Literal["image"]] = "image"

    if TYPE_CHECKING:  # what may be given is more than what is kept

        def __init__(
            self, media_type: str, data: str | bytes | None = None, url: str | None = None
        ) -> None: ...


@dataclass(frozen=True, slots=True)
class Audio(_Media):
    """A sound, such as `Audio("audio/wav", data=b"...")`.

    Attributes:
        media_type: such as `audio/wav`.
        data: the bytes in base64; may be given as bytes. Exactly one of `data` and `url`.
        url: where to fetch them.

    Raises:
        ValueError: `data` and `url` are both given, or neither.
    """

    kind: ClassVar[Literal["audio"]] = "audio"

    if TYPE_CHECKING:  # what may be given is more than what is kept

        def __init__(
            self, media_type: str, data: str | bytes | None = None, url: str | None = None
        ) -> None: ...


@dataclass(frozen=True, slots=True)
class Document(_Media):
    """A file, such as `Document("application/pdf", url="https://...")`.

    Attributes:
        media_type: such as `application/pdf`.
        data: the bytes in base64; may be given as bytes. Exactly one of `data` and `url`.
        url: where to fetch them.
        name: the file's name, which some servers show to the model.

    Raises:
        ValueError: `data` and `url` are both given, or neither.
    """

    kind: ClassVar[Literal["document"]] = "document"
    _: KW_ONLY
    name: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            media_type: str,
            data: str | bytes | None = None,
            url: str | None = None,
            *,
            name: str | None = None,
        ) -> None: ...


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning in words; not sent back, unless the profile of the server says so.

    Attributes:
        text: the words.
        signature: the server's opaque proof of them, where it gave one.
    """

    kind: ClassVar[Literal["thinking"]] = "thinking"
    text: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class RedactedThinking:
    """Reasoning that the server gave only as an opaque blob, `data`."""

    kind: ClassVar[Literal["redacted_thinking"]] = "redacted_thinking"
    data: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool.

    Attributes:
        id: the call's id; the result carries the same.
        name: the tool's name.
        arguments: the decoded object; `{}` when the text was unreadable.
        unreadable_arguments: the text the model wrote, where it is no JSON object. Such a
            call is never run; on the wire `{}` travels.
        arguments_text: the exact text the model wrote, where it is readable. It goes back
            as it is: another spelling would break the provider's cached prefix. None for
            a call made by hand.
        provider_metadata: what the server put on the call beyond the dialect (such as a
            thought signature).
    """

    kind: ClassVar[Literal["tool_call"]] = "tool_call"
    id: str
    name: str
    arguments: Mapping[str, Any]
    unreadable_arguments: str | None = None
    _: KW_ONLY
    arguments_text: str | None = None
    provider_metadata: Mapping[str, Any] = field(default_factory=dict)


#: What a tool may give back to the model.
ResultPart = Text | Image | Audio | Document


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave for the call `call_id`.

    Attributes:
        content: the parts the model sees.
        is_error: the call failed, and the content says how.
        structured: the value the tool returned, as JSON; kept in the journal, never sent.
    """

    kind: ClassVar[Literal["tool_result"]] = "tool_result"
    call_id: str
    content: tuple[ResultPart, ...]
    is_error: bool = False
    _: KW_ONLY
    structured: Any = None

    def __post_init__(self) -> None:
        content: Any = self.content
        if not isinstance(content, tuple):
            object.__setattr__(self, "content", tuple(content))

    @classmethod
    def of(cls, call_id: str, text: str, is_error: bool = False) -> ToolResult:
        """A result of one text."""
        return cls(call_id, (Text(text),), is_error)

    @property
    def text(self) -> str:
        """All text parts joined."""
        return "".join(part.text for part in self.content if isinstance(part, Text))


#: Every kind of part a message may hold.
ContentPart = Text | Image | Audio | Document | ToolCall | ToolResult | Thinking | RedactedThinking


@dataclass(frozen=True, slots=True)
class Message:
    """One turn.

    Attributes:
        role: who speaks.
        content: the parts, in order. No part (nothing was said) and one part `Text("")` (the
            empty string was said) are two messages. Source: seed 001, "Un turno que solo
            razona".
    """

    role: Role
    content: tuple[ContentPart, ...]

    def __post_init__(self) -> None:
        content: Any = self.content
        if not isinstance(content, tuple):
            object.__setattr__(self, "content", tuple(content))

    @classmethod
    def user(cls, text: str) -> Message:
        """A user turn of one text."""
        return cls(Role.USER, (Text(text),))

    @classmethod
    def assistant(cls, text: str) -> Message:
        """An assistant turn of one text."""
        return cls(Role.ASSISTANT, (Text(text),))

    @classmethod
    def developer(cls, text: str) -> Message:
        """A developer turn of one text."""
        return cls(Role.DEVELOPER, (Text(text),))

    @classmethod
    def tool_results(cls, *results: ToolResult) -> Message:
        """The results of one turn's calls, in the order of the calls."""
        return cls(Role.TOOL, tuple(results))

    @property
    def text(self) -> str:
        """All text parts joined; `""` both without a part and with an empty one."""
        return "".join(part.text for part in self.content if isinstance(part, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of this turn, in order."""
        return tuple(part for part in self.content if isinstance(part, ToolCall))
