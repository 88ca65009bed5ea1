"""The seam of httpx and httpx2: `handle_request` of the two real transports.

Clients made before the seam, subclasses and mounts are seen; mock, ASGI and WSGI transports
are no network and are not. Chunks are taken as the wire has them, still compressed; the
recorder undoes the compression.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import wraps
from types import ModuleType
from typing import Any

from pytest_synaptum.capture.clients import Capture, current, passing_on
from pytest_synaptum.cassette.recorder import Slot
from pytest_synaptum.exchange import CLOSED, LOST, RecordedResponse

__all__ = ["install"]

_MARK = "_synaptum_seam"


def install(library: ModuleType) -> None:
    """Put the seam on `library`, httpx or httpx2; twice is once, also where one is the other."""
    if hasattr(library.HTTPTransport.handle_request, _MARK):
        return
    streams = _Streams(library)
    transport, async_transport = library.HTTPTransport, library.AsyncHTTPTransport
    handle, handle_async = transport.handle_request, async_transport.handle_async_request

    @wraps(handle)
    def handle_request(self: Any, request: Any) -> Any:
        capture = current()
        if capture is None:
            return handle(self, request)
        body = request.read()
        if capture.player is not None:
            __tracebackhide__ = True
            return streams.replay(capture, request, body)
        slot = capture.begin(request.method, str(request.url), request.headers.multi_items(), body)
        with passing_on():
            response = handle(self, request)
        slot.answered(response.status_code, response.headers.multi_items())
        response.stream = streams.tee(response.stream, slot)
        return response

    @wraps(handle_async)
    async def handle_async_request(self: Any, request: Any) -> Any:
        capture = current()
        if capture is None:
            return await handle_async(self, request)
        body = await request.aread()
        if capture.player is not None:
            __tracebackhide__ = True
            return streams.replay(capture, request, body)
        slot = capture.begin(request.method, str(request.url), request.headers.multi_items(), body)
        response = await handle_async(self, request)
        slot.answered(response.status_code, response.headers.multi_items())
        response.stream = streams.tee_async(response.stream, slot)
        return response

    for wrapper in (handle_request, handle_async_request):
        setattr(wrapper, _MARK, True)
    transport.handle_request = handle_request
    async_transport.handle_async_request = handle_async_request


class _Streams:
    """Stream classes on the base classes of one library."""

    def __init__(self, library: ModuleType) -> None:
        self._library = library
        sync_base, async_base = library.SyncByteStream, library.AsyncByteStream

        class Tee(sync_base):  # type: ignore[misc, valid-type]
            def __init__(self, inner: Any, slot: Slot) -> None:
                self.inner = inner
                self.slot = slot

            def __iter__(self) -> Iterator[bytes]:
                try:
                    for chunk in self.inner:
                        self.slot.chunk(chunk)
                        yield chunk
                except Exception:
                    self.slot.end(LOST)
                    raise
                except BaseException:
                    self.slot.end(CLOSED)
                    raise
                self.slot.end()

            def close(self) -> None:
                self.slot.end(CLOSED)
                self.inner.close()

        class AsyncTee(async_base):  # type: ignore[misc, valid-type]
            def __init__(self, inner: Any, slot: Slot) -> None:
                self.inner = inner
                self.slot = slot

            async def __aiter__(self) -> AsyncIterator[bytes]:
                try:
                    async for chunk in self.inner:
                        self.slot.chunk(chunk)
                        yield chunk
                except Exception:
                    self.slot.end(LOST)
                    raise
                except BaseException:
                    self.slot.end(CLOSED)
                    raise
                self.slot.end()

            async def aclose(self) -> None:
                self.slot.end(CLOSED)
                await self.inner.aclose()

        class Replay(sync_base, async_base):  # type: ignore[misc, valid-type]
            def __init__(self, capture: Capture, response: RecordedResponse) -> None:
                self.capture = capture
                self.response = response

            def __iter__(self) -> Iterator[bytes]:
                for index, chunk in enumerate(self.response.chunks):
                    self.capture.wait(_delay(self.response, index))
                    yield chunk
                self.finish()

            async def __aiter__(self) -> AsyncIterator[bytes]:
                for index, chunk in enumerate(self.response.chunks):
                    if self.capture.pace:
                        delay = _delay(self.response, index) or 0.0
                        await asyncio.sleep(delay * self.capture.pace)
                    yield chunk
                self.finish()

            def finish(self) -> None:
                if self.response.ending == LOST:
                    msg = "connection lost before the answer was whole, as in the recording"
                    raise library.RemoteProtocolError(msg)
                if self.response.ending == CLOSED and self.capture.player is not None:
                    raise self.capture.player.past_the_end()

        self.tee = Tee
        self.tee_async = AsyncTee
        self._replay = Replay

    def replay(self, capture: Capture, request: Any, body: bytes) -> Any:
        """The recorded response, as one of the library's own."""
        __tracebackhide__ = True
        headers = request.headers.multi_items()
        recorded = capture.take(request.method, str(request.url), headers, body)
        if recorded is None:
            msg = "no connection, as in the recording"
            raise self._library.ConnectError(msg, request=request)
        capture.wait(recorded.headers_after_s)
        return self._library.Response(
            recorded.status,
            headers=list(recorded.headers),
            stream=self._replay(capture, recorded),
            extensions={"http_version": b"HTTP/1.1"},
        )


def _delay(response: RecordedResponse, index: int) -> float | None:
    return response.delays_s[index] if response.delays_s else None
