"""The seam of urllib3, and so of requests: `HTTPConnectionPool._make_request`.

One call is one attempt; retries and redirects stay above it, as they are without us.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from pytest_synaptum.capture.clients import current, is_busy, passing_on
from pytest_synaptum.capture.wire import replayed_response
from pytest_synaptum.cassette.recorder import Slot
from pytest_synaptum.exchange import CLOSED, LOST

__all__ = ["install"]


def install(library: ModuleType) -> None:
    """Put the seam on urllib3. Raises `AttributeError` on a version without these names."""
    pools: Any = import_module("urllib3.connectionpool")
    answers: Any = import_module("urllib3.response")
    pool = pools.HTTPConnectionPool
    real = pool._make_request

    def _make_request(
        self: Any,
        conn: Any,
        method: str,
        url: str,
        body: Any = None,
        headers: Any = None,
        **kwargs: Any,
    ) -> Any:
        capture = current()
        if capture is None or is_busy():
            return real(self, conn, method, url, body=body, headers=headers, **kwargs)
        sent = _bytes_of(body)
        if body is not None and not isinstance(body, str | bytes | bytearray):
            body = sent  # a file or an iterator, which cannot be read twice
        full = url if "://" in url else f"{self.scheme}://{self.host}:{self.port}{url}"
        fields = list((headers or {}).items())
        if capture.player is not None:
            __tracebackhide__ = True
            recorded = capture.take(method, full, fields, sent)
            if recorded is None:
                msg = "no connection, as in the recording"
                raise library.exceptions.NewConnectionError(conn, msg)
            answer = replayed_response(capture, recorded, method)
            return answers.HTTPResponse(
                body=answer,
                headers=answer.msg.items(),
                status=recorded.status,
                version=11,
                reason=answer.reason,
                preload_content=kwargs.get("preload_content", True),
                decode_content=kwargs.get("decode_content", True),
                original_response=answer,
                request_method=method,
                request_url=url,
                connection=kwargs.get("response_conn"),
                pool=self,
                retries=kwargs.get("retries"),
                enforce_content_length=kwargs.get("enforce_content_length", True),
            )
        slot = capture.begin(method, full, fields, sent)
        # Otherwise urllib3 reads the body before there is anything to keep it by.
        preload, kwargs["preload_content"] = kwargs.get("preload_content", True), False
        with passing_on():
            response = real(self, conn, method, url, body=body, headers=headers, **kwargs)
        slot.answered(response.status, list(response.headers.items()))
        _tee(response, slot)
        if preload:
            response._body = response.read(decode_content=kwargs.get("decode_content", True))
        return response

    pool._make_request = _make_request
    for kind in (pool, pools.HTTPSConnectionPool):
        _leave_proxies_alone(kind)


def _leave_proxies_alone(kind: Any) -> None:
    real = kind._prepare_proxy

    def _prepare_proxy(self: Any, conn: Any) -> None:
        capture = current()
        if capture is None or capture.player is None:
            real(self, conn)

    kind._prepare_proxy = _prepare_proxy


def _bytes_of(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8")
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    data = body.read() if hasattr(body, "read") else b"".join(body)
    return data.encode("utf-8") if isinstance(data, str) else bytes(data)


def _tee(response: Any, slot: Slot) -> None:
    """Keep the bytes as urllib3 takes them from the connection, out of their HTTP chunks."""
    at_close = CLOSED
    if response.chunked and response.supports_chunked_reads():
        real_chunk, real_update = response._handle_chunk, response._update_chunk_length

        def _handle_chunk(amount: Any) -> Any:
            data = real_chunk(amount)
            slot.chunk(data or b"", is_whole=not response.chunk_left)
            return data

        def _update_chunk_length() -> None:
            nonlocal at_close
            at_close = LOST  # urllib3 closes the response itself, before it raises
            real_update()
            at_close = CLOSED
            if response.chunk_left == 0:
                slot.end()

        response._handle_chunk = _handle_chunk
        response._update_chunk_length = _update_chunk_length
    # Also the way of read1, which leaves the HTTP chunks to http.client.
    response._fp = _Reading(response._fp, slot)
    real_close = response.close

    def close() -> None:
        slot.end(at_close)
        real_close()

    response.close = close


class _Reading:
    """A file whose reads are kept."""

    def __init__(self, inner: Any, slot: Slot) -> None:
        self._inner = inner
        self._slot = slot

    def read(self, *args: Any, **kwargs: Any) -> Any:
        """Read and keep."""
        return self._kept(self._inner.read, *args, **kwargs)

    def read1(self, *args: Any, **kwargs: Any) -> Any:
        """Read and keep."""
        return self._kept(self._inner.read1, *args, **kwargs)

    def _kept(self, real: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            data = real(*args, **kwargs)
        except Exception:
            self._slot.end(LOST)
            raise
        inner = self._inner
        self._slot.chunk(data or b"", is_whole=not (inner.chunked and inner.chunk_left))
        if self._inner.isclosed():
            self._slot.end(LOST if self._inner.length else None)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
