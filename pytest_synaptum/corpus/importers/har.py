"""HAR files, as browsers and debugging proxies export them.

Source: HTTP Archive 1.2 (the W3C draft that browsers follow). A body may be text, or base64
(`encoding: "base64"`); the text is already decoded, `content-encoding` notwithstanding.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_synaptum.corpus.importers.decoding import UnreadableEncodingError, decoded
from pytest_synaptum.corpus.importers.finding import CHAT_SUFFIX, Finding, Found, LeftOut, Origin
from pytest_synaptum.errors import FileFormatError
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse

__all__ = ["read_har"]


def read_har(path: Path, value: Any, *, chat_only: bool = True) -> Iterator[Finding]:
    """The exchanges of a HAR file, in order.

    Args:
        path: the file, for messages.
        value: its JSON.
        chat_only: leave out requests to anything but `.../chat/completions`.

    Raises:
        FileFormatError: `log.entries` is missing or no list.
    """
    log = value.get("log")
    entries = log.get("entries") if isinstance(log, Mapping) else None
    if not isinstance(entries, list):
        msg = f"{path}: a HAR file has a list log.entries, and this one has none; export it again."
        raise FileFormatError(msg)
    for number, entry in enumerate(entries, start=1):
        yield _finding(path, number, entry, chat_only)


def _finding(path: Path, number: int, entry: Any, chat_only: bool) -> Finding:
    def left_out(reason: str) -> LeftOut:
        return LeftOut(file=str(path), number=number, reason=reason)

    try:
        request, response = entry["request"], entry["response"]
        url = urlsplit(request["url"])
        status = int(response["status"])
        if chat_only and not url.path.endswith(CHAT_SUFFIX):
            return left_out(f"{request['method']} {url.path} is no chat completion")
        if status <= 0:
            return left_out("it has no answer: the browser cancelled or blocked it")
        exchange = Exchange(
            request=_request(request, url.path, url.query),
            response=_response(response, status),
        )
    except (KeyError, TypeError, AttributeError, binascii.Error) as error:
        return left_out(f"it is not a HAR entry ({type(error).__name__}: {error})")
    except (UnreadableEncodingError, ValueError) as error:
        return left_out(str(error))
    started = entry.get("startedDateTime")
    origin = Origin(
        file=str(path),
        number=number,
        server=url.hostname,
        date=started[:10] if isinstance(started, str) else None,
    )
    return Found(exchange=exchange, origin=origin)


def _request(request: Mapping[str, Any], path: str, query: str) -> RecordedRequest:
    posted = request.get("postData") or {}
    text = posted.get("text", "")
    body = base64.b64decode(text) if posted.get("encoding") == "base64" else text.encode("utf-8")
    asked, headers = decoded(body, _fields(request))
    return RecordedRequest(
        method=request["method"],
        path=f"{path}?{query}" if query else path,
        headers=headers,
        body=asked,
    )


def _response(response: Mapping[str, Any], status: int) -> RecordedResponse:
    content = response.get("content") or {}
    text = content.get("text", "")
    raw = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode("utf-8")
    body, headers = decoded(raw, _fields(response))
    if not any(name == "content-type" for name, _ in headers) and content.get("mimeType"):
        headers = (*headers, ("content-type", str(content["mimeType"])))
    if not body and content.get("size", 0) > 0:
        msg = "its answer was not kept in the file; export with the content"
        raise UnreadableEncodingError(msg)
    return RecordedResponse(status=status, headers=headers, chunks=(body,) if body else ())


def _fields(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(str(field["name"]), str(field["value"])) for field in message.get("headers", [])]
