"""vcrpy's cassettes (YAML or JSON), as pytest-recording and pytest-vcr write them too.

vcrpy reads its own files, from 9 on with a loader that constructs no Python objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_synaptum.corpus.importers.decoding import UnreadableEncodingError, decoded
from pytest_synaptum.corpus.importers.finding import CHAT_SUFFIX, Finding, Found, LeftOut, Origin
from pytest_synaptum.errors import FileFormatError
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse

__all__ = ["read_vcr"]


def read_vcr(path: Path, *, chat_only: bool = True) -> Iterator[Finding]:
    """The exchanges of a vcrpy cassette, in order.

    Args:
        path: the cassette.
        chat_only: leave out requests to anything but `.../chat/completions`.

    Raises:
        FileFormatError: it is no cassette that vcrpy can read.
    """
    for number, (request, response) in enumerate(_interactions(path), start=1):
        parts = urlsplit(request.uri)
        if chat_only and not parts.path.endswith(CHAT_SUFFIX):
            reason = f"{request.method} {parts.path} is no chat completion"
            yield LeftOut(file=str(path), number=number, reason=reason)
            continue
        try:
            exchange = _exchange(request, response, parts.path, parts.query)
        except UnreadableEncodingError as error:
            yield LeftOut(file=str(path), number=number, reason=str(error))
            continue
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # vcrpy reads a file without looking at what its entries hold.
            reason = f"it is no interaction of vcrpy ({type(error).__name__}: {error})"
            yield LeftOut(file=str(path), number=number, reason=reason)
            continue
        origin = Origin(file=str(path), number=number, server=parts.hostname)
        yield Found(exchange=exchange, origin=origin)


def _interactions(path: Path) -> Iterable[tuple[Any, dict[str, Any]]]:
    # vcrpy costs a quarter of a second to import.
    from vcr.serialize import deserialize
    from vcr.serializers import jsonserializer, yamlserializer

    text = path.read_text(encoding="utf-8")
    serializer = jsonserializer if text.lstrip().startswith("{") else yamlserializer
    try:
        requests, responses = deserialize(text, serializer)[:2]
    except Exception as error:  # whatever a broken file makes vcrpy and its parsers raise
        first = str(error).strip().splitlines()[:1]
        msg = (
            f"{path} is no vcrpy cassette that vcrpy can read"
            f" ({type(error).__name__}{': ' + first[0] if first else ''}); check the file."
        )
        raise FileFormatError(msg) from None
    return zip(requests, responses, strict=True)


def _exchange(request: Any, response: dict[str, Any], path: str, query: str) -> Exchange:
    body, headers = decoded(_response_body(response), _fields(response.get("headers")))
    asked, asked_headers = decoded(_bytes(request.body), _fields(request.headers))
    return Exchange(
        request=RecordedRequest(
            method=request.method,
            path=f"{path}?{query}" if query else path,
            headers=asked_headers,
            body=asked,
        ),
        response=RecordedResponse(
            status=int(response["status"]["code"]),
            headers=headers,
            chunks=(body,) if body else (),
        ),
    )


def _response_body(response: dict[str, Any]) -> bytes:
    body = response.get("body")
    if isinstance(body, dict):
        body = body.get("string", b"")
    return _bytes(body)


def _bytes(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8")
    if isinstance(body, bytes | bytearray):
        return bytes(body)
    if hasattr(body, "read"):
        return _bytes(body.read())
    return b"".join(_bytes(part) for part in body)


def _fields(headers: Any) -> list[tuple[str, str]]:
    """Vcrpy keeps header values as texts or as lists of texts."""
    fields: list[tuple[str, str]] = []
    for name, values in dict(headers or {}).items():
        for value in values if isinstance(values, list) else [values]:
            text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
            fields.append((name, text))
    return fields
