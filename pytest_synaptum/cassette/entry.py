"""One exchange as a cassette holds it: the request at hand, the answer built when it is asked for.

Contract: whatever an `Entry` was read from (our own layout, line by line, or any YAML, by the
strict loader), the fields of a section have the same names and meanings, and are checked
here, once. A section is a mapping of field name to text, list of lines or JSON value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from pytest_synaptum.cassette.bodies import Body, join_body
from pytest_synaptum.cassette.layout import NotOurLayoutError, as_pairs
from pytest_synaptum.exchange import Ending, Exchange, RecordedRequest, RecordedResponse

__all__ = ["Entry", "FieldError"]

_BODY: Final = ("json", "sse", "text", "base64")
_BODY_NOTES: Final = {"style", "before", "after", "prefix", "newline"}
_REQUEST: Final = {"method", "path", "headers", *_BODY, *_BODY_NOTES}
_RESPONSE: Final = {"status", "headers", "chunks", "ending", *_BODY, *_BODY_NOTES}


class FieldError(Exception):
    """A field is not what it must be; the text says which and why."""


class Entry:
    """An exchange of a cassette.

    Attributes:
        number: place in the cassette, from 1.
        line: line of the file it begins at, or None where the file was not read by line.
        method: the request's method.
        path: the request's path and query.
        body: the request's body as it stands in the file.
    """

    __slots__ = ("_exchange", "_response", "_timings", "body", "line", "method", "number", "path")

    def __init__(
        self,
        number: int,
        line: int | None,
        request: Mapping[str, Any],
        response: Callable[[], Mapping[str, Any] | None],
        timings: list[float | None],
    ) -> None:
        self.number = number
        self.line = line
        _known(request, _REQUEST, "request")
        self.method = _text(request, "method", "request")
        self.path = _text(request, "path", "request")
        self.body = _body(request, "request")
        headers = _headers(request, "request")
        self._timings = timings
        self._response = response
        self._exchange: Exchange | RecordedRequest
        self._exchange = RecordedRequest(method=self.method, path=self.path, headers=headers)

    @property
    def name(self) -> str:
        """How messages call it: `exchange 2 (line 40)`."""
        return f"exchange {self.number}" + (f" (line {self.line})" if self.line else "")

    def request_bytes(self) -> bytes:
        """The request's body as it travelled."""
        return _joined(self.body, "request")

    def exchange(self) -> Exchange:
        """The whole exchange, built at the first call. Raises `FieldError`, `NotOurLayoutError`."""
        if isinstance(self._exchange, RecordedRequest):
            request = RecordedRequest(
                method=self.method,
                path=self.path,
                headers=self._exchange.headers,
                body=self.request_bytes(),
            )
            response = self._response()
            self._exchange = Exchange(
                request=request,
                response=None if response is None else _build_response(response, self._timings),
            )
        return self._exchange


def _build_response(fields: Mapping[str, Any], timings: list[float | None]) -> RecordedResponse:
    _known(fields, _RESPONSE, "response")
    status = fields.get("status")
    if not isinstance(status, int) or isinstance(status, bool) or not 100 <= status <= 999:
        msg = f"response.status is {status!r}, not an HTTP status"
        raise FieldError(msg)
    ending = fields.get("ending")
    if ending not in {None, "closed", "lost"}:
        msg = f"response.ending is {ending!r}, not closed or lost"
        raise FieldError(msg)
    body = _body(fields, "response")
    chunks = _chunks(fields.get("chunks"), _joined(body, "response"), body)
    after, delays = (timings[0], timings[1:]) if timings else (None, [])
    if delays and (len(delays) != len(chunks) or None in delays):
        msg = f"timings give {len(delays)} delays for {len(chunks)} chunks"
        raise FieldError(msg)
    return RecordedResponse(
        status=status,
        headers=_headers(fields, "response"),
        chunks=chunks,
        headers_after_s=None if after is None else after / 1000,
        delays_s=tuple(cast("float", delay) / 1000 for delay in delays),
        ending=cast("Ending | None", ending),
    )


def _chunks(sizes: object, body: bytes, form: Body) -> tuple[bytes, ...]:
    if sizes is None:
        return (body,) if body else ()
    if sizes == "events":
        sizes = list(form.event_sizes)
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
        msg = "response.chunks is neither `events` nor a list of sizes in bytes"
        raise FieldError(msg)
    if sum(sizes) != len(body):
        msg = f"response.chunks add up to {sum(sizes)} bytes, but the body has {len(body)}"
        raise FieldError(msg)
    chunks = []
    start = 0
    for size in sizes:
        chunks.append(body[start : start + size])
        start += size
    return tuple(chunks)


def _body(fields: Mapping[str, Any], section: str) -> Body:
    kinds = [kind for kind in _BODY if kind in fields]
    if len(kinds) > 1:
        msg = f"{section} has two bodies, {kinds[0]} and {kinds[1]}"
        raise FieldError(msg)
    notes: dict[str, Any] = {
        name: _text(fields, name, section) for name in _BODY_NOTES if name in fields
    }
    if not kinds:
        return Body(kind="text", value="", **notes)
    kind = kinds[0]
    value = fields[kind]
    if kind == "json":
        return Body(kind="json", value=value, **notes)
    if kind == "sse":
        if not isinstance(value, list):
            msg = f"{section}.sse is no text of one event a line"
            raise FieldError(msg)
        return Body(kind="sse", events=tuple(value), **notes)
    return Body(
        kind="text" if kind == "text" else "base64", value=_text(fields, kind, section), **notes
    )


def _joined(body: Body, section: str) -> bytes:
    try:
        return join_body(body)
    except ValueError as error:
        msg = f"{section} has a {body.kind} body that cannot be put together: {error}"
        raise FieldError(msg) from None


def _headers(fields: Mapping[str, Any], section: str) -> tuple[tuple[str, str], ...]:
    value = fields.get("headers", ())
    if isinstance(value, tuple):
        return value
    try:
        return as_pairs(value)
    except NotOurLayoutError:
        msg = f"{section}.headers is neither a map of texts nor a list of pairs of texts"
        raise FieldError(msg) from None


def _text(fields: Mapping[str, Any], name: str, section: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        what = "is missing" if value is None else f"is not a text but {value!r:.40}"
        msg = f"{section}.{name} {what}"
        raise FieldError(msg)
    return value


def _known(fields: Mapping[str, Any], known: set[str], section: str) -> None:
    for name in fields:
        if name not in known:
            msg = f"{section} has an unknown key {name!r}"
            raise FieldError(msg)
