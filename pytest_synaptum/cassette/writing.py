"""Exchanges to the text of a cassette."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pytest_synaptum.cassette.bodies import (
    DEFAULT_PREFIX,
    DEFAULT_STYLE,
    Body,
    pretty,
    split_body,
)
from pytest_synaptum.cassette.layout import FORMAT_LINE, block, flow_map, flow_pairs, quoted, scalar
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_synaptum.files import write_atomically

__all__ = ["about_exchange", "dump_cassette", "is_stream", "write_atomically"]

_INDENT: Final = "    "
_FINISH = re.compile(rb'"finish_reason": ?"([a-z_]+)"')


def dump_cassette(exchanges: Sequence[Exchange], recorded: Mapping[str, str]) -> str:
    """The text of a cassette.

    The order of exchanges is kept; what changes from one recording to the next with the
    clock (`recorded`, `timings`) stands apart from them, so that a difference shows what
    the server said differently.
    """
    parts = [FORMAT_LINE, f"recorded: {flow_map(recorded.items())}\n"]
    parts.append("exchanges:\n" if exchanges else "exchanges: []\n")
    parts.extend(_dump_exchange(exchange) for exchange in exchanges)
    parts.append(_dump_timings(exchanges))
    return "".join(parts)


def about_exchange(exchange: Exchange) -> str:
    """An exchange in a line: `POST /v1/chat/completions, 200, stream of 11 events, stop`."""
    return _about(exchange.request, exchange.response, _answer_body(exchange))


def is_stream(headers: Sequence[tuple[str, str]]) -> bool:
    """Whether an answer with these headers is a stream of server-sent events."""
    return any(
        name == "content-type" and value.lower().startswith("text/event-stream")
        for name, value in headers
    )


def _dump_exchange(exchange: Exchange) -> str:
    request, response = exchange.request, exchange.response
    body = _answer_body(exchange)
    about = _about(request, response, body)
    parts = [
        f"- about: {scalar(about)}\n  request:\n",
        f"{_INDENT}method: {scalar(request.method)}\n{_INDENT}path: {scalar(request.path)}\n",
        _dump_headers(request.headers),
        _dump_body(split_body(request.body)),
    ]
    if response is None or body is None:
        parts.append("  response: null\n")
        return "".join(parts)
    parts += [
        f"  response:\n{_INDENT}status: {response.status}\n",
        _dump_headers(response.headers),
        _dump_body(body),
        _dump_chunks(response, body),
    ]
    if response.ending is not None:
        parts.append(f"{_INDENT}ending: {response.ending}\n")
    return "".join(parts)


def _answer_body(exchange: Exchange) -> Body | None:
    response = exchange.response
    if response is None:
        return None
    return split_body(response.body, stream=is_stream(response.headers))


def _dump_headers(headers: tuple[tuple[str, str], ...]) -> str:
    return f"{_INDENT}headers: {flow_pairs(headers)}\n" if headers else ""


def _dump_body(body: Body) -> str:
    parts: list[str] = []
    if body.kind == "json":
        parts.append(block("json", pretty(body.value) + "\n", _INDENT))
        if body.style != DEFAULT_STYLE:
            parts.append(f"{_INDENT}style: {quoted(body.style)}\n")
        if body.before:
            parts.append(f"{_INDENT}before: {quoted(body.before)}\n")
    elif body.kind == "sse":
        parts.append(block("sse", "\n".join(body.events) + "\n", _INDENT))
        if body.prefix != DEFAULT_PREFIX:
            parts.append(f"{_INDENT}prefix: {quoted(body.prefix)}\n")
        if body.newline != "\n":
            parts.append(f"{_INDENT}newline: {quoted(body.newline)}\n")
    elif body.value:
        parts.append(block(body.kind, body.value, _INDENT))
    if body.after:
        parts.append(f"{_INDENT}after: {quoted(body.after)}\n")
    return "".join(parts)


def _dump_chunks(response: RecordedResponse, body: Body) -> str:
    sizes = tuple(len(chunk) for chunk in response.chunks)
    if sizes == ((sum(sizes),) if sum(sizes) else ()):
        return ""
    if sizes == body.event_sizes:
        return f"{_INDENT}chunks: events\n"
    return f"{_INDENT}chunks: [{', '.join(map(str, sizes))}]\n"


def _dump_timings(exchanges: Sequence[Exchange]) -> str:
    """One line an exchange, milliseconds: to the headers, then from chunk to chunk."""
    lines = []
    for exchange in exchanges:
        response = exchange.response
        numbers: list[str] = []
        if response is not None and (response.headers_after_s is not None or response.delays_s):
            after = response.headers_after_s
            numbers.append("null" if after is None else str(round(after * 1000)))
            numbers += [str(round(delay * 1000)) for delay in response.delays_s]
        lines.append(f"- [{', '.join(numbers)}]\n")
    if all(line == "- []\n" for line in lines):
        return "timings: []\n"
    return "timings:\n" + "".join(lines)


def _about(request: RecordedRequest, response: RecordedResponse | None, body: Body | None) -> str:
    about = f"{request.method} {request.path}"
    if response is None or body is None:
        return f"{about}, no answer"
    about += f", {response.status}"
    if body.kind == "sse":
        count = len(body.events)
        about += f", stream of {count} event{'' if count == 1 else 's'}"
    if response.ending is not None:
        about += {"closed": ", closed by the caller", "lost": ", connection lost"}[response.ending]
    finish = _FINISH.findall(response.body)
    return f"{about}, {finish[-1].decode('ascii')}" if finish else about
