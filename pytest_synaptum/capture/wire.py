"""A recorded answer as bytes on a connection, one chunk a read, for clients on sockets."""

from __future__ import annotations

import http.client
import io
from collections import deque
from collections.abc import Callable

from pytest_synaptum.capture.clients import Capture
from pytest_synaptum.exchange import CLOSED, RecordedResponse

__all__ = ["ReplayedBytes", "ReplayedSocket", "body_pieces", "head_of", "replayed_response"]

#: Fields that say how a body was framed on its wire, which is not how it is framed here.
_FRAMING = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})


def head_of(response: RecordedResponse) -> bytes:
    """Status line and headers, announcing a body in HTTP chunks."""
    reason = http.client.responses.get(response.status, "")
    lines = [f"HTTP/1.1 {response.status} {reason}"]
    lines += [f"{name}: {value}" for name, value in response.headers if name not in _FRAMING]
    lines += ["transfer-encoding: chunked", "connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")


def body_pieces(response: RecordedResponse) -> list[bytes]:
    """The body in HTTP chunks, one for each recorded chunk; without an end where it had none."""
    pieces = [b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in response.chunks if chunk]
    if response.ending is None:
        pieces.append(b"0\r\n\r\n")
    return pieces


class ReplayedBytes(io.RawIOBase):
    """Head and body as a raw file: each read gives at most one piece."""

    def __init__(self, capture: Capture, response: RecordedResponse) -> None:
        self._capture = capture
        self._response = response
        self._waits = deque([response.headers_after_s or 0.0, *response.delays_s])
        self._pieces = deque([head_of(response), *body_pieces(response)])
        self._rest = b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: object) -> int:
        """Give the next piece, or as much of it as there is room for."""
        view = memoryview(buffer)  # type: ignore[arg-type]
        if not self._rest and self._pieces:
            self._capture.wait(self._waits.popleft() if self._waits else 0.0)
            self._rest = self._pieces.popleft()
        elif not self._rest:
            self._look_past_the_end()
        data, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(data)] = data
        return len(data)

    def _look_past_the_end(self) -> None:
        # A lost connection is an end of file in the midst of a body, as it mostly is.
        if self._response.ending == CLOSED and self._capture.player is not None:
            raise self._capture.player.past_the_end()


class ReplayedSocket:
    """What `http.client` needs of a socket, over bytes that were recorded."""

    def __init__(self, answer: Callable[[], io.RawIOBase]) -> None:
        self._answer = answer

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        """The recorded bytes as a file."""
        return io.BufferedReader(self._answer())

    def sendall(self, data: object) -> None:
        """Nothing goes anywhere."""

    def settimeout(self, seconds: object) -> None:
        """Nothing is waited for."""

    def setsockopt(self, *_: object) -> None:
        """There are no options to set."""

    def close(self) -> None:
        """There is nothing to close."""

    def shutdown(self, how: object) -> None:
        """There is nothing to shut down."""

    def fileno(self) -> int:
        """No descriptor."""
        return -1


def replayed_response(
    capture: Capture, response: RecordedResponse, method: str
) -> http.client.HTTPResponse:
    """A real `http.client.HTTPResponse` over the recorded bytes, its head already read."""
    sock = ReplayedSocket(lambda: ReplayedBytes(capture, response))
    answer = http.client.HTTPResponse(sock, method=method)  # type: ignore[arg-type]
    answer.begin()
    return answer
