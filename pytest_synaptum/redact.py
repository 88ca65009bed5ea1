"""Secrets out, before anything touches a disk.

Contract: redacting is idempotent and keeps everything else byte for byte: JSON stays JSON,
streams keep their events and chunk boundaries. The live caller always sees the untouched
answer; what is stored, matched, and shown as `.exchanges` is the redacted form, while
recording and on replay alike. `scan` is the second look: it reads JSON strings as their
readers will, and refuses what still holds a secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from pytest_synaptum.cassette.bodies import Body, join_body, parse_sse, split_body
from pytest_synaptum.errors import SecretFoundError
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_synaptum.secrets import (
    KEY,
    Rule,
    environment_secrets,
    find_secrets,
    is_telling,
    known_rule,
    named_tokens,
    shapes,
)
from synaptum.canonical import loads, wire_bytes
from synaptum.errors import EncodingError

__all__ = ["Redactor"]

#: Fields of a request that say something about its body; all others stay out.
_REQUEST_HEADERS: Final = frozenset({"content-type"})
#: Fields of an answer that clients act on; all others (cookies, organisation, server) stay out.
_RESPONSE_HEADERS: Final = frozenset(
    {
        "content-encoding",
        "content-type",
        "location",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "www-authenticate",
        "x-request-id",
        "x-should-retry",
    }
)
_CREDENTIALS: Final = frozenset(
    {"authorization", "api-key", "x-api-key", "x-goog-api-key", "cookie", "proxy-authorization"}
)

#: Characters of a known secret, first or last, that tell it in a word that was shortened.
_TOLD: Final = 6

_Edit = tuple[int, int, bytes]


class Redactor:
    """Replaces secrets, and knows more of them the more requests it has seen.

    Args:
        secrets: texts and patterns that users name.
        variables: environment variables that hold a key, besides those that look like it.
        environ: the environment.
        keep_headers: names of more header fields of answers to be kept, their values redacted.
    """

    def __init__(
        self,
        secrets: Iterable[str | re.Pattern[str]] = (),
        variables: tuple[str, ...] = (),
        environ: Mapping[str, str] = os.environ,
        *,
        keep_headers: Iterable[str] = (),
    ) -> None:
        self._answer_headers = _RESPONSE_HEADERS | {name.lower() for name in keep_headers}
        self._environ = environ
        self._variables = variables
        self._known: dict[str, bytes] = {}
        self._patterns: list[Rule] = []
        for secret in secrets:
            if isinstance(secret, str):
                self._known[secret] = KEY
            else:
                flags = secret.flags & ~re.UNICODE
                pattern = re.compile(secret.pattern.encode("utf-8"), flags)
                self._patterns.append(Rule("a secret of the project", (), pattern, KEY))
        self._rules: tuple[Rule, ...] = ()
        self.refresh()

    def refresh(self) -> None:
        """Read the key variables again; a test may have set one."""
        # A new one, here and below, since another thread may be reading the old.
        self._known = {**self._known, **dict(environment_secrets(self._environ, *self._variables))}
        self._rebuild()

    def known(self) -> Iterator[str]:
        """The texts that are known to be secrets and long enough to be told from words."""
        return (secret for secret in self._known if is_telling(secret))

    def learn(self, headers: Iterable[tuple[str, str]]) -> None:
        """Take the credentials of a request for secrets wherever else they stand."""
        self._take(
            value.split(" ", 1)[-1].strip()
            for name, value in headers
            if name.lower() in _CREDENTIALS
        )

    def learn_body(self, body: bytes) -> None:
        """Likewise the tokens that a request names as such."""
        self._take(named_tokens(body))

    def learn_exchange(self, exchange: Exchange) -> None:
        """Likewise all that an exchange tells: a token that a server gave is used later on."""
        self.learn(exchange.request.headers)
        for _, text in _readable(exchange):
            self.learn_body(text)

    def _take(self, secrets: Iterable[str]) -> None:
        fresh = [secret for secret in secrets if secret not in self._known]
        if fresh:
            self._known = self._known | dict.fromkeys(fresh, KEY)
            self._rebuild()

    def _rebuild(self) -> None:
        all_known = self._known
        known = [
            known_rule((s for s, label in all_known.items() if label == replacement), replacement)
            for replacement in dict.fromkeys(all_known.values())
        ]
        self._rules = (*(rule for rule in known if rule), *self._patterns, *shapes())

    def text(self, text: str) -> str:
        """`text` with its secrets replaced."""
        return self.body(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def body(self, body: bytes) -> bytes:
        """`body` with its secrets replaced."""
        edits = self._edits(body)
        return _apply(body, edits) if edits else body

    def value(self, value: Any) -> Any:
        """A JSON value with its secrets replaced; also those in pieces over the items of a list.

        Raises:
            EncodingError: the value has no JSON form.
        """
        text = wire_bytes(value)
        redacted = self.body(text)
        items = loads(redacted) if redacted != text else value
        if not isinstance(items, list):
            return items
        # A stream's events bring a text in pieces, none of which is a secret by itself.
        for pieces in _texts_by_place(items).values():
            found = find_secrets(b"".join(piece for _, _, piece in pieces), self._rules)
            if found and items is value:
                items = loads(text)
            for index, path, piece in _cut(pieces, found):
                _put(items, (index, *path), piece.decode("utf-8", "replace"))
        return items

    def holds_secret(self, text: str) -> bool:
        """Whether a secret is still to be found in `text`."""
        return bool(find_secrets(text.encode("utf-8", "surrogatepass"), self._rules))

    def holds_part(self, head: str, tail: str) -> bool:
        """Whether a word that was shortened in its middle, to `head` and `tail`, was a secret."""
        return self.holds_secret(head + tail) or any(
            secret[:_TOLD] in head or secret[-_TOLD:] in tail for secret in self.known()
        )

    def exchange(self, exchange: Exchange) -> Exchange:
        """The redacted form of an exchange."""
        request = exchange.request
        headers = self._headers(request.headers, _REQUEST_HEADERS)
        redacted = RecordedRequest(
            method=request.method,
            path=self.text(request.path),
            # The usual type is no news; another one is.
            headers=tuple(pair for pair in headers if pair[1] != "application/json"),
            body=self.body(request.body),
        )
        response = exchange.response
        return Exchange(
            request=redacted, response=None if response is None else self._response(response)
        )

    def _response(self, response: RecordedResponse) -> RecordedResponse:
        body, edges = response.body, _edges(response.chunks)
        for find in (self._edits, self._edits_across_events):
            edits = find(body)
            if edits:
                edges = _moved(edges, edits)
                body = _apply(body, edits)
        chunks = response.chunks
        if body != response.body:
            chunks = tuple(body[a:b] for a, b in pairwise(edges))
        headers = self._headers(response.headers, self._answer_headers)
        return replace(response, headers=headers, chunks=chunks)

    def _headers(
        self, headers: tuple[tuple[str, str], ...], kept: frozenset[str]
    ) -> tuple[tuple[str, str], ...]:
        lowered = ((name.lower(), value) for name, value in headers)
        return tuple((name, self.text(value)) for name, value in lowered if name in kept)

    def _edits(self, body: bytes) -> list[_Edit]:
        return [(a, b, rule.replacement) for a, b, rule in find_secrets(body, self._rules)]

    def _edits_across_events(self, body: bytes) -> list[_Edit]:
        """Edits for secrets whose text comes in pieces, one in the JSON of each event."""
        stream = _stream(body)
        if stream is None:
            return []
        # An event that no style writes exactly is only looked at, by `scan`.
        bodies = (split_body(event.encode("utf-8")) for event in stream.events)
        values = [body if body.kind == "json" else Body(kind="json") for body in bodies]
        touched: set[int] = set()
        for pieces in _texts_by_place([body.value for body in values]).values():
            joined = b"".join(text for _, _, text in pieces)
            found = find_secrets(joined, self._rules)
            for index, path, text in _cut(pieces, found):
                _put(values[index].value, path, text.decode("utf-8", "replace"))
                touched.add(index)
        edits: list[_Edit] = []
        position = 0
        for index, size in enumerate(stream.event_sizes[: len(values)]):
            if index in touched:
                start = position + len(stream.prefix)
                end = position + size - 2 * len(stream.newline)
                edits.append((start, end, join_body(values[index])))
            position += size
        return edits

    def scan(self, exchanges: Iterable[Exchange], where: str) -> None:
        """Refuse exchanges that still hold a secret.

        Raises:
            SecretFoundError: says where, never which.
        """
        for number, exchange in enumerate(exchanges, 1):
            for place, text in _readable(exchange):
                found = find_secrets(text, self._rules)
                if found:
                    msg = (
                        f"{where} was not written: the {place} of exchange {number} still holds"
                        f" {found[0][2].what}; keep it out of the test, or name it in the hook"
                        " pytest_synaptum_redact."
                    )
                    raise SecretFoundError(msg)


def _readable(exchange: Exchange) -> Iterator[tuple[str, bytes]]:
    """Everything of an exchange that a reader could find a secret in, as they would read it."""
    request, response = exchange.request, exchange.response
    yield "path", request.path.encode("utf-8", "surrogatepass")
    bodies: list[tuple[str, tuple[tuple[str, str], ...], bytes, Body | None]] = [
        ("request", request.headers, request.body, None)
    ]
    if response is not None:
        bodies.append(("answer", response.headers, response.body, _stream(response.body)))
    for name, headers, body, stream in bodies:
        for header, value in headers:
            yield f"{name} header {header}", value.encode("utf-8", "surrogatepass")
        yield f"{name} body", body
        texts = [body] if stream is None else [event.encode() for event in stream.events]
        values = [_value_of(text) for text in texts]
        for path, pieces in _texts_by_place(values).items():
            joined = b"".join(text for _, _, text in pieces)
            yield f"{name} body at {'.'.join(map(str, path))}", joined


_Path = tuple[str | int, ...]
_Piece = tuple[int, _Path, bytes]


def _stream(body: bytes) -> Body | None:
    try:
        return parse_sse(body.decode("utf-8"))
    except UnicodeDecodeError:
        return None


def _value_of(text: bytes) -> Any:
    """The JSON value of a text as any reader takes it, exact or not; None where it is none."""
    try:
        return loads(text)
    except EncodingError:
        return None


def _texts_by_place(values: list[Any]) -> dict[_Path, list[_Piece]]:
    """The strings of JSON values, those at the same path in several values together."""
    places: dict[_Path, list[_Piece]] = {}

    def walk(index: int, path: _Path, value: Any) -> None:
        if isinstance(value, str):
            piece = (index, path, value.encode("utf-8", "surrogatepass"))
            places.setdefault(path, []).append(piece)
        elif isinstance(value, dict):
            for key, inner in value.items():
                walk(index, (*path, key), inner)
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                walk(index, (*path, place), inner)

    for index, value in enumerate(values):
        walk(index, (), value)
    return places


def _cut(pieces: list[_Piece], found: list[tuple[int, int, Rule]]) -> Iterator[_Piece]:
    """The pieces that change: the first of a secret gets its replacement, the rest lose it."""
    if not found:
        return
    position = 0
    for index, path, text in pieces:
        end = position + len(text)
        edits: list[_Edit] = []
        for a, b, rule in found:
            if a < end and position < b:
                new = rule.replacement if a >= position else b""
                edits.append((max(a - position, 0), min(b, end) - position, new))
        if edits:
            yield index, path, _apply(text, edits)
        position = end


def _put(value: Any, path: _Path, text: str) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = text


def _apply(body: bytes, edits: list[_Edit]) -> bytes:
    parts = []
    position = 0
    for start, end, new in edits:
        parts += [body[position:start], new]
        position = end
    return b"".join([*parts, body[position:]])


def _edges(chunks: tuple[bytes, ...]) -> list[int]:
    edges = [0]
    for chunk in chunks:
        edges.append(edges[-1] + len(chunk))
    return edges


def _moved(edges: list[int], edits: list[_Edit]) -> list[int]:
    """Chunk boundaries after the edits; one inside a replaced span moves to the span's end."""
    moved = []
    for edge in edges:
        shift = 0
        for start, end, new in edits:
            if start < edge:
                shift += len(new) - (end - start) + max(end - edge, 0)
        moved.append(edge + shift)
    return moved
