"""What a model on HTTP asks of a provider, with an answer for those who only translate.

The `Provider` protocol is three pure functions. A provider may offer more, and each of
these is used where it is there:

- `path`: where the dialect is asked, below the base URL (`chat/completions`);
- `to_wire_stream(request)`: the body that asks for a stream;
- `decode_body(bytes)`, `decode_event(str)`: JSON as this dialect reads it; where the latter
  reads `[DONE]` too, what it gives is the last chunk of a stream that ended with it;
- `error_from_wire(status, body, headers)`: the error in an answer of status 400 or more;
- `stream_reader()`: reads a stream chunk by chunk, `feed(chunk)` and `close()` giving the
  events each adds. It saves the thread that `stream_from_wire` needs (see `event_feed`).
- `configuration`: JSON that tells this provider (and its profile) from another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, cast

from synaptum import canonical
from synaptum.errors import EncodingError, ProviderError, SynaptumError
from synaptum.providers.base import Provider
from synaptum.transport.sse import DONE
from synaptum.vocabulary import Request, Response, StreamEvent

__all__ = ["Dialect", "StreamReader"]

_DEFAULT_PATH: Final = "chat/completions"

#: Most characters of a server's own words that an error repeats.
_QUOTED_CHARS: Final = 300


class StreamReader(Protocol):
    """Reads one stream, chunk by chunk."""

    def feed(self, chunk: Mapping[str, Any]) -> Iterable[StreamEvent]:
        """The events that `chunk` adds. Raises `ProviderError`."""
        ...

    def close(self) -> Iterable[StreamEvent]:
        """The events that the end of the chunks adds.

        Raises:
            NetworkError: the chunks ended before the answer was whole.
        """
        ...


class Dialect:
    """A provider, with defaults for all it does not offer."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.name = provider.name
        self.path: str = getattr(provider, "path", _DEFAULT_PATH)

    @property
    def configuration(self) -> Any:
        """JSON that tells this dialect from another."""
        return getattr(self.provider, "configuration", {"provider": self.name})

    def body(self, request: Request, *, stream: bool) -> bytes:
        """The bytes of the request's body. Raises `UnsupportedRequestError`."""
        if not stream:
            return canonical.wire_bytes(self.provider.to_wire(request))
        to_wire_stream = getattr(self.provider, "to_wire_stream", None)
        if to_wire_stream is not None:
            return canonical.wire_bytes(to_wire_stream(request))
        return canonical.wire_bytes({**self.provider.to_wire(request), "stream": True})

    def response(self, body: bytes) -> Response:
        """The answer in a whole body. Raises `ProviderError`."""
        decode = getattr(self.provider, "decode_body", None)
        return self.provider.from_wire(self._object(body) if decode is None else decode(body))

    def chunk(self, data: str) -> Mapping[str, Any]:
        """The chunk in an event's data. Raises `ProviderError`."""
        decode = getattr(self.provider, "decode_event", None)
        if decode is not None:
            return cast("Mapping[str, Any]", decode(data))
        return self._object(data)

    def done_chunk(self) -> Mapping[str, Any] | None:
        """The chunk that tells the provider of a `[DONE]`; None where it has none."""
        decode = getattr(self.provider, "decode_event", None)
        if decode is None:
            return None
        try:
            return cast("Mapping[str, Any]", decode(DONE))
        except SynaptumError:
            return None

    def stream_reader(self) -> StreamReader | None:
        """The provider's own reader of chunks, or None where it has only the generator."""
        make = getattr(self.provider, "stream_reader", None)
        return None if make is None else cast("StreamReader", make())

    def error(self, status: int, body: bytes, headers: Sequence[tuple[str, str]]) -> ProviderError:
        """The error in an answer of status 400 or more."""
        from_wire = getattr(self.provider, "error_from_wire", None)
        if from_wire is not None:
            return cast("ProviderError", from_wire(status, body, dict(headers)))
        words = body.decode("utf-8", "replace").strip()
        if len(words) > _QUOTED_CHARS:
            words = words[:_QUOTED_CHARS] + "…"
        told = f": {words}" if words else " without a word"
        msg = f"The server answered status {status}{told}"
        return ProviderError(msg, status=status, provider=self.name)

    def _object(self, data: str | bytes) -> Mapping[str, Any]:
        try:
            value = canonical.loads(data)
        except EncodingError as error:
            msg = f"What the server sent is not JSON ({len(data)} characters). {error}"
            raise ProviderError(msg, provider=self.name) from None
        if not isinstance(value, dict):
            msg = f"The server sent a JSON {type(value).__name__} where an object belongs."
            raise ProviderError(msg, provider=self.name)
        return value
