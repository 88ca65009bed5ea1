"""What an adapter makes of one exchange, and that as plain JSON: the entry of a golden.

No transport and no network: the recorded bytes are handed to the adapter the way `HttpModel`
would, in pieces of the caller's choice, so that cutting them elsewhere can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_synaptum.exchange import CLOSED, LOST, Exchange, RecordedResponse
from synaptum.errors import NetworkError, SynaptumError
from synaptum.models.dialect import Dialect
from synaptum.transport.retry_after import retry_after_s
from synaptum.transport.sse import DONE, SseParser, looks_like_sse
from synaptum.vocabulary import (
    Finish,
    ReasoningDelta,
    Response,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
)
from synaptum.vocabulary.codec import to_json

__all__ = ["Reading", "conclude", "error_json", "events_json", "is_stream_body", "read_exchange"]


#: When a date in `Retry-After` is read: 2025-12-01T00:00:00Z, for ever.
_READ_AT_S: Final = 1_764_547_200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What came of one answer.

    Attributes:
        events: those of a stream, up to its end or its failure; empty for a whole body.
        response: the neutral response; None where there is an error, or the caller closed.
        error: what the answer or its absence raises.
    """

    events: tuple[StreamEvent, ...] = ()
    response: Response | None = None
    error: SynaptumError | None = None


def is_stream_body(response: RecordedResponse) -> bool:
    """Whether the body is server-sent events, whatever its content type says."""
    return response.status < 400 and looks_like_sse(response.body[:64]) is True


def read_exchange(
    dialect: Dialect, exchange: Exchange, pieces: Iterable[bytes] | None = None
) -> Reading:
    """Let the adapter read a recorded answer.

    Args:
        dialect: the adapter.
        exchange: what was recorded.
        pieces: the body cut in another way; as it was recorded by default.
    """
    recorded = exchange.response
    if recorded is None:
        return Reading(error=NetworkError("The connection failed before any answer came."))
    if recorded.status >= 400:
        return Reading(error=_refusal(dialect, recorded))
    if is_stream_body(recorded):
        return _read_stream(dialect, recorded, recorded.chunks if pieces is None else pieces)
    if recorded.ending == LOST:
        return Reading(error=NetworkError("The connection was lost inside the answer."))
    try:
        return Reading(response=dialect.response(recorded.body))
    except SynaptumError as error:
        return Reading(error=error)


def _refusal(dialect: Dialect, recorded: RecordedResponse) -> SynaptumError:
    """The adapter's error, with what `HttpModel` reads of the headers for every adapter."""
    error = dialect.error(recorded.status, recorded.body, recorded.headers)
    if error.retry_after is None:
        error.retry_after = retry_after_s(recorded.headers, _READ_AT_S)
    return error


def _read_stream(dialect: Dialect, recorded: RecordedResponse, pieces: Iterable[bytes]) -> Reading:
    events: list[StreamEvent] = []
    response: Response | None = None
    try:
        for event in dialect.provider.stream_from_wire(_chunks(dialect, recorded, pieces)):
            events.append(event)
            if isinstance(event, Finish):
                response = event.response
    except SynaptumError as error:
        if recorded.ending == CLOSED and isinstance(error, NetworkError):
            return Reading(events=tuple(events))
        return Reading(events=tuple(events), error=error)
    if response is None and recorded.ending != CLOSED:
        lost = NetworkError("The adapter's events ended without a finish.")
        return Reading(events=tuple(events), error=lost)
    return Reading(events=tuple(events), response=response)


def _chunks(
    dialect: Dialect, recorded: RecordedResponse, pieces: Iterable[bytes]
) -> Iterator[Mapping[str, Any]]:
    parser = SseParser()
    for piece in pieces:
        for data in parser.feed(piece):
            yield dialect.chunk(data)
        if parser.is_done:
            break
    if recorded.ending == LOST and not parser.is_done:
        msg = "The connection was lost inside the stream."
        raise NetworkError(msg)
    for data in parser.close():
        yield dialect.chunk(data)
    if parser.is_done and hasattr(dialect.provider, "decode_event"):
        yield dialect.chunk(DONE)


def conclude(reading: Reading, wire: Any = None) -> dict[str, Any]:
    """A golden's entry: what is known of the request and what came of the answer."""
    entry: dict[str, Any] = {}
    if wire is not None:
        entry["wire"] = to_json(wire)
    if reading.response is not None:
        entry["response"] = to_json(reading.response)
    if reading.events:
        entry["events"] = events_json(reading.events)
    if reading.error is not None:
        entry["error"] = error_json(reading.error)
    return entry


def events_json(events: Iterable[StreamEvent]) -> list[Any]:
    """Events as JSON, neighbouring deltas of one block joined, `finish` without its response.

    How many fragments a server sends is chance; what they say in which order is not.
    """
    result: list[Any] = []
    for event in events:
        if isinstance(event, Finish):
            result.append({"kind": event.kind})
            continue
        plain = to_json(event)
        field = _DELTA_FIELDS.get(type(event))
        last = result[-1] if result else None
        if field and last and (last["kind"], last.get("index")) == (event.kind, plain["index"]):
            last[field] += plain[field]
        else:
            result.append(plain)
    return result


_DELTA_FIELDS: Mapping[type, str] = {
    TextDelta: "text",
    ReasoningDelta: "text",
    ToolCallDelta: "arguments_delta",
}


def error_json(error: SynaptumError) -> dict[str, Any]:
    """What of an error a caller decides by; its sentence is the adapter's own."""
    known = next(cls for cls in type(error).__mro__ if cls.__module__ == "synaptum.errors")
    return {
        "type": known.__name__,
        "status": getattr(error, "status", None),
        "retryable": error.retryable,
        "retry_after": error.retry_after,
        "request_id": getattr(error, "request_id", None),
    }
