"""A provider of another dialect, as a third party would write it: three functions, no more.

The dialect: a request is `{"ask": text}`, an answer `{"say": text}`, a stream chunks of
`{"bit": text}` closed by `{"end": true}`. It knows nothing of the transport or of pushing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from synaptum.errors import NetworkError, ProviderError
from synaptum.vocabulary import (
    Finish,
    FinishReason,
    Message,
    Request,
    Response,
    StreamEvent,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
)

__all__ = ["Letters"]


class Letters:
    """The provider."""

    name = "letters"

    def to_wire(self, request: Request) -> dict[str, Any]:
        """The last message's text."""
        return {"ask": request.messages[-1].text, "of": request.model}

    def from_wire(self, body: Mapping[str, Any]) -> Response:
        """The text said."""
        if "say" not in body:
            msg = f"The server said nothing, but {sorted(body)}."
            raise ProviderError(msg, provider=self.name)
        return Response(Message.assistant(body["say"]), FinishReason.STOP)

    def stream_from_wire(self, chunks: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        """The bits, each as soon as it is there."""
        text = ""
        yield StreamStart()
        yield TextStart(0)
        for chunk in chunks:
            if "bit" not in chunk and "end" not in chunk:
                msg = f"No bit: {chunk}"
                raise ProviderError(msg, provider=self.name)
            if "end" in chunk:
                yield TextEnd(0)
                yield Finish(Response(Message.assistant(text), FinishReason.STOP))
                return
            text += chunk["bit"]
            yield TextDelta(0, chunk["bit"])
        msg = "The bits ended before the end."
        raise NetworkError(msg)
