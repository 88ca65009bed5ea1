"""The seam of aiohttp: the connector's `connect`, the request's `send`, the response's `start`.

On replay the connection is a real one of aiohttp's, over a transport that goes nowhere; its
parser is fed the recorded bytes, and the body a chunk at a time, when the reader asks for
more. Such a connection is marked to be closed, so it never gets into the pool.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from pytest_synaptum.capture.clients import Capture, current
from pytest_synaptum.capture.wire import body_pieces, head_of
from pytest_synaptum.cassette.recorder import Slot
from pytest_synaptum.exchange import CLOSED, LOST, RecordedResponse

__all__ = ["install"]


@dataclass(slots=True)
class _Play:
    """A recorded answer on its way to one reader."""

    capture: Capture
    response: RecordedResponse
    protocol: Any
    pieces: deque[bytes] = field(default_factory=deque)
    delays_s: deque[float] = field(default_factory=deque)


class _Watched:
    """What belongs to which object of aiohttp's; they have slots, and ids are used again.

    The object is kept with its entry, so that its id is its own until `drop`.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[object, Any]] = {}

    def put(self, key: object, value: Any) -> None:
        self._entries[id(key)] = (key, value)

    def get(self, key: object) -> Any:
        entry = self._entries.get(id(key))
        return entry[1] if entry else None

    def drop(self, key: object) -> Any:
        entry = self._entries.pop(id(key), None)
        return entry[1] if entry else None


def install(library: ModuleType) -> None:
    """Put the seam on aiohttp. Raises `AttributeError` on a version without these names."""
    _Seam(library).install()


class _Seam:
    def __init__(self, library: ModuleType) -> None:
        self._library: Any = library
        self._requests: Any = import_module("aiohttp.client_reqrep")
        self._connectors: Any = import_module("aiohttp.connector")
        self._protocols: Any = import_module("aiohttp.client_proto")
        self._reader: Any = import_module("aiohttp.streams").StreamReader
        #: Responses whose head has not come yet, and readers whose body is under way.
        self._started = _Watched()
        self._bodies = _Watched()

    def install(self) -> None:
        self._on_connections()
        self._on_requests()
        self._on_responses()
        self._on_readers()

    def _on_connections(self) -> None:
        connector = self._connectors.BaseConnector
        real = connector.connect
        protocols, connection = self._protocols.ResponseHandler, self._connectors.Connection

        async def connect(connector: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
            capture = current()
            if capture is None or capture.player is None:
                return await real(connector, request, *args, **kwargs)
            loop = asyncio.get_running_loop()
            protocol = protocols(loop)
            protocol.connection_made(_Nowhere())
            protocol.force_close()
            return connection(connector, request.connection_key, protocol, loop)

        connector.connect = connect

    def _on_requests(self) -> None:
        request = self._requests.ClientRequest
        name = "_send" if hasattr(request, "_send") else "send"
        real = getattr(request, name)

        async def send(request: Any, connection: Any) -> Any:
            capture = current()
            if capture is None:
                return await real(request, connection)
            __tracebackhide__ = True
            body = await _body_of(request)
            url, headers = str(request.url), list(request.headers.items())
            if capture.player is None:
                slot = capture.begin(request.method, url, headers, body)
                response = await real(request, connection)
                self._started.put(response, slot)
                return response
            recorded = capture.take(request.method, url, headers, body)
            if recorded is None:
                msg = "no connection, as in the recording"
                raise self._library.ClientConnectionError(msg)
            response = await real(request, connection)
            play = _Play(
                capture,
                recorded,
                connection.protocol,
                deque(body_pieces(recorded)),
                deque(recorded.delays_s),
            )
            self._started.put(response, play)
            return response

        setattr(request, name, send)

    def _on_responses(self) -> None:
        kind = self._requests.ClientResponse
        real_start, real_close, real_release = kind.start, kind.close, kind.release

        async def start(response: Any, connection: Any) -> Any:
            watched = self._started.drop(response)
            if isinstance(watched, _Play):
                await _pause(watched.capture, watched.response.headers_after_s)
                head = head_of(watched.response)
                asyncio.get_running_loop().call_soon(watched.protocol.data_received, head)
            result = await real_start(response, connection)
            reader = response.content
            if isinstance(watched, Slot):
                fields = ((name.decode(), value.decode()) for name, value in response.raw_headers)
                watched.answered(response.status, fields)
                for chunk in list(reader._buffer):  # what came together with the head
                    watched.chunk(bytes(chunk))
                if reader.is_eof():
                    watched.end()
            if watched is not None and not reader.is_eof():
                self._bodies.put(reader, watched)
            return result

        def ended(response: Any) -> None:
            watched = self._bodies.drop(response.content)
            if isinstance(watched, Slot):
                watched.end(CLOSED)

        def close(response: Any) -> None:
            ended(response)
            real_close(response)

        def release(response: Any) -> Any:
            ended(response)
            return real_release(response)

        kind.start, kind.close, kind.release = start, close, release

    def _on_readers(self) -> None:
        kind, bodies = self._reader, self._bodies
        real_feed, real_eof, real_wait = kind.feed_data, kind.feed_eof, kind._wait
        real_exception = kind.set_exception

        def feed_data(reader: Any, data: bytes, *args: Any) -> Any:
            watched = bodies.get(reader)
            if isinstance(watched, Slot):
                watched.chunk(bytes(data))
            return real_feed(reader, data, *args)

        def feed_eof(reader: Any) -> None:
            watched = bodies.drop(reader)
            if isinstance(watched, Slot):
                watched.end()
            real_eof(reader)

        def set_exception(reader: Any, *args: Any, **kwargs: Any) -> None:
            watched = bodies.drop(reader)
            if isinstance(watched, Slot):
                watched.end(LOST)
            real_exception(reader, *args, **kwargs)

        async def _wait(reader: Any, name: str) -> None:
            watched = bodies.get(reader)
            if not isinstance(watched, _Play):
                await real_wait(reader, name)
                return
            if watched.pieces:
                await _pause(watched.capture, watched.delays_s.popleft() if watched.delays_s else 0)
                watched.protocol.data_received(watched.pieces.popleft())
                return
            bodies.drop(reader)
            if watched.response.ending == CLOSED and watched.capture.player is not None:
                raise watched.capture.player.past_the_end()
            msg = "connection lost before the answer was whole, as in the recording"
            raise self._library.ClientPayloadError(msg)

        kind.feed_data, kind.feed_eof, kind._wait = feed_data, feed_eof, _wait
        kind.set_exception = set_exception


class _Nowhere(asyncio.Transport):
    """A transport that takes everything and sends nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._closing = False

    def write(self, data: Any) -> None:
        """Nothing goes anywhere."""

    def writelines(self, list_of_data: Any) -> None:
        """Nothing goes anywhere."""

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self._closing

    def close(self) -> None:
        """There is nothing to close."""
        self._closing = True

    def abort(self) -> None:
        """There is nothing to abort."""
        self._closing = True

    def get_write_buffer_size(self) -> int:
        """Nothing waits to be sent."""
        return 0

    def pause_reading(self) -> None:
        """Nothing comes by itself."""

    def resume_reading(self) -> None:
        """Nothing comes by itself."""


class _Collected:
    """Takes what a body writes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    async def write(self, data: Any) -> None:
        self.parts.append(bytes(data))


async def _body_of(request: Any) -> bytes:
    body = request.body
    if body is None:
        return b""
    if isinstance(body, bytes | bytearray):
        return bytes(body)
    if hasattr(body, "as_bytes"):
        return bytes(await body.as_bytes())
    collected = _Collected()
    await body.write(collected)
    return b"".join(collected.parts)


async def _pause(capture: Capture, seconds: float | None) -> None:
    if capture.pace and seconds:
        await asyncio.sleep(seconds * capture.pace)
