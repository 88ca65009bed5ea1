"""urllib, reduced to what a transport needs and made cuttable.

A bare `OpenerDirector`: no redirects (the key would travel along), no cookies, no
exceptions for statuses, proxies only where they were given. Building one costs up to 30 ms
with a TLS context, so a transport builds each once.
"""

from __future__ import annotations

import functools
import http.client
import re
import ssl
import threading
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from synaptum.transport.base import HttpRequest
from synaptum.transport.line import Line

__all__ = ["Opener"]

#: Reads one HTTP chunk, or what has arrived of it.
READ_BYTES = 65536

#: The status line of an interim response. 101 is none: what follows it is no HTTP.
_INTERIM: Final = re.compile(rb"HTTP/1\.[01] 1(?!01)[0-9][0-9]\b")


class Opener:
    """Opens requests; safe to use from many threads.

    Args:
        proxies: scheme to proxy URL, such as `{"https": "http://proxy:3128"}`. The
            environment is not asked: `http_proxy` would catch loopback servers too.
        tls: the context for https; one with the system's authorities by default.
    """

    def __init__(self, proxies: Mapping[str, str], tls: ssl.SSLContext | None) -> None:
        director = urllib.request.OpenerDirector()
        director.addheaders = []
        director.add_handler(urllib.request.ProxyHandler(dict(proxies)))
        director.add_handler(_Handler(tls))
        self._director = director

    def open(self, request: HttpRequest, line: Line) -> http.client.HTTPResponse:
        """Send `request` over `line` and wait for status and headers. Raises foreign errors."""
        asked = _CuttableRequest(
            request.url,
            data=request.body or (b"" if request.method in {"POST", "PUT", "PATCH"} else None),
            headers=dict(request.headers),
            method=request.method,
        )
        asked.line = line
        reply = self._director.open(asked, timeout=request.timeout_s)
        if not isinstance(reply, http.client.HTTPResponse):
            msg = "urllib gave no HTTP response"
            raise http.client.HTTPException(msg)
        return reply


class _CuttableRequest(urllib.request.Request):
    line: Line


class _Head:
    """The lines of a response's head, without those of interim responses before it.

    Of these (status 1xx: 103 brings hints, 102 says that work goes on) http.client knows only
    100, and takes any other for the answer. It also takes the end of the bytes for the end of
    the headers: a connection lost there would look like an empty answer. Source: RFC 9110, 15.2.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._begins = True

    def readline(self, limit: int) -> bytes:
        line = self._line(limit)
        while self._begins and _INTERIM.match(line):
            while self._line(limit).strip():
                pass
            line = self._line(limit)
        self._begins = False
        return line

    def _line(self, limit: int) -> bytes:
        line = cast("bytes", self._file.readline(limit))
        # That nothing came, or no HTTP, http.client tells by itself.
        is_ours = line.startswith(b"HTTP/") or not self._begins
        if is_ours and not line.endswith(b"\n") and len(line) < limit:
            raise http.client.IncompleteRead(line)
        return line

    def close(self) -> None:
        self._file.close()


class _Response(http.client.HTTPResponse):
    def begin(self) -> None:
        file = self.fp
        self.fp = cast("Any", _Head(file))
        try:
            super().begin()
        finally:
            if self.fp is not None:  # it closes what is no HTTP
                self.fp = file


class _Cuttable:
    """What both connection classes add: the socket is made by the line.

    `carries_synaptum` tells tools that patch `http.client` that the transport above already
    sees this traffic.
    """

    carries_synaptum = True
    _create_connection: Callable[..., Any]


class _Connection(_Cuttable, http.client.HTTPConnection):
    response_class = _Response

    def __init__(self, *args: Any, line: Line, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = line.connect


class _TlsConnection(_Cuttable, http.client.HTTPSConnection):
    response_class = _Response

    def __init__(self, *args: Any, line: Line, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = line.connect


class _Handler(urllib.request.AbstractHTTPHandler):
    def __init__(self, tls: ssl.SSLContext | None) -> None:
        super().__init__()
        self._tls = tls
        self._lock = threading.Lock()

    def http_open(self, request: _CuttableRequest) -> http.client.HTTPResponse:
        return self.do_open(functools.partial(_Connection, line=request.line), request)

    def https_open(self, request: _CuttableRequest) -> http.client.HTTPResponse:
        connection = functools.partial(_TlsConnection, line=request.line)
        return self.do_open(connection, request, context=self._context())

    def http_request(self, request: urllib.request.Request) -> urllib.request.Request:
        return self.do_request_(request)

    https_request = http_request

    def _context(self) -> ssl.SSLContext:
        with self._lock:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            return self._tls
