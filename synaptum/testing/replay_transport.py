"""A transport that answers from replies given to it, in memory and without a thread.

    transport = ReplayTransport([Reply(body=b'{"choices": ...}')])
    model = HttpModel("http://server.invalid/v1", transport=transport)

It is *scripted*: it does not compare what is asked with anything. Replaying recordings by
what is asked is what the pytest plugin does at the same seam.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass

from synaptum.errors import AbortError, NetworkError
from synaptum.transport.base import HttpReply, HttpRequest

__all__ = ["ReplayTransport", "Reply", "ScriptExhaustedError"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What to answer.

    Attributes:
        headers: names in lower case.
        body: the body in one piece; exclusive with `chunks`.
        chunks: the body in pieces.
        lost: the connection breaks off after the last piece.
        error: raised in place of any reply, such as a `RequestTimeoutError`.
    """

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    chunks: tuple[bytes, ...] | None = None
    lost: bool = False
    error: NetworkError | None = None


class ScriptExhaustedError(AssertionError):
    """More was asked than was scripted."""


class ReplayTransport:
    """Answers from a queue of replies, or from a function of the request.

    Attributes:
        requests: what was asked, in order. The key is in the headers of these values.
        closed_early: how many replies were closed before their end.
    """

    def __init__(self, replies: Iterable[Reply] | Callable[[HttpRequest], Reply]) -> None:
        self.requests: list[HttpRequest] = []
        self.closed_early = 0
        self._answer = replies if callable(replies) else None
        self._queue: deque[Reply] = deque(() if callable(replies) else replies)

    @property
    def left(self) -> int:
        """How many replies of the queue were not asked for."""
        return len(self._queue)

    async def send(self, request: HttpRequest) -> HttpReply:
        """Give the next reply.

        Raises:
            ScriptExhaustedError: there is none left.
            NetworkError: the script says so.
        """
        self.requests.append(request)
        if self._answer is not None:
            reply = self._answer(request)
        elif self._queue:
            reply = self._queue.popleft()
        else:
            count = len(self.requests)
            msg = (
                f"Request number {count} ({request.method} {request.url.partition('?')[0]}) came,"
                f" and the script holds {count - 1} replies."
            )
            raise ScriptExhaustedError(msg)
        if reply.error is not None:
            raise reply.error
        return _ReplayedReply(reply, self)


class _ReplayedReply:
    def __init__(self, reply: Reply, transport: ReplayTransport) -> None:
        self.status = reply.status
        self.headers = reply.headers
        self._reply = reply
        self._transport = transport
        self._is_over = False

    async def chunks(self) -> AsyncIterator[bytes]:
        pieces = (self._reply.body,) if self._reply.chunks is None else self._reply.chunks
        for piece in pieces:
            # The other tasks get their turn between pieces, as they do on a network.
            await asyncio.sleep(0)
            if self._is_over:
                msg = "The reply was closed before its end."
                raise AbortError(msg)
            if piece:
                yield piece
        if self._reply.lost:
            msg = "The connection was lost before the answer was whole, as scripted."
            raise NetworkError(msg)
        self._is_over = True

    async def aclose(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._transport.closed_early += 1
