"""Puts the asks of a case to a live server; nothing here reads or writes a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from pytest_synaptum.capture.synaptum import RecordingTransport
from pytest_synaptum.cassette.recorder import Recorder
from pytest_synaptum.corpus.case import Ask, Case
from pytest_synaptum.corpus.providers import REFERENCE, load_adapter
from pytest_synaptum.exchange import Exchange
from synaptum import canonical
from synaptum.transport.base import HttpRequest, Transport
from synaptum.transport.sse import SseParser
from synaptum.transport.urllib import UrllibTransport

__all__ = ["ask_all", "key_for"]

#: Generating on one core can be slow; nothing for this long is a server that hangs.
_TIMEOUT_S: Final = 300.0
#: What `needs: {api_key: ...}` sends instead of the server's key: nothing, or one it never gave.
_OTHER_KEYS: Final = {"none": None, "unknown": "sk-00000000000000000000"}


def key_for(case: Case, api_key: str | None) -> str | None:
    """The key that a case is asked with: the server's own, unless it is about another one."""
    return _OTHER_KEYS.get(case.needs.get("api_key", ""), api_key)


def ask_all(case: Case, url_for: Callable[[int], str], api_key: str | None) -> tuple[Exchange, ...]:
    """Ask everything a case asks, in order; the exchanges, untouched: they may hold secrets.

    Args:
        case: what to ask.
        url_for: from an ask's index to the base URL to use for it.
        api_key: the server's own; None where it has none.

    Raises:
        NetworkError: no answer; the message says which ask.
    """
    recorder = Recorder()
    transport = RecordingTransport(UrllibTransport(), recorder)
    for index, ask in enumerate(case.asks):
        asyncio.run(_ask(case, ask, transport, url_for(index), key_for(case, api_key)))
    return recorder.exchanges()


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
