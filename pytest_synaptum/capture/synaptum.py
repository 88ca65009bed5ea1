"""The seam of `recorded_provider`: a transport that records, and one that replays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from pytest_synaptum.cassette.player import Player
from pytest_synaptum.cassette.recorder import Recorder, Slot, path_of
from pytest_synaptum.exchange import CLOSED, LOST, RecordedResponse
from synaptum.errors import NetworkError
from synaptum.transport.base import HttpReply, HttpRequest, Transport

__all__ = ["RecordingTransport", "ReplayTransport"]


class RecordingTransport:
    """Passes requests on to a real transport and keeps what it says."""

    def __init__(self, inner: Transport, recorder: Recorder) -> None:
        self._inner = inner
        self._recorder = recorder
        recorder.has_transport = True

    async def send(self, request: HttpRequest) -> HttpReply:
        """Send by the real transport. Raises what that raises."""
        slot = self._recorder.begin(request.method, request.url, request.headers, request.body)
        reply = await self._inner.send(request)
        slot.answered(reply.status, reply.headers)
        return _RecordingReply(reply, slot)


class _RecordingReply:
    def __init__(self, reply: HttpReply, slot: Slot) -> None:
        self.status = reply.status
        self.headers = reply.headers
        self._reply = reply
        self._slot = slot

    async def chunks(self) -> AsyncIterator[bytes]:
        chunks = self._reply.chunks()
        try:
            async for chunk in chunks:
                self._slot.chunk(chunk)
                yield chunk
        except NetworkError:
            self._slot.end(LOST)
            raise
        except BaseException:
            self._slot.end(CLOSED)
            raise
        finally:
            close = getattr(chunks, "aclose", None)
            if close is not None:
                await close()
        self._slot.end()

    async def aclose(self) -> None:
        self._slot.end(CLOSED)
        await self._reply.aclose()


class ReplayTransport:
    """Answers from a cassette, without a socket.

    Args:
        player: the cassette's view.
        pace: how much of the recorded delays is waited; 0.0 for none.
    """

    def __init__(self, player: Player, pace: float = 0.0) -> None:
        self._player = player
        self._pace = pace

    async def send(self, request: HttpRequest) -> HttpReply:
        """Answer. Raises `CassetteMismatchError`; `NetworkError` where that was recorded."""
        self._player.learn(request.headers)
        response = self._player.take(request.method, path_of(request.url), request.body)
        if response is None:
            msg = "No connection, as in the recording."
            raise NetworkError(msg)
        if self._pace and response.headers_after_s:
            await asyncio.sleep(response.headers_after_s * self._pace)
        return _ReplayReply(response, self._player, self._pace)


class _ReplayReply:
    def __init__(self, response: RecordedResponse, player: Player, pace: float) -> None:
        self.status = response.status
        self.headers = response.headers
        self._response = response
        self._player = player
        self._pace = pace
        self._is_closed = False

    async def chunks(self) -> AsyncIterator[bytes]:
        response = self._response
        for index, chunk in enumerate(response.chunks):
            if self._is_closed:
                return
            delay = response.delays_s[index] if response.delays_s else 0.0
            # Other tasks get their turn between chunks, as they do while a network is waited for.
            await asyncio.sleep(delay * self._pace)
            yield chunk
        if response.ending == LOST:
            msg = "The connection was lost before the answer was whole, as in the recording."
            raise NetworkError(msg)
        if response.ending == CLOSED and not self._is_closed:
            raise self._player.past_the_end()

    async def aclose(self) -> None:
        self._is_closed = True
