"""AxoniumModel on the real SDK, against a loopback server that answers as its gateway does."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest
from support.loopback import Answer, LoopbackServer, chat_body, chat_stream, sse

from synaptum.errors import (
    ConfigurationError,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
    SynaptumError,
    UnsupportedRequestError,
)
from synaptum.gateway.base import CallContext
from synaptum.gateway.local import LocalGateway
from synaptum.models.http import HttpModel
from synaptum.vocabulary import (
    Image,
    Message,
    Request,
    Role,
    StreamEvent,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Usage,
    fold,
)

axonium = pytest.importorskip("axonium", reason="the extra [axonium] is not installed")

from synaptum.providers.axonium import AxoniumModel  # noqa: E402

pytestmark = pytest.mark.asyncio

REQUEST = Request("qwen3-0.6b", [Message.user("Hi.")])
CONTEXT = CallContext("run", "000000-model")


async def token(rejected: str | None) -> str:
    return "platform-token"


def bridge(server: LoopbackServer, **settings: Any) -> AxoniumModel:
    return AxoniumModel(gateway_base_url=server.origin, token_provider=token, **settings)


async def listen(model: AxoniumModel, request: Request = REQUEST) -> list[StreamEvent]:
    return [event async for event in model.stream(request)]


def texts(events: list[StreamEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextDelta)]


def problem(status: int, kind: str, **more: Any) -> Answer:
    body = {"type": f"https://errors.invalid/{kind}", "title": kind, "status": status, **more}
    headers = [("content-type", "application/problem+json"), ("X-Request-ID", "req-7")]
    return Answer(status, headers=headers, body=json.dumps(body))


async def test_a_question_goes_through_the_sdk_and_the_answer_comes_back() -> None:
    with LoopbackServer([Answer(body=chat_body("Hello.", usage=(7, 3)))]) as server:
        async with bridge(server) as model:
            response = await model(REQUEST)

    assert response.text == "Hello."
    assert response.usage == Usage(input=7, output=3)
    (sent,) = server.requests
    assert sent.path == "/v1/chat/completions"
    assert sent.header("authorization") == "Bearer platform-token"
    assert sent.json()["messages"] == [{"role": "user", "content": "Hi."}]


async def test_the_bridge_and_the_plain_transport_read_the_same_answer_alike() -> None:
    calls = [{"id": "call_1", "name": "weather", "arguments": '{"city": "Oslo"}'}]
    body = chat_body(None, tool_calls=calls)
    stream = chat_stream(["Hel", "lo."])
    with LoopbackServer(
        [Answer(body=body), Answer(body=body), Answer(chunks=stream), Answer(chunks=stream)]
    ) as server:
        plain = HttpModel(server.base_url)
        async with bridge(server) as model:
            assert await model(REQUEST) == await plain(REQUEST)
            events = await listen(model)
            assert events == [event async for event in plain.stream(REQUEST)]

    assert texts(events) == ["Hel", "lo."]
    assert fold(events).text == "Hello."


async def test_a_turn_with_tools_travels_and_streams_back() -> None:
    call = ToolCall("call_1", "weather", {"city": "Oslo"}, arguments_text='{"city": "Oslo"}')
    request = Request(
        "qwen3-0.6b",
        [
            Message.user("Weather?"),
            Message(Role.ASSISTANT, (Thinking("Look it up."), call)),
            Message.tool_results(ToolResult.of("call_1", "rain")),
        ],
        tools=[ToolDefinition("weather", "Tells it.", {"type": "object", "properties": {}})],
        max_output_tokens=50,
    )
    piece = {"index": 0, "id": "c2", "function": {"name": "weather", "arguments": '{"a":'}}
    rest = {"index": 0, "function": {"arguments": "1}"}}
    chunks = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [rest]}, "finish_reason": None}]},
        {
            "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
            "timings": {"prompt_n": 3, "cache_n": 4, "predicted_n": 2},
        },
    ]
    with LoopbackServer([Answer(chunks=[*map(sse, chunks), sse("[DONE]")])]) as server:
        async with bridge(server) as model:
            response = fold(await listen(model, request))

    sent = server.requests[0].json()
    assert sent["stream"] is True
    assert sent["max_tokens"] == 50
    assert sent["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"city": "Oslo"}'
    assert sent["messages"][1]["reasoning_content"] == "Look it up."
    assert sent["messages"][2] == {"role": "tool", "tool_call_id": "call_1", "content": "rain"}
    assert [(c.id, c.name, c.arguments) for c in response.tool_calls] == [
        ("c2", "weather", {"a": 1})
    ]
    assert (response.usage.input, response.usage.cache_read, response.usage.estimated) == (
        7,
        4,
        True,
    )


async def test_the_idempotency_key_is_the_same_for_every_attempt_of_a_step() -> None:
    with LoopbackServer(lambda _: Answer(body=chat_body())) as server:
        async with bridge(server) as model:
            await model(REQUEST, CONTEXT)
            await model(REQUEST, CONTEXT)
            await model(REQUEST, CallContext("run", "000002-model"))
            await model(REQUEST)

    keys = [request.header("idempotency-key") for request in server.requests]
    assert keys[0] == keys[1]
    assert keys[0] != keys[2]
    assert keys[3] is None


async def test_a_gateway_uses_the_bridge_as_its_model() -> None:
    with LoopbackServer([Answer(body=chat_body("a")), Answer(chunks=chat_stream(["b"]))]) as server:
        async with bridge(server) as model:
            gateway = LocalGateway(model=model.complete, stream=model.stream)
            whole = await gateway.invoke_model(REQUEST, CONTEXT)
            events = [event async for event in gateway.stream_model(REQUEST, CONTEXT)]
            assert gateway.model_configuration() == model.configuration

    assert whole.text == "a"
    assert texts(events) == ["b"]


async def failure(*answers: Answer, stream: bool = False, **settings: Any) -> SynaptumError:
    with LoopbackServer(answers) as server:
        async with bridge(server, **settings) as model:
            with pytest.raises(SynaptumError) as caught:
                await (listen(model) if stream else model(REQUEST))
        assert server.count == len(answers)
    return caught.value


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "unknown-model", False),
        (403, "forbidden", False),
        (429, "rate-limit-exceeded-requests", True),
        (503, "backend-unavailable", True),
    ],
)
async def test_a_refusal_is_one_request_and_says_whether_to_try_again(
    status: int, kind: str, retryable: bool, stream: bool
) -> None:
    error = await failure(problem(status, kind, detail="because"), stream=stream)

    assert isinstance(error, ProviderError)
    assert (error.status, error.retryable, error.request_id) == (status, retryable, "req-7")
    assert kind in str(error)
    assert "platform-token" not in str(error)


async def test_the_wait_that_was_asked_for_is_in_the_error() -> None:
    answer = problem(429, "rate-limit-exceeded-requests")
    error = await failure(Answer(429, [*answer.headers, ("Retry-After", "3")], body=answer.body))

    assert error.retry_after == 3.0


async def test_a_platform_that_is_not_there_is_a_network_error() -> None:
    with LoopbackServer() as server:
        model = bridge(server)
    with pytest.raises(NetworkError):
        await model(REQUEST)
    await model.aclose()


async def test_a_platform_that_is_silent_times_out() -> None:
    timeouts = axonium.Timeouts(read=0.2, stream_read=0.2)
    held = Answer(body="", gates={-1: threading.Event()})

    assert isinstance(await failure(held, timeouts=timeouts), RequestTimeoutError)
    assert isinstance(await failure(held, stream=True, timeouts=timeouts), RequestTimeoutError)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(chunks=chat_stream(["a", "b"]), drop_after=2), id="connection lost"),
        pytest.param(
            Answer(chunks=[*chat_stream(["a"])[:2], sse({"error": "backend failed"})]),
            id="error in the stream",
        ),
        pytest.param(
            Answer(chunks=chat_stream(["a"], finish_reason=None, usage=None, done=False)),
            id="no finish",
        ),
    ],
)
async def test_a_stream_that_breaks_off_never_looks_like_success(answer: Answer) -> None:
    seen: list[StreamEvent] = []
    with LoopbackServer([answer]) as server:
        async with bridge(server) as model:
            with pytest.raises((NetworkError, ProviderError)):
                async for event in model.stream(REQUEST):
                    seen.append(event)

    assert texts(seen) == ["a"]


async def test_what_is_no_json_is_an_error() -> None:
    error = await failure(Answer(body="<html>"))

    assert isinstance(error, ProviderError)
    assert not error.retryable


async def test_what_the_platform_has_no_shape_for_is_refused_before_the_network() -> None:
    message = Message(Role.USER, (Text("See."), Image("image/png", url="http://h/x.png")))
    with LoopbackServer() as server:
        async with bridge(server) as model:
            with pytest.raises(UnsupportedRequestError):
                await model(Request("m", [message]))
        assert server.count == 0


async def test_closing_the_stream_closes_the_socket() -> None:
    answer = Answer(chunks=chat_stream(["a", "b"]), gates={2: threading.Event()})
    with LoopbackServer([answer]) as server:
        async with bridge(server) as model:
            events = model.stream(REQUEST)
            async for event in events:
                if isinstance(event, TextDelta):
                    break
            await events.aclose()  # type: ignore[attr-defined]

            assert await asyncio.to_thread(server.client_gone.wait, 5)


async def test_a_client_of_ones_own_is_used_and_left_open() -> None:
    with LoopbackServer([Answer(body=chat_body("a")), Answer(body=chat_body("b"))]) as server:
        async with axonium.AsyncAxonium(
            gateway_base_url=server.origin, token_provider=token
        ) as client:
            async with AxoniumModel(client) as model:
                assert (await model(REQUEST)).text == "a"
            assert (await AxoniumModel(client)(REQUEST)).text == "b"


async def test_a_client_and_settings_together_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="not both"):
        AxoniumModel(object(), client_id="x")


async def test_missing_credentials_are_a_configuration_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AXONIUM_CLIENT_ID", "AXONIUM_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ConfigurationError, match="client_id"):
        await AxoniumModel(gateway_base_url="http://127.0.0.1:9")(REQUEST)
