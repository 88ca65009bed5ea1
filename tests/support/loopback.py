"""A real HTTP server on the loopback interface that answers as a test scripts it.

    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        ...  # talk to server.base_url
    assert server.count == 1

Answers come from a queue, or from a function of the request for tests that ask often or from
many threads. Every request is kept. A chunk of a scripted answer is one HTTP chunk and one
write. Waits are events (`Answer.gates`), so that a test holds the server exactly where it
needs it; `delay_s` is there for the few that want time to pass.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import ssl
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from support.chat import chat_body, chat_stream, sse

__all__ = ["Answer", "LoopbackServer", "Received", "chat_body", "chat_stream", "sse"]

#: No wait inside the server outlasts this: a test that forgets a gate fails, it does not hang.
LONGEST_WAIT_S = 20.0

#: How often a waiting server looks whether its client is still there.
_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in. Header names are in lower case, in order, repeated as sent."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    def json(self) -> Any:
        """The body read as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """What to answer.

    Attributes:
        headers: extra fields; a `content-type` here replaces the default one.
        body: a body sent in one piece with its length. Exclusive with `chunks`.
        chunks: a body in pieces, `text/event-stream` by default.
        framing: how the pieces travel: HTTP chunks, a `Content-Length`, or until close.
        content_length: the length to claim, where it is to be a lie.
        delay_s: seconds between the pieces.
        gates: what to wait for before piece n (0 is the first, -1 is before the headers, the
            number of pieces is before the end).
        drop_after: close the connection after so many pieces, without a proper end (0: after
            the headers, -1: before them).
        reset: drop with a TCP reset instead of an orderly close.
    """

    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | str | None = None
    chunks: Sequence[bytes | str] | None = None
    framing: Literal["chunked", "length", "close"] = "chunked"
    content_length: int | None = None
    delay_s: float = 0.0
    gates: Mapping[int, threading.Event] = field(default_factory=dict)
    drop_after: int | None = None
    reset: bool = False


class LoopbackServer:
    """Serves scripted answers until the `with` block ends.

    Args:
        answers: a queue of answers, or a function of the request (called from several
            threads). An exhausted queue answers 599, which no client takes for success.
        tls: a server-side context; the addresses then begin with `https`.

    Attributes:
        requests: every request, in the order in which it was read whole.
        client_gone: set when some client hung up before its answer was whole.
        gone_at: `time.monotonic()` of each such moment.
        sent: pieces written so far, over all answers.
    """

    def __init__(
        self,
        answers: Iterable[Answer] | Callable[[Received], Answer] = (),
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Received] = []
        self.client_gone = threading.Event()
        self.gone_at: list[float] = []
        self.sent = 0
        self._answers = answers if callable(answers) else None
        self._queue = deque(() if callable(answers) else answers)
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.script = self
        self._server.tls = tls
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http{'s' if self._server.tls else ''}://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:PORT/v1`."""
        return f"{self.origin}/v1"

    @property
    def port(self) -> int:
        """The port the server listens on."""
        return int(self._server.server_address[1])

    @property
    def count(self) -> int:
        """How many requests came in."""
        return len(self.requests)

    def add(self, *answers: Answer) -> None:
        """Put answers at the end of the queue."""
        with self._lock:
            self._queue.extend(answers)

    def wait_for(self, condition: Callable[[], bool], timeout_s: float = 5.0) -> bool:
        """Wait until `condition()` holds, looking again at each request, piece and hang-up."""
        with self._changed:
            return self._changed.wait_for(condition, timeout_s)

    def __enter__(self) -> LoopbackServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    # What follows is called by the handler threads.

    def next_answer(self, received: Received) -> Answer:
        with self._changed:
            self.requests.append(received)
            self._changed.notify_all()
            if self._answers is None:
                if self._queue:
                    return self._queue.popleft()
                return Answer(599, body='{"error":{"message":"the script has no answer left"}}')
        return self._answers(received)

    def note_sent(self) -> None:
        with self._changed:
            self.sent += 1
            self._changed.notify_all()

    def note_gone(self) -> None:
        with self._changed:
            self.gone_at.append(time.monotonic())
            self.client_gone.set()
            self._changed.notify_all()

    def wait(self, connection: socket.socket, until: Callable[[], bool], limit_s: float) -> None:
        """Wait, and raise ConnectionError as soon as the client is gone or the test is over."""
        end = time.monotonic() + limit_s
        while not until() and time.monotonic() < end:
            if self._closing.is_set():
                raise _Over
            readable, _, _ = select.select([connection], [], [], _POLL_S)
            # The base class's method: a TLS socket takes no flags.
            if readable and socket.socket.recv(connection, 1, socket.MSG_PEEK) == b"":
                raise ConnectionResetError


class _Over(Exception):
    """The test is over; the answer is not needed any more."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Python's default of 5 makes bursts of connections wait a second for their SYN again.
    request_queue_size = 256
    script: LoopbackServer
    tls: ssl.SSLContext | None = None

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.to_reset: set[Any] = set()
        self.open: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the connection's own thread, so that a slow handshake keeps nobody waiting."""
        if self.tls is None:
            super().finish_request(request, client_address)
            return
        with self.tls.wrap_socket(request, server_side=True) as wrapped:
            super().finish_request(wrapped, client_address)

    def server_close(self) -> None:
        """Also wake the handlers that wait on a kept-alive connection, so that they end."""
        super().server_close()
        for request in list(self.open):
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        if request in self.to_reset:
            # An orderly shutdown first would turn the reset into a plain end.
            self.to_reset.discard(request)
            self.close_request(request)
        else:
            super().shutdown_request(request)

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is part of the script."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 0
    server: _Server

    def _serve(self) -> None:
        script = self.server.script
        received = Received(
            self.command,
            self.path,
            tuple((name.lower(), value) for name, value in self.headers.items()),
            self._read_body(),
        )
        answer = script.next_answer(received)
        try:
            self._answer(script, answer)
        except _Over:
            self.close_connection = True
        except OSError:
            self.close_connection = True
            script.note_gone()

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = _serve

    def _read_body(self) -> bytes:
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _answer(self, script: LoopbackServer, answer: Answer) -> None:
        pieces = [
            piece.encode() if isinstance(piece, str) else bytes(piece)
            for piece in (answer.chunks if answer.chunks is not None else [answer.body or b""])
        ]
        framing = answer.framing if answer.chunks is not None else "length"
        self._pass_gate(script, answer, -1)
        if answer.drop_after == -1:
            self._drop(answer)
            return
        self.wfile.write(self._head(answer, pieces, framing))
        for index, piece in enumerate(pieces):
            if answer.drop_after == index:
                self._drop(answer)
                return
            if index and answer.delay_s:
                script.wait(self.connection, lambda: False, answer.delay_s)
            self._pass_gate(script, answer, index)
            if framing == "chunked":
                piece = b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
            self.wfile.write(piece)
            script.note_sent()
        self._pass_gate(script, answer, len(pieces))
        if answer.drop_after is not None and answer.drop_after >= len(pieces):
            self._drop(answer)
        elif framing == "chunked":
            self.wfile.write(b"0\r\n\r\n")
        elif framing == "close" or answer.content_length is not None:
            self.close_connection = True

    def _head(self, answer: Answer, pieces: list[bytes], framing: str) -> bytes:
        names = {name.lower() for name, _ in answer.headers}
        fields = list(answer.headers)
        if "content-type" not in names:
            kind = "text/event-stream" if answer.chunks is not None else "application/json"
            fields.insert(0, ("content-type", kind))
        if framing == "chunked":
            fields.append(("transfer-encoding", "chunked"))
        elif framing == "length":
            length = sum(map(len, pieces))
            claimed = length if answer.content_length is None else answer.content_length
            fields.append(("content-length", str(claimed)))
        else:
            fields.append(("connection", "close"))
        lines = [f"HTTP/1.1 {answer.status} Scripted", *(f"{k}: {v}" for k, v in fields if v)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _pass_gate(self, script: LoopbackServer, answer: Answer, index: int) -> None:
        gate = answer.gates.get(index)
        if gate is not None:
            script.wait(self.connection, gate.is_set, LONGEST_WAIT_S)

    def _drop(self, answer: Answer) -> None:
        self.close_connection = True
        if answer.reset:
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.server.to_reset.add(self.connection)

    def log_message(self, *_: object) -> None:
        """Quiet: the requests are kept, not printed."""
