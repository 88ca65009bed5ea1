"""The seam of http.client, and so of urllib: `connect`, `send` and `getresponse`.

A connection that belongs to urllib3 is left to the seam above, which sees whole requests.
"""

from __future__ import annotations

import http.client
import io
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from pytest_synaptum.capture.clients import Capture, current, is_busy
from pytest_synaptum.capture.wire import ReplayedBytes, ReplayedSocket
from pytest_synaptum.cassette.recorder import Slot
from pytest_synaptum.exchange import CLOSED, LOST, Ending

__all__ = ["install"]

_SENT = "_synaptum_sent"

#: More than any chunk of a stream, so that one read gives one chunk.
_READ_BYTES = 1 << 20
#: More than any body has.
_ALL = sys.maxsize


def _capture_for(connection: Any) -> Capture | None:
    owner = type(connection).__module__
    if is_busy() or owner.startswith("urllib3."):
        return None
    capture = current()
    if capture is not None and capture.recorder is not None and owner.startswith("synaptum."):
        # recorded_provider in the same test keeps its exchanges itself.
        return None if capture.recorder.has_transport else capture
    return capture


def install(library: ModuleType) -> None:
    """Put the seam on http.client."""
    plain, secure = library.HTTPConnection, library.HTTPSConnection
    real_send, real_getresponse = plain.send, plain.getresponse

    def connecting(real: Callable[[Any], None]) -> Callable[[Any], None]:
        def connect(self: Any) -> None:
            capture = _capture_for(self)
            if capture is None or capture.player is None:
                real(self)
            else:
                self.sock = ReplayedSocket(io.BytesIO)  # type: ignore[arg-type]

        return connect

    def send(self: Any, data: Any) -> None:
        capture = _capture_for(self)
        if capture is None:
            real_send(self, data)
            return
        data = _bytes_of(data)
        self.__dict__.setdefault(_SENT, []).append(data)
        if capture.player is None:
            real_send(self, data)
        elif self.sock is None:
            self.connect()

    def getresponse(self: Any) -> Any:
        capture = _capture_for(self)
        if capture is None:
            return real_getresponse(self)
        __tracebackhide__ = True
        method, target, headers, body = _request_of(b"".join(self.__dict__.pop(_SENT, [])))
        url = target if "://" in target else f"http://{self.host}:{self.port}{target}"
        if capture.player is not None:
            recorded = capture.take(method, url, headers, body)
            if recorded is None:
                msg = "no connection, as in the recording"
                raise ConnectionRefusedError(msg)
            self.sock = ReplayedSocket(lambda: ReplayedBytes(capture, recorded))
            return real_getresponse(self)
        slot = capture.begin(method, url, headers, body)
        response = real_getresponse(self)
        slot.answered(response.status, response.getheaders())
        _tee(response, slot)
        return response

    plain.connect = connecting(plain.connect)
    secure.connect = connecting(secure.connect)
    plain.send = send
    plain.getresponse = getresponse


def _bytes_of(data: Any) -> bytes:
    if hasattr(data, "read"):
        data = data.read()
        return data.encode("iso-8859-1") if isinstance(data, str) else bytes(data)
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    return b"".join(data)


def _request_of(sent: bytes) -> tuple[str, str, list[tuple[str, str]], bytes]:
    head, _, body = sent.partition(b"\r\n\r\n")
    first, *lines = head.decode("iso-8859-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    if any(n.lower() == "transfer-encoding" and "chunked" in v.lower() for n, v in headers):
        body = _without_chunks(body)
    return method, target, headers, body


def _without_chunks(body: bytes) -> bytes:
    parts = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        if not length:
            break
        parts.append(body[:length])
        body = body[length + 2 :]
    return b"".join(parts)


def _tee(response: Any, slot: Slot) -> None:
    """Keep what is read of a response, by whichever of its methods; they call each other."""
    inside = False

    def keep(data: bytes) -> None:
        # Whoever reads by lines or by counts takes a chunk of the wire in several pieces.
        slot.chunk(data, is_whole=not (response.chunked and response.chunk_left))

    def ending() -> Ending | None:
        # http.client gives a clean end where a body is shorter than its length, and to
        # whoever reads lines where the chunk of size zero is missing.
        cut = response.chunk_left is not None if response.chunked else response.length
        return LOST if cut else None

    def is_over() -> bool:
        # read1 leaves a body of known length open when it has given the last of it.
        return bool(response.isclosed() or response.length == 0)

    def keeping(real: Callable[..., Any], data_of: Callable[..., bytes]) -> Callable[..., Any]:
        def read(*args: Any, **kwargs: Any) -> Any:
            nonlocal inside
            if inside:
                return real(*args, **kwargs)
            inside = True
            try:
                result = real(*args, **kwargs)
            except http.client.IncompleteRead as error:
                slot.chunk(error.partial)
                slot.end(LOST)
                raise
            except OSError:
                slot.end(LOST)
                raise
            finally:
                inside = False
            keep(data_of(result, *args))
            if is_over():
                slot.end(ending())
            return result

        return read

    def read(amount: int | None = None) -> bytes:
        """`read`, with a stream's chunks kept apart: each `read1` gives at most one of them."""
        if inside or not response.chunked:
            data: bytes = real_read(amount)
            return data
        wanted = _ALL if amount is None or amount < 0 else amount
        parts: list[bytes] = []
        try:
            while wanted and (data := response.read1(min(wanted, _READ_BYTES))):
                parts.append(data)
                wanted -= len(data)
        except http.client.IncompleteRead as error:
            raise http.client.IncompleteRead(b"".join([*parts, error.partial])) from None
        return b"".join(parts)

    real_read = keeping(response.read, lambda result, *_: result or b"")
    response.read = read
    for name in ("read1", "readline"):
        setattr(response, name, keeping(getattr(response, name), lambda result, *_: result or b""))
    response.readinto = keeping(
        response.readinto, lambda count, buffer: bytes(memoryview(buffer)[: count or 0])
    )
    real_close = response.close

    def close() -> None:
        slot.end(ending() if is_over() else CLOSED)
        real_close()

    response.close = close
    if is_over():
        slot.end()
