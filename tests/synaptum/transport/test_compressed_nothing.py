"""An empty body that is announced as compressed is an empty body."""

from __future__ import annotations

import pytest
from support.loopback import Answer, LoopbackServer

from synaptum import HttpModel, Message, ProviderError, Request


@pytest.mark.asyncio
@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "identity"])
async def test_a_status_without_a_body_is_told_whatever_encoding_it_announces(
    encoding: str,
) -> None:
    headers = [("content-encoding", encoding), ("retry-after", "7")]
    with (
        LoopbackServer([Answer(429, headers=headers, body=b"")]) as server,
        pytest.raises(ProviderError, match="429 with an empty body") as caught,
    ):
        await HttpModel(server.base_url)(Request("m", (Message.user("Hi"),)))

    assert (caught.value.status, caught.value.retry_after) == (429, 7.0)
