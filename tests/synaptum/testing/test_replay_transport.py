"""The scripted transport stands in for a network."""

from __future__ import annotations

import pytest
from support.loopback import chat_body, chat_stream

from synaptum.errors import AbortError, NetworkError, RequestTimeoutError
from synaptum.models.http import HttpModel
from synaptum.testing.replay_transport import ReplayTransport, Reply, ScriptExhaustedError
from synaptum.transport.base import HttpRequest
from synaptum.vocabulary import Message, Request, TextDelta

pytestmark = pytest.mark.asyncio

REQUEST = Request("tiny", [Message.user("Hi.")])
ASKED = HttpRequest(method="POST", url="http://h/x?key=hidden")


def model(transport: ReplayTransport) -> HttpModel:
    return HttpModel("http://server.invalid/v1", transport=transport)


async def test_a_model_on_it_answers_without_a_network() -> None:
    transport = ReplayTransport([Reply(body=chat_body("a")), Reply(chunks=(*chat_stream(["b"]),))])

    whole = await model(transport)(REQUEST)
    events = [event async for event in model(transport).stream(REQUEST)]

    assert whole.text == "a"
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["b"]
    assert transport.requests[0].url == "http://server.invalid/v1/chat/completions"
    assert (transport.left, transport.closed_early) == (0, 0)


async def test_a_function_of_the_request_can_answer() -> None:
    transport = ReplayTransport(lambda request: Reply(body=chat_body(str(len(request.body)))))

    assert (await model(transport)(REQUEST)).text == str(len(transport.requests[0].body))


async def test_a_script_that_is_used_up_says_so() -> None:
    with pytest.raises(ScriptExhaustedError, match=r"number 1 \(POST http://h/x\)"):
        await ReplayTransport([]).send(ASKED)


async def test_a_scripted_failure_is_raised() -> None:
    transport = ReplayTransport([Reply(error=RequestTimeoutError("late"))])

    with pytest.raises(RequestTimeoutError, match="late"):
        await transport.send(ASKED)


async def test_a_lost_connection_comes_after_the_pieces() -> None:
    reply = await ReplayTransport([Reply(chunks=(b"a",), lost=True)]).send(ASKED)
    chunks = reply.chunks()

    assert await anext(chunks) == b"a"
    with pytest.raises(NetworkError):
        await anext(chunks)


async def test_closing_early_is_counted_and_ends_the_pieces() -> None:
    transport = ReplayTransport([Reply(chunks=(b"a", b"b"))])
    reply = await transport.send(ASKED)
    chunks = reply.chunks()
    await anext(chunks)

    await reply.aclose()
    await reply.aclose()

    assert transport.closed_early == 1
    with pytest.raises(AbortError):
        await anext(chunks)
