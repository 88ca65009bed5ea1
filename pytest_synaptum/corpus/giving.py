"""What an adapter gives, checked where it is given: a value of another type is told there.

Elsewhere it would surface as an `AttributeError` inside of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, get_args

from synaptum.errors import SynaptumError
from synaptum.providers.base import Provider
from synaptum.vocabulary import Request, Response, StreamEvent

__all__ = ["AdapterFault", "CheckedProvider"]

_EVENTS: Final = get_args(StreamEvent)


class AdapterFault(Exception):
    """A function of an adapter gave a value that is not of its type; the sentence says which."""


class CheckedProvider:
    """A provider whose functions give what the protocol promises, or raise `AdapterFault`."""

    def __init__(self, inner: Provider) -> None:
        self._inner = inner
        self.name = inner.name
        if hasattr(inner, "to_wire_stream"):
            self.to_wire_stream = self._to_wire_stream
        if hasattr(inner, "error_from_wire"):
            self.error_from_wire = self._error_from_wire

    def __getattr__(self, name: str) -> Any:
        """What a provider may offer besides, as it is."""
        return getattr(self._inner, name)

    def to_wire(self, request: Request) -> dict[str, Any]:
        """The body of a request. Raises `AdapterFault`."""
        body: Any = self._inner.to_wire(request)
        checked: dict[str, Any] = _expect(body, (dict,), "to_wire", "a dict")
        return checked

    def from_wire(self, body: Mapping[str, Any]) -> Response:
        """The answer in a whole body. Raises `AdapterFault`."""
        response: Any = self._inner.from_wire(body)
        checked: Response = _expect(response, (Response,), "from_wire", "a Response")
        return checked

    def stream_from_wire(self, chunks: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        """The answer in chunks. Raises `AdapterFault`."""
        events: Any = self._inner.stream_from_wire(chunks)
        for event in _expect(events, (Iterable,), "stream_from_wire", "an iterable of events"):
            yield _expect(event, _EVENTS, "stream_from_wire", "a StreamEvent")

    def _to_wire_stream(self, request: Request) -> dict[str, Any]:
        body: Any = self._inner.to_wire_stream(request)  # type: ignore[attr-defined]
        checked: dict[str, Any] = _expect(body, (dict,), "to_wire_stream", "a dict")
        return checked

    def _error_from_wire(self, *args: Any) -> SynaptumError:
        error: Any = self._inner.error_from_wire(*args)  # type: ignore[attr-defined]
        checked: SynaptumError = _expect(
            error, (SynaptumError,), "error_from_wire", "an error of synaptum's"
        )
        return checked


def _expect(value: Any, types: tuple[type, ...], function: str, wanted: str) -> Any:
    if isinstance(value, types):
        return value
    msg = f"{function} gave {_named(value)}, not {wanted}."
    raise AdapterFault(msg)


def _named(value: Any) -> str:
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
