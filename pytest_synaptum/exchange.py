"""One HTTP request and its answer, as a value.

Bodies are bytes as they travelled, after decompression. A response keeps the chunks in
which it arrived and how it ended, so that a replay can cancel half-way, wait for a first
token, or lose the connection, as the recorded one did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["CLOSED", "LOST", "Ending", "Exchange", "RecordedRequest", "RecordedResponse"]

#: How a body ended, other than whole: the caller closed it, or the connection was lost.
Ending = Literal["closed", "lost"]
CLOSED: Final[Ending] = "closed"
LOST: Final[Ending] = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """What was asked.

    Attributes:
        path: path and query, such as `/v1/chat/completions`; the host does not count.
        headers: only those the allow-list lets through; names in lower case.
    """

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedResponse:
    """What was answered.

    Attributes:
        headers: only those the allow-list lets through; names in lower case.
        chunks: the body in the pieces in which it arrived.
        headers_after_s: seconds from sending the request to status and headers, where known.
        delays_s: seconds before each chunk, counted from the one before (the first from the
            headers); one for each chunk, or empty where they are not known.
        ending: None when the body came whole, else how it ended.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    chunks: tuple[bytes, ...] = ()
    headers_after_s: float | None = None
    delays_s: tuple[float, ...] = ()
    ending: Ending | None = None

    @property
    def body(self) -> bytes:
        """All chunks joined."""
        return b"".join(self.chunks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and its answer.

    `response` is None where the connection failed before any status came.
    """

    request: RecordedRequest
    response: RecordedResponse | None
