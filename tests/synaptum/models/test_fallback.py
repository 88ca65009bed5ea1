"""A chain of models: who answers, when the chain moves on, and what is told of it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from support.loopback import Answer, LoopbackServer, chat_body, chat_stream

from synaptum.errors import ConfigurationError, NetworkError, ProviderError
from synaptum.gateway.base import CallContext
from synaptum.gateway.local import LocalGateway
from synaptum.models.fallback import FallbackModel
from synaptum.models.http import HttpModel
from synaptum.vocabulary import (
    FinishReason,
    Message,
    Request,
    Response,
    StreamEvent,
    StreamStart,
    TextDelta,
    fold,
)

pytestmark = pytest.mark.asyncio

REQUEST = Request("tiny", [Message.user("Hi.")])
BUSY = Answer(503, body='{"error": {"message": "busy"}}')


class Notes(list[Mapping[str, Any]]):
    """A call's context that keeps what the chain tells."""

    def context(self) -> CallContext:
        return CallContext("run", "000000-model", note=self.append)


async def whole(*answers: Answer) -> tuple[Response, Notes]:
    notes = Notes()
    with ExitStack() as stack:
        servers = [stack.enter_context(LoopbackServer([answer])) for answer in answers]
        chain = FallbackModel(*(HttpModel(server.base_url) for server in servers))
        return await chain(REQUEST, notes.context()), notes


async def streamed(*answers: Answer) -> tuple[list[StreamEvent], Notes, BaseException | None]:
    notes = Notes()
    seen: list[StreamEvent] = []
    with ExitStack() as stack:
        servers = [stack.enter_context(LoopbackServer([answer])) for answer in answers]
        chain = FallbackModel(*(HttpModel(server.base_url) for server in servers))
        try:
            async for event in chain.stream(REQUEST, notes.context()):
                seen.append(event)
        except (NetworkError, ProviderError) as error:
            return seen, notes, error
    return seen, notes, None


def texts(events: list[StreamEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextDelta)]


async def test_the_first_model_answers_where_it_can() -> None:
    response, notes = await whole(Answer(body=chat_body("first")), Answer(body=chat_body("second")))

    assert response.text == "first"
    assert notes == [{"answered_by": {"model": "tiny", "chain_index": 0}}]


async def test_the_next_answers_after_an_error_that_may_pass() -> None:
    response, notes = await whole(
        BUSY, Answer(drop_after=-1), Answer(body=chat_body("third")), Answer(body=chat_body("no"))
    )

    assert response.text == "third"
    assert [note["error"]["type"] for note in notes[:2]] == ["ProviderError", "NetworkError"]
    assert "busy" in notes[0]["error"]["message"]
    assert [note["chain_index"] for note in notes[:2]] == [0, 1]
    assert notes[2:] == [{"answered_by": {"model": "tiny", "chain_index": 2}}]


async def test_an_error_that_will_not_pass_ends_the_chain() -> None:
    with pytest.raises(ProviderError, match="bad request"):
        await whole(
            Answer(400, body='{"error": {"message": "bad request"}}'), Answer(body=chat_body())
        )


async def test_the_last_models_error_is_the_chains() -> None:
    with pytest.raises(ProviderError) as caught:
        await whole(BUSY, Answer(429, headers=[("retry-after", "4")], body="{}"))

    assert (caught.value.status, caught.value.retry_after) == (429, 4.0)


async def test_a_stream_moves_on_before_a_fragment_was_delivered() -> None:
    """The role chunk opened a stream that then died: the reader sees one start all the same."""
    opened = Answer(chunks=chat_stream(["never"])[:1], drop_after=1)
    events, notes, error = await streamed(BUSY, opened, Answer(chunks=chat_stream(["ok"])))

    assert error is None
    assert texts(events) == ["ok"]
    assert sum(isinstance(event, StreamStart) for event in events) == 1
    assert fold(events).text == "ok"
    assert [note["error"]["type"] for note in notes[:2]] == ["ProviderError", "NetworkError"]
    assert notes[2:] == [{"answered_by": {"model": "tiny", "chain_index": 2}}]


async def test_a_stream_stays_where_it_is_once_a_fragment_was_delivered() -> None:
    begun = Answer(chunks=chat_stream(["Here is"]), drop_after=2)
    events, notes, error = await streamed(begun, Answer(chunks=chat_stream(["Here is the plan"])))

    assert isinstance(error, NetworkError)
    assert texts(events) == ["Here is"]
    assert notes == [{"answered_by": {"model": "tiny", "chain_index": 0}}]


async def test_fragments_are_not_held_back() -> None:
    gate = threading.Event()
    answer = Answer(chunks=chat_stream(["a", "b"]), gates={2: gate})
    with LoopbackServer([answer]) as server:
        seen = []
        async for event in FallbackModel(HttpModel(server.base_url)).stream(REQUEST):
            seen.append(event)
            if texts(seen) == ["a"]:
                gate.set()

    assert texts(seen) == ["a", "b"]


async def test_each_model_can_be_asked_under_a_name_of_its_own() -> None:
    with LoopbackServer([BUSY]) as first, LoopbackServer([Answer(body=chat_body())]) as second:
        chain = FallbackModel(
            HttpModel(first.base_url), HttpModel(second.base_url).named("big-one")
        )
        notes = Notes()
        await chain(REQUEST, notes.context())

    assert first.requests[0].json()["model"] == "tiny"
    assert second.requests[0].json()["model"] == "big-one"
    assert notes[-1] == {"answered_by": {"model": "big-one", "chain_index": 1}}


async def test_a_named_model_streams_under_its_name() -> None:
    with LoopbackServer([Answer(chunks=chat_stream(["a"]))]) as server:
        model = HttpModel(server.base_url).named("big-one")
        events = [event async for event in model.stream(REQUEST)]

    assert texts(events) == ["a"]
    assert server.requests[0].json()["model"] == "big-one"


async def test_plain_functions_may_stand_in_the_chain() -> None:
    def failing(request: Request) -> Response:
        raise TimeoutError

    async def answering(request: Request, context: CallContext | None) -> Response:
        assert context is not None
        return Response(Message.assistant(context.step_id), FinishReason.STOP)

    chain = FallbackModel(failing, answering)
    context = CallContext("run", "000004-model")

    assert (await chain(REQUEST, context)).text == "000004-model"
    assert texts([event async for event in chain.stream(REQUEST, context)]) == ["000004-model"]


async def test_a_stream_that_ends_without_a_finish_and_shows_nothing_moves_on() -> None:
    class Silent:
        async def __call__(self, request: Request) -> Response:
            raise AssertionError

        async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
            yield StreamStart()

    with LoopbackServer([Answer(chunks=chat_stream(["ok"]))]) as server:
        chain = FallbackModel(Silent(), HttpModel(server.base_url))
        assert texts([event async for event in chain.stream(REQUEST)]) == ["ok"]


async def test_closing_the_chains_stream_closes_the_socket() -> None:
    answer = Answer(chunks=chat_stream(["a", "b"]), gates={2: threading.Event()})
    with LoopbackServer([answer]) as server:
        events = FallbackModel(HttpModel(server.base_url)).stream(REQUEST)
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()  # type: ignore[attr-defined]

        assert await asyncio.to_thread(server.client_gone.wait, 5)


async def test_calls_at_once_are_told_apart() -> None:
    def first(request: Any) -> Answer:
        odd = int(request.json()["messages"][0]["content"]) % 2
        return BUSY if odd else Answer(body=chat_body("first"))

    async def ask(chain: FallbackModel, number: int) -> tuple[str, int]:
        notes = Notes()
        request = Request("tiny", [Message.user(str(number))])
        response = await chain(request, notes.context())
        return response.text, notes[-1]["answered_by"]["chain_index"]

    with (
        LoopbackServer(first) as one,
        LoopbackServer(lambda _: Answer(body=chat_body("second"))) as two,
    ):
        chain = FallbackModel(HttpModel(one.base_url), HttpModel(two.base_url))
        told = await asyncio.gather(*(ask(chain, number) for number in range(20)))

    assert told == [("second", 1) if number % 2 else ("first", 0) for number in range(20)]


async def test_a_gateway_streams_and_asks_through_a_chain() -> None:
    with LoopbackServer([BUSY, BUSY]) as one, LoopbackServer() as two:
        two.add(Answer(body=chat_body("whole")), Answer(chunks=chat_stream(["streamed"])))
        chain = FallbackModel(HttpModel(one.base_url), HttpModel(two.base_url))
        gateway = LocalGateway(model=chain, stream=chain.stream)
        context = CallContext("run", "000000-model")

        assert (await gateway.invoke_model(REQUEST, context)).text == "whole"
        events = [event async for event in gateway.stream_model(REQUEST, context)]

    assert texts(events) == ["streamed"]


async def test_the_chain_and_its_order_are_the_configuration() -> None:
    one, two = HttpModel("http://a/v1", provider="openai-compatible"), HttpModel("http://b/v1")
    named = two.named("big-one")

    assert FallbackModel(one, named).configuration != FallbackModel(named, one).configuration
    assert FallbackModel(one).configuration != one.configuration
    assert LocalGateway(model=FallbackModel(one, named)).model_configuration() == {
        "fallback": [
            one.configuration,
            {"model": "big-one", "asked_of": two.configuration},
        ]
    }


async def test_an_empty_chain_and_an_empty_name_are_refused() -> None:
    with pytest.raises(ConfigurationError):
        FallbackModel()
    with pytest.raises(ConfigurationError):
        HttpModel("http://a/v1").named("")


def ended_in_an_error(text: str = "") -> Answer:
    """What OpenRouter sends where the server behind it failed: an answer, its finish `error`."""
    message = {"role": "assistant", "content": text or None}
    choice = {"index": 0, "message": message, "finish_reason": "error"}
    return Answer(body=json.dumps({"model": "tiny", "choices": [choice]}))


async def test_an_answer_that_its_provider_ended_with_an_error_is_none() -> None:
    response, notes = await whole(ended_in_an_error("Once"), Answer(body=chat_body("second")))

    assert response.text == "second"
    assert notes[0]["error"]["message"] == "The provider ended the answer with an error of its own."
    assert notes[1:] == [{"answered_by": {"model": "tiny", "chain_index": 1}}]


async def test_a_stream_that_its_provider_ended_with_an_error_moves_on_before_it_showed() -> None:
    seen, notes, error = await streamed(
        Answer(chunks=chat_stream([], finish_reason="error")),
        Answer(chunks=chat_stream(["sec", "ond"])),
    )

    assert (texts(seen), error) == (["sec", "ond"], None)
    assert notes[-1] == {"answered_by": {"model": "tiny", "chain_index": 1}}


async def test_a_stream_that_its_provider_ended_with_an_error_after_text_fails() -> None:
    seen, _, error = await streamed(
        Answer(chunks=chat_stream(["Once"], finish_reason="error")),
        Answer(chunks=chat_stream(["second"])),
    )

    assert texts(seen) == ["Once"]
    assert isinstance(error, ProviderError)
    assert error.retryable


@pytest.mark.parametrize("model", [None, 5, "tiny"])
async def test_what_is_no_model_is_refused_before_it_is_asked(model: Any) -> None:
    with pytest.raises(ConfigurationError, match="no model: it cannot be called"):
        FallbackModel(model)
