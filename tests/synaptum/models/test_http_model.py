"""HttpModel asks a real server and reads whole answers."""

from __future__ import annotations

import datetime
import gzip
from dataclasses import replace
from typing import Any

import pytest
from support.letters import Letters
from support.loopback import Answer, LoopbackServer, chat_body, chat_stream

from synaptum.errors import (
    ConfigurationError,
    NetworkError,
    ProviderError,
    UnsupportedRequestError,
)
from synaptum.gateway.base import CallContext
from synaptum.models.http import HttpModel
from synaptum.providers.idempotency import idempotency_key
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary import FinishReason, Image, Message, Request, Role, Usage

pytestmark = pytest.mark.asyncio

REQUEST = Request("tiny", [Message.user("Hi.")])


async def refused(answer: Answer, **options: Any) -> ProviderError:
    with LoopbackServer([answer]) as server:
        with pytest.raises(ProviderError) as caught:
            await HttpModel(server.base_url, **options)(REQUEST)
        assert server.count == 1
    return caught.value


async def test_a_question_travels_and_the_answer_is_read() -> None:
    with LoopbackServer([Answer(body=chat_body("Hello.", usage=(7, 3)))]) as server:
        response = await HttpModel(server.base_url)(REQUEST)

    assert response.text == "Hello."
    assert response.finish_reason is FinishReason.STOP
    assert response.usage == Usage(input=7, output=3)
    (sent,) = server.requests
    assert (sent.method, sent.path) == ("POST", "/v1/chat/completions")
    assert sent.body == b'{"model":"tiny","messages":[{"role":"user","content":"Hi."}]}'
    assert sent.header("content-type") == "application/json"
    assert sent.header("authorization") is None


async def test_calling_is_completing() -> None:
    with LoopbackServer([Answer(body=chat_body("a")), Answer(body=chat_body("a"))]) as server:
        model = HttpModel(server.base_url)

        assert await model(REQUEST) == await model.complete(REQUEST)


async def test_the_provider_prefix_never_travels() -> None:
    with LoopbackServer([Answer(body=chat_body())]) as server:
        request = Request("openai-compatible:qwen3:8b", [Message.user("Hi.")])
        await HttpModel(server.base_url)(request)

    assert server.requests[0].json()["model"] == "qwen3:8b"


async def test_a_provider_of_another_dialect_needs_only_three_functions() -> None:
    with LoopbackServer([Answer(body='{"say": "yes"}')]) as server:
        response = await HttpModel(server.base_url, provider=Letters())(REQUEST)

    assert response.text == "yes"
    assert server.requests[0].json() == {"ask": "Hi.", "of": "tiny"}


async def test_a_provider_is_found_by_its_name() -> None:
    assert HttpModel("http://h/v1", provider="openai-compatible").provider == OpenAICompatible()
    with pytest.raises(ConfigurationError, match="openai-compatible"):
        HttpModel("http://h/v1", provider="no-such-provider")


async def test_what_the_dialect_has_no_shape_for_is_refused_before_the_network() -> None:
    document = Message(Role.ASSISTANT, (Image("image/png", data="eA=="),))
    with LoopbackServer() as server:
        with pytest.raises(UnsupportedRequestError):
            await HttpModel(server.base_url)(Request("tiny", [document]))
        assert server.count == 0


async def test_own_headers_travel_and_replace_ours() -> None:
    with LoopbackServer([Answer(body=chat_body())]) as server:
        headers = {"X-Team": "a", "Authorization": "Basic abc", "User-Agent": "mine"}
        await HttpModel(server.base_url, api_key="sk-1234", headers=headers)(REQUEST)

    (sent,) = server.requests
    assert sent.header("x-team") == "a"
    assert [v for k, v in sent.headers if k == "authorization"] == ["Basic abc"]
    assert sent.header("user-agent") == "mine"


async def test_the_idempotency_key_is_of_run_step_and_body() -> None:
    with LoopbackServer(lambda _: Answer(body=chat_body())) as server:
        model = HttpModel(server.base_url)
        other = Request("tiny", [Message.user("Ho.")])
        for request, context in [
            (REQUEST, CallContext("run", "000000-model")),
            (REQUEST, CallContext("run", "000000-model")),
            (REQUEST, CallContext("run", "000002-model")),
            (REQUEST, CallContext("run2", "000000-model")),
            (other, CallContext("run", "000000-model")),
            (REQUEST, None),
        ]:
            await model(request, context)

    keys = [request.header("idempotency-key") for request in server.requests]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 5
    assert keys[5] is None
    assert keys[0] == idempotency_key("run", "000000-model", server.requests[0].body)


async def test_the_idempotency_key_is_the_same_in_every_version() -> None:
    assert idempotency_key("run", "000000-model", b"{}") == (
        "519a9350634c9efc44f50f49a2a49e5b9ebdb5e1c501a10ea9674fcce82c4e4b"
    )


async def test_a_compressed_answer_is_read() -> None:
    body = gzip.compress(chat_body("Hello."))
    with LoopbackServer([Answer(body=body, headers=[("content-encoding", "gzip")])]) as server:
        assert (await HttpModel(server.base_url)(REQUEST)).text == "Hello."


async def test_a_gateway_that_streams_whatever_it_is_asked_is_read() -> None:
    answer = Answer(
        chunks=chat_stream(["Hel", "lo."]), headers=[("content-type", "application/json")]
    )
    with LoopbackServer([answer]) as server:
        assert (await HttpModel(server.base_url)(REQUEST)).text == "Hello."


@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        (400, False),
        (401, False),
        (404, False),
        (408, False),
        (422, False),
        (429, True),
        (500, True),
        (503, True),
    ],
)
async def test_the_status_says_whether_to_try_again(status: int, retryable: bool) -> None:
    error = await refused(Answer(status, body='{"error": {"message": "words of the server"}}'))

    assert (error.status, error.retryable) == (status, retryable)
    assert "words of the server" in str(error)


async def test_a_quota_that_is_spent_is_not_tried_again() -> None:
    body = '{"error": {"message": "You exceeded it.", "type": "insufficient_quota"}}'
    error = await refused(Answer(429, body=body))

    assert not error.retryable
    assert "insufficient_quota" in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ([("Retry-After", "7")], 7.0),
        ([("Retry-After-Ms", "250"), ("Retry-After", "7")], 0.25),
        ([("Retry-After", "Wed, 21 Oct 2026 07:28:30 GMT")], 30.0),
        ([("Retry-After", "soon")], None),
        ([], None),
    ],
)
async def test_the_wait_that_was_asked_for_is_in_the_error(
    headers: list[tuple[str, str]], seconds: float | None
) -> None:
    class Clock:
        def now_s(self) -> float:
            return datetime.datetime(2026, 10, 21, 7, 28, tzinfo=datetime.UTC).timestamp()

        def monotonic_s(self) -> float:
            return 0.0

    error = await refused(Answer(429, headers=headers, body="{}"), clock=Clock())

    assert error.retry_after == seconds


@pytest.mark.parametrize("name", ["x-request-id", "request-id", "cf-ray"])
async def test_the_servers_id_of_the_request_is_in_the_error(name: str) -> None:
    error = await refused(Answer(500, headers=[(name, "req-7")], body=""))

    assert error.request_id == "req-7"


async def test_a_wrong_address_is_named_without_its_query() -> None:
    with (
        LoopbackServer([Answer(404, body="not here")]) as server,
        pytest.raises(ProviderError) as caught,
    ):
        await HttpModel(f"{server.origin}/wrong?key=hidden")(REQUEST)

    assert f"[POST {server.origin}/wrong/chat/completions]" in str(caught.value)
    assert "hidden" not in str(caught.value)


async def test_an_error_in_a_good_answer_is_an_error_with_the_headers_wait() -> None:
    body = '{"error": {"message": "Provider returned error", "code": 429}}'
    error = await refused(Answer(200, headers=[("retry-after", "3")], body=body))

    assert (error.status, error.retryable, error.retry_after) == (429, True, 3.0)


@pytest.mark.parametrize("provider", [OpenAICompatible(), Letters()], ids=["ours", "other"])
@pytest.mark.parametrize("body", ["", "<html>hi</html>", "[1]", '{"choices":', "null"])
async def test_what_is_no_answer_is_an_error(body: str, provider: Any) -> None:
    error = await refused(Answer(200, body=body), provider=provider)

    assert not error.retryable


async def test_a_body_cut_short_is_a_lost_connection() -> None:
    with (
        LoopbackServer([Answer(body=chat_body()[:50], content_length=500)]) as server,
        pytest.raises(NetworkError, match="was lost after 50 bytes"),
    ):
        await HttpModel(server.base_url)(REQUEST)


@pytest.mark.parametrize("stream", [False, True])
async def test_half_a_body_without_a_length_is_a_lost_connection(stream: bool) -> None:
    answer = Answer(
        headers=[("content-type", "application/json")], chunks=[chat_body()[:50]], framing="close"
    )
    with (
        LoopbackServer([answer]) as server,
        pytest.raises(NetworkError, match="was lost after 50 bytes") as caught,
    ):
        model = HttpModel(server.base_url)
        if stream:
            async for _ in model.stream(REQUEST):
                pass
        else:
            await model(REQUEST)

    assert caught.value.retryable


async def test_a_page_under_the_type_of_a_stream_is_told_as_one() -> None:
    answer = Answer(chunks=["<html><title>502</title></html>"])
    with (
        LoopbackServer([answer]) as server,
        pytest.raises(ProviderError, match="an HTML page"),
    ):
        async for _ in HttpModel(server.base_url).stream(REQUEST):
            pass


async def test_a_redirect_to_what_is_no_address_is_an_error_too() -> None:
    error = await refused(Answer(307, headers=[("location", "http://[h")], body=""))

    assert "a redirect to an address that is none." in str(error)


async def test_a_redirect_is_an_error_that_says_where_to() -> None:
    with LoopbackServer() as other:
        target = f"{other.base_url}/chat?token=hidden"
        error = await refused(Answer(307, headers=[("location", target)], body=""), api_key="sk-x")

        assert f"a redirect to {other.origin}." in str(error)
        assert "hidden" not in str(error)
        assert (error.status, error.retryable, other.count) == (307, False, 0)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e12, True, "5"])
async def test_a_timeout_that_cannot_be_is_refused(timeout: Any) -> None:
    with pytest.raises(ConfigurationError, match="timeout="):
        HttpModel("http://h/v1", timeout=timeout)


async def test_a_header_that_is_no_text_is_refused_by_its_name() -> None:
    headers: Any = {"x-tries": 3}
    with pytest.raises(ConfigurationError, match="'x-tries' has the value of a int"):
        HttpModel("http://h/v1", headers=headers)


async def test_the_configuration_names_provider_and_profile_and_no_address() -> None:
    one = HttpModel("http://a/v1", provider=OpenAICompatible("mistral"))
    moved = HttpModel("http://b/v1", provider=OpenAICompatible("mistral"), api_key="sk-1")
    other = HttpModel("http://a/v1", provider=OpenAICompatible("openai"))

    assert one.configuration == moved.configuration
    assert one.configuration != other.configuration
    assert HttpModel("http://a/v1", provider=Letters()).configuration == {"provider": "letters"}


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(401, body='{"error": {"message": "Wro', content_length=900), "26 bytes"),
        (Answer(400, body="plain", headers=[("content-encoding", "gzip")]), "damaged"),
        (Answer(429, body="x", headers=[("content-encoding", "br")]), "compressed as 'br'"),
    ],
    ids=["cut", "not compressed after all", "compressed by an unknown means"],
)
async def test_a_status_is_told_even_where_its_body_cannot_be_read(
    answer: Answer, told: str, is_stream: bool
) -> None:
    headed = replace(answer, headers=[*answer.headers, ("retry-after", "7")])
    with LoopbackServer([headed]) as server:
        model = HttpModel(server.base_url)
        with pytest.raises(ProviderError) as caught:
            if is_stream:
                [event async for event in model.stream(REQUEST)]
            else:
                await model(REQUEST)

    assert caught.value.status == answer.status
    assert caught.value.retryable is (answer.status == 429)
    assert caught.value.retry_after == 7
    assert told in str(caught.value)


async def test_a_text_is_no_request() -> None:
    with pytest.raises(TypeError, match=r"A model is asked a Request, not str: Request\('model'"):
        await HttpModel("http://127.0.0.1:9/v1").complete("Hi")  # type: ignore[arg-type]
