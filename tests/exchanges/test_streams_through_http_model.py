"""Recorded streams of some forty servers, through a whole HttpModel, cut as no server cut them.

Skipped where the recordings, which are other people's, are not here.
"""

from __future__ import annotations

import json

import pytest
from support.exchanges import exchange_files

from synaptum.errors import SynaptumError
from synaptum.models.http import HttpModel
from synaptum.testing.replay_transport import ReplayTransport, Reply
from synaptum.vocabulary import Message, Request, StreamEvent

FILES = exchange_files()

REQUEST = Request("tiny", [Message.user("Hi.")])


async def listen(body: bytes, content_type: str, size: int) -> list[StreamEvent] | str:
    """The events of `body` in pieces of `size` bytes, or the error they end in."""
    pieces = tuple(body[start : start + size] for start in range(0, len(body), size))
    reply = Reply(chunks=pieces, headers=(("content-type", content_type),))
    model = HttpModel("http://server.invalid/v1", transport=ReplayTransport([reply]))
    try:
        return [event async for event in model.stream(REQUEST)]
    except SynaptumError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.asyncio
async def test_how_a_stream_is_cut_changes_neither_its_events_nor_its_error() -> None:
    differing = []
    count = 0
    for path in FILES:
        exchange = json.loads(path.read_text("utf-8"))
        if exchange.get("response_sse") is None or exchange["status"] >= 300:
            continue
        count += 1
        body = exchange["response_sse"].encode("utf-8", "surrogatepass")
        content_type = exchange["content_type"]
        whole = await listen(body, content_type, len(body) or 1)
        if whole != await listen(body, content_type, 13) or not whole:
            differing.append(path.name)

    assert differing == []
    assert count > 100
