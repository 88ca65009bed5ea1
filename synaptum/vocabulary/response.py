"""What a model answered, in neutral words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from synaptum.errors import ProviderError
from synaptum.vocabulary.content import Message, ToolCall
from synaptum.vocabulary.usage import Usage

__all__ = ["FinishReason", "Response"]


class FinishReason(Enum):
    """Why the model stopped. A stream that broke off has none: it is an error."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Response:
    """One whole answer.

    Attributes:
        message: the assistant's turn.
        finish_reason: why it stopped; the server's own word is in `provider_metadata`.
        usage: tokens; `Usage()` where the server said nothing.
        model: the model's name as the server gave it; None where it gave none.
        provider_metadata: the server's own spelling and every field the dialect does not
            know, as JSON. It takes no part in comparison: two spellings of one answer
            (whole and streamed, `""` and null beside a call) are the same answer. Fields of
            the turn itself stand under `message`, so `message.refusal` is what `refusal` reads.
    """

    message: Message
    finish_reason: FinishReason
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    provider_metadata: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def text(self) -> str:
        """All text of the answer joined."""
        return self.message.text

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls the answer asks for, in order."""
        return self.message.tool_calls

    @property
    def refusal(self) -> str | None:
        """The model's own words for not answering; None where it did not refuse.

        An answer like any other for whoever asked, so it is not asked for again. It is no
        text of the turn, and does not go back on the wire.
        Source: API reference, `choices[].message.refusal`, read 2026-11-30.
        """
        message = self.provider_metadata.get("message")
        said = message.get("refusal") if isinstance(message, Mapping) else None
        return said if isinstance(said, str) and said else None

    @property
    def failure(self) -> ProviderError | None:
        """The error of an answer that its provider ended with one; None for any other."""
        if self.finish_reason is not FinishReason.ERROR:
            return None
        msg = "The provider ended the answer with an error of its own."
        return ProviderError(msg, retryable=True)
