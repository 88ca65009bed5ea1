"""Recording a case: its asks are put to a live server, in order, and kept as its evidence.

The file is written once, at the end, whole or not at all; secrets are replaced before. What
is asked is what the reference adapter writes today, so that evidence and adapter agree.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.metadata import version
from typing import Final

from pytest_synaptum.capture.synaptum import RecordingTransport
from pytest_synaptum.cassette.recorder import Recorder
from pytest_synaptum.cassette.writing import dump_cassette, write_atomically
from pytest_synaptum.corpus.case import Ask, Case
from pytest_synaptum.corpus.providers import REFERENCE, load_adapter
from pytest_synaptum.errors import PluginError
from pytest_synaptum.redact import Redactor
from synaptum import canonical
from synaptum.clock import Clock, SystemClock, isoformat
from synaptum.errors import NetworkError
from synaptum.transport.base import HttpRequest, Transport
from synaptum.transport.sse import SseParser
from synaptum.transport.urllib import UrllibTransport

__all__ = ["record_case"]

#: Generating on one core can be slow; nothing for this long is a server that hangs.
_TIMEOUT_S: Final = 300.0
#: Answers about the moment, not about the question.
_PASSING: Final = frozenset({429, 502, 503, 504})


def record_case(
    case: Case,
    base_url: str,
    *,
    api_key: str | None = None,
    redactor: Redactor | None = None,
    clock: Clock | None = None,
    before_ask: Callable[[int], str] | None = None,
) -> None:
    """Ask a live server all that `case` asks, and write its `exchange.yaml`.

    Args:
        case: a case of kind `recorded`.
        base_url: such as `http://127.0.0.1:8080/v1`.
        api_key: sent as a bearer token, and never written.
        redactor: what knows the secrets; one of its own by default.
        clock: for the date in the file.
        before_ask: called with each ask's index; gives the base URL to use for it, for
            those who start a fresh server in between.

    Raises:
        PluginError: no answer, or one about the moment (429, 502 ...); nothing was written.
        SecretFoundError: what came holds a secret that could not be replaced.
    """
    recorder = Recorder()
    transport = RecordingTransport(UrllibTransport(), recorder)
    for index, ask in enumerate(case.asks):
        url = base_url if before_ask is None else before_ask(index)
        try:
            asyncio.run(_ask(case, ask, transport, url, api_key))
        except NetworkError as error:
            msg = (
                f"{case.id}: {url} did not answer ask {index + 1} ({error}); start the server, or"
                " correct --synaptum-base-url. Nothing was written."
            )
            raise PluginError(msg) from None
    redactor = redactor or Redactor()
    if api_key is not None:
        redactor.learn([("authorization", f"Bearer {api_key}")])
    exchanges = [redactor.exchange(exchange) for exchange in recorder.exchanges()]
    for index, exchange in enumerate(exchanges):
        if exchange.response is not None and exchange.response.status in _PASSING:
            msg = (
                f"{case.id}: ask {index + 1} was answered with status {exchange.response.status},"
                " which says nothing about the question; try again. Nothing was written."
            )
            raise PluginError(msg)
    recorded = {
        "at": isoformat((clock or SystemClock()).now_s()),
        "server": case.source.server or "",
        "model": case.source.model or "",
        "plugin": version("pytest-synaptum"),
    }
    text = dump_cassette(exchanges, recorded)
    redactor.scan(exchanges, str(case.exchange_path))
    write_atomically(case.exchange_path, text)


async def _ask(
    case: Case, ask: Ask, transport: Transport, base_url: str, api_key: str | None
) -> None:
    headers = [("content-type", "application/json")]
    if api_key is not None:
        headers.append(("authorization", f"Bearer {api_key}"))
    reply = await transport.send(
        HttpRequest(
            method=ask.method,
            url=_url(base_url, ask.path),
            headers=tuple(headers),
            body=_body(case, ask),
            timeout_s=_TIMEOUT_S,
        )
    )
    parser = SseParser()
    count = 0
    try:
        async for chunk in reply.chunks():
            count += len(parser.feed(chunk))
            if ask.close_after is not None and count >= ask.close_after:
                break
    finally:
        await reply.aclose()


def _body(case: Case, ask: Ask) -> bytes:
    if ask.request is not None:
        return load_adapter(REFERENCE, case.profile).body(ask.request, stream=ask.stream)
    return b"" if ask.body is None else canonical.wire_bytes(ask.body)


def _url(base_url: str, path: str) -> str:
    """The path of a case is that below the server's root; a base URL often ends in /v1."""
    root = base_url.rstrip("/")
    if path.startswith("/v1/"):
        root = root.removesuffix("/v1")
    return root + path
