"""Bodies that no server takes stop before the network."""

from __future__ import annotations

import json

import pytest

from pytest_synaptum.capture.linting import LintingTransport, WireLintError
from synaptum.transport.base import HttpRequest


class Sink:
    """Keeps what arrives."""

    def __init__(self):
        self.sent = []

    async def send(self, request):
        self.sent.append(request)


def post(body):
    return HttpRequest(method="POST", url="http://127.0.0.1/v1/chat/completions", body=body)


@pytest.mark.asyncio
async def test_a_body_that_breaks_a_rule_is_not_sent():
    sink = Sink()
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": []}

    with pytest.raises(WireLintError, match=r"empty-tools at /tools: .*leave the key out"):
        await LintingTransport(sink).send(post(json.dumps(body).encode()))

    assert sink.sent == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "body", [b'{"messages": [{"role": "user", "content": "Hi"}]}', b"", b"not json", b"[1]"]
)
async def test_every_other_body_is(body):
    sink = Sink()

    await LintingTransport(sink).send(post(body))

    assert [request.body for request in sink.sent] == [body]
