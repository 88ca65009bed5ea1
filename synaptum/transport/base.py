"""The transport seam: bytes out, bytes in, nothing of any dialect.

A `Transport` sends one HTTP request and gives a reply whose body arrives in chunks. It is
the seam at which pytest-synaptum records and replays: a recording transport wraps a real
one, a replaying transport answers from a cassette, and `HttpModel` cannot tell.

Contract: `send` returns once status and headers are there; it raises `NetworkError` or
`RequestTimeoutError` and never a foreign exception; any HTTP status is a reply, not an
error. Closing a reply (or cancelling whoever waits on it) ends the connection at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

__all__ = ["HttpReply", "HttpRequest", "Transport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request as it travels.

    Attributes:
        url: absolute, such as `http://127.0.0.1:8080/v1/chat/completions`.
        headers: names in lower case; the key is among them, so the repr leaves them out, and
            the query of the URL too.
        timeout_s: seconds without any byte before the request fails; None waits for ever.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    timeout_s: float | None = None

    def __repr__(self) -> str:
        return f"HttpRequest({self.method} {self.url.partition('?')[0]}, {len(self.body)} bytes)"


class HttpReply(Protocol):
    """A reply whose status and headers are known and whose body is still to come."""

    @property
    def status(self) -> int:
        """HTTP status code."""
        ...

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Header fields in order, names in lower case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, decompressed; to be iterated once.

        Raises:
            NetworkError: the body broke off before its end.
            AbortError: the reply was closed by somebody else meanwhile.
        """
        ...

    async def aclose(self) -> None:
        """End the connection now; harmless when repeated or after the end."""
        ...


class Transport(Protocol):
    """Sends requests."""

    async def send(self, request: HttpRequest) -> HttpReply:
        """Send and wait for status and headers. Raises `NetworkError`, `RequestTimeoutError`."""
        ...
