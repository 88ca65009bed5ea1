"""What an adapter is: three pure functions between our vocabulary and one dialect's JSON.

A provider opens no connection and reads no credential. That is what lets it be exercised
on a file, without server, network or money (seed 001, "Escribir un adaptador").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from synaptum.vocabulary import Request, Response, StreamEvent

__all__ = ["Provider"]


class Provider(Protocol):
    """Normalises one dialect."""

    @property
    def name(self) -> str:
        """The prefix in `prefix:model`, such as `openai-compatible`; it never travels."""
        ...

    def to_wire(self, request: Request) -> dict[str, Any]:
        """The JSON body of `request`, in the order it travels.

        Raises:
            UnsupportedRequestError: the dialect has no shape for something, by name.
        """
        ...

    def from_wire(self, body: Mapping[str, Any]) -> Response:
        """The answer in a whole body.

        Raises:
            ProviderError: the body is an error, or no answer.
        """
        ...

    def stream_from_wire(self, chunks: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        """The answer in a stream of decoded chunks, as events; lazily, chunk by chunk.

        The end of `chunks` is the end of the stream as the transport saw it (`[DONE]`, or
        the connection closing).

        Raises:
            ProviderError: the stream carries an error.
            NetworkError: the chunks end before the answer is whole.
        """
        ...
