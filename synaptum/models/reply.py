"""Reading the bytes of a reply: what kind of answer begins, what is left, how it ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from synaptum.errors import NetworkError
from synaptum.transport.base import HttpReply
from synaptum.transport.sse import looks_like_sse

__all__ = ["begin", "close", "content_type", "let_end", "rest", "what_came"]

#: After `[DONE]` the server gets so long to end the body properly, so that it does not see a
#: client that hung up; one that keeps the connection open is left.
_ENDING_S: Final = 0.25


def content_type(reply: HttpReply) -> str:
    """The media type of a reply, in lower case and without parameters, or ""."""
    return dict(reply.headers).get("content-type", "").partition(";")[0].strip().lower()


async def begin(chunks: AsyncIterator[bytes], media_type: str) -> tuple[bytes, bool]:
    """Read until it is clear whether events come; gives what was read, and that."""
    head = b""
    async for piece in chunks:
        head += piece
        is_stream = looks_like_sse(head)
        if is_stream is None:
            continue
        if not is_stream and media_type == "text/event-stream":
            # An unknown field may come first; JSON and pages say by their first character
            # what they are.
            is_stream = head.lstrip()[:1] not in {b"{", b"[", b"<"}
        return head, is_stream
    return head, media_type == "text/event-stream"


async def rest(chunks: AsyncIterator[bytes]) -> bytes:
    """All bytes that are left."""
    return b"".join([piece async for piece in chunks])


async def what_came(chunks: AsyncIterator[bytes]) -> tuple[bytes, NetworkError | None]:
    """The bytes that can be had of a body, and why there are no more; None where it is whole."""
    body = b""
    try:
        async for piece in chunks:
            body += piece
    except NetworkError as error:
        return body, error
    return body, None


async def let_end(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end of the body, for a moment, once the answer is whole.

    However the connection ends then, it is no failure. A replaying transport, too, may have
    nothing more to give where a recorded reader left.
    """
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_ENDING_S):
            async for _ in chunks:
                pass


async def close(chunks: AsyncIterator[bytes]) -> None:
    """Let go of the bytes where the reader stopped."""
    aclose = getattr(chunks, "aclose", None)
    if aclose is not None:
        await aclose()
