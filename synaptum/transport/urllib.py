"""HTTP on the standard library: one daemon thread a request, bytes handed to the event loop.

Contract, beyond that of `synaptum.transport.base`:
- a dedicated thread, never the loop's default executor, whose size would bound how many
  streams can be open and which a stuck connection would clog;
- a piece reaches the caller as it arrives, and at most `MAX_WAITING` wait for a slow one;
- closing or cancelling ends the connection at once, also before the headers and during
  the connect; only the look-up of a name cannot be interrupted;
- redirects are not followed: the answer of status 3xx is given as it is;
- a connection serves one request.

It is a transport for development: the credentials live in this process.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import re
import ssl
import threading
import zlib
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Final

from synaptum.errors import (
    AbortError,
    ConfigurationError,
    NetworkError,
    SynaptumError,
)
from synaptum.transport.base import HttpReply, HttpRequest
from synaptum.transport.decompress import Decompressor, decompressor_for
from synaptum.transport.failures import network_error, origin_of
from synaptum.transport.line import Line, LineCutError
from synaptum.transport.opener import READ_BYTES, Opener

__all__ = ["MAX_WAITING", "UrllibTransport"]

#: Pieces that may wait for a slow caller; then the thread stops reading and TCP slows the
#: server down.
MAX_WAITING: Final = 16

#: A closing caller waits so long for the thread's end. It takes a millisecond or two, but
#: for a thread that is looking up a name, which ends by itself when the look-up does.
_LONGEST_FAREWELL_S: Final = 0.5

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


class UrllibTransport:
    """Sends requests with the standard library; safe to share between loops and threads.

    Args:
        proxies: scheme to proxy URL. None uses none, whatever the environment says; give
            `urllib.request.getproxies()` to follow it.
        tls: context for https; None trusts the system's authorities.
    """

    def __init__(
        self, *, proxies: Mapping[str, str] | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._opener = Opener(proxies or {}, tls)

    async def send(self, request: HttpRequest) -> HttpReply:
        """Send and wait for status and headers.

        Raises:
            NetworkError: no connection, or it broke off before the headers.
            RequestTimeoutError: nothing came within `request.timeout_s`.
            ConfigurationError: a header that HTTP has no form for.
        """
        _check_headers(request)
        exchange = _Exchange(self._opener, request)
        exchange.start()
        try:
            await exchange.wait_for_headers()
        except BaseException:
            await exchange.aclose()
            raise
        return exchange


class _Exchange:
    """One request under way: the reply the caller reads, and the thread that fills it.

    The thread alone touches the HTTP response. The two sides share `_space` (lock and
    condition), the pieces, and the flags below it.
    """

    def __init__(self, opener: Opener, request: HttpRequest) -> None:
        self.status = 0
        self.headers: tuple[tuple[str, str], ...] = ()
        self._opener = opener
        self._request = request
        self._line = Line()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(
            target=self._run, name=f"synaptum {origin_of(request.url)}", daemon=True
        )
        self._space = threading.Condition()
        self._pieces: deque[bytes] = deque()
        self._has_headers = False
        self._is_over = False
        self._is_waited_for = False
        self._failure: Exception | None = None
        self._news = asyncio.Event()
        self._received: int | None = None

    def start(self) -> None:
        self._thread.start()

    # The caller's side.

    async def wait_for_headers(self) -> None:
        while True:
            with self._space:
                if self._has_headers:
                    return
                if self._is_over:
                    raise self._failure or AbortError("The request was cancelled.")
                self._expect_news()
            await self._news.wait()

    async def chunks(self) -> AsyncIterator[bytes]:
        given = 0
        try:
            while True:
                piece: bytes | None = None
                with self._space:
                    if self._pieces:
                        piece = self._pieces.popleft()
                        self._space.notify()
                    elif self._is_over:
                        if self._failure is not None:
                            raise self._failure
                        return
                    else:
                        self._expect_news()
                if piece is None:
                    await self._news.wait()
                    continue
                yield piece
                given += 1
                if given % MAX_WAITING == 0:
                    # A server faster than its reader must not keep other tasks waiting.
                    await asyncio.sleep(0)
        finally:
            self._cut()

    async def aclose(self) -> None:
        self._cut()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_FAREWELL_S):
                while True:
                    with self._space:
                        if self._is_over:
                            break
                        self._expect_news()
                    await self._news.wait()

    def _expect_news(self) -> None:
        self._news.clear()
        self._is_waited_for = True

    def _cut(self) -> None:
        self._line.cut()
        with self._space:
            self._space.notify_all()

    # The thread's side.

    def _run(self) -> None:
        try:
            self._read()
        except LineCutError:
            self._failure = AbortError("The request was cancelled before its answer was whole.")
        except SynaptumError as error:
            self._failure = error
        except Exception as error:
            self._failure = self._translate(error)
        finally:
            self._line.release()
            with self._space:
                self._is_over = True
                self._tell()

    def _read(self) -> None:
        response = self._opener.open(self._request, self._line)
        try:
            headers = tuple((name.lower(), value) for name, value in response.getheaders())
            decompressor, unreadable = self._decompressor(headers)
            if decompressor is not None:
                # What the caller reads is plain: these two no longer describe it.
                gone = {"content-encoding", "content-length"}
                headers = tuple(field for field in headers if field[0] not in gone)
            with self._space:
                self.status = response.status
                self.headers = headers
                self._received = 0
                self._has_headers = True
                self._tell()
            if unreadable is not None:  # the status and headers are an answer all the same
                raise unreadable
            self._read_body(response, decompressor)
        finally:
            response.close()

    def _read_body(
        self, response: http.client.HTTPResponse, decompressor: Decompressor | None
    ) -> None:
        received = 0
        while data := response.read1(READ_BYTES):
            received += len(data)
            self._received = received
            if decompressor is not None:
                data = decompressor.feed(data)
            if data:
                self._hand_over(data)
        # read1 gives a clean end where a body is shorter than its Content-Length.
        if response.length or (decompressor is not None and not decompressor.is_whole):
            nothing = b""
            raise http.client.IncompleteRead(nothing, response.length)

    def _hand_over(self, data: bytes) -> None:
        with self._space:
            while len(self._pieces) >= MAX_WAITING and not self._line.is_cut:
                self._space.wait()
            self._line.check()
            self._pieces.append(data)
            self._tell()

    def _tell(self) -> None:
        """Wake the caller, if it waits. Called with the lock held."""
        if self._is_waited_for:
            self._is_waited_for = False
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(self._news.set)

    def _decompressor(
        self, headers: tuple[tuple[str, str], ...]
    ) -> tuple[Decompressor | None, NetworkError | None]:
        """What undoes the body's compression, or why nothing does."""
        encoding = next((value for name, value in headers if name == "content-encoding"), "")
        try:
            return decompressor_for(encoding), None
        except LookupError:
            msg = (
                f"{origin_of(self._request.url)} answered compressed as {encoding!r}, which was"
                " not asked for and the standard library cannot read: turn it off at the server."
            )
            failure = NetworkError(msg)
            failure.retryable = False
            return None, failure

    def _translate(self, error: Exception) -> Exception:
        if self._line.is_cut:
            return AbortError("The request was cancelled before its answer was whole.")
        if isinstance(error, zlib.error):
            msg = f"The compressed answer of {origin_of(self._request.url)} is damaged."
            mapped: NetworkError | None = NetworkError(msg)
        else:
            mapped = network_error(
                error,
                self._request.url,
                timeout_s=self._request.timeout_s,
                received=self._received,
            )
        if mapped is None:
            return error  # not the connection's: a guard's refusal, or a fault of ours
        mapped.__cause__ = error
        return mapped


def _check_headers(request: HttpRequest) -> None:
    """Refuse what http.client would refuse with the value, maybe a key, in its message."""
    for name, value in request.headers:
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            msg = (
                f"The header {name!r} cannot travel: its name or value holds a character that"
                " HTTP does not allow (a line break, or one outside Latin-1)."
            )
            raise ConfigurationError(msg)
