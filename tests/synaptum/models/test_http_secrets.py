"""The key travels to its server and shows nowhere else."""

from __future__ import annotations

import json
import logging
import pickle
import traceback
from typing import Any

import pytest
from support.letters import Letters
from support.loopback import Answer, LoopbackServer, chat_body, sse

from synaptum.errors import ConfigurationError, SynaptumError
from synaptum.models.http import HttpModel
from synaptum.vocabulary import Message, Request

KEY = "quite-a-secret-key-0123456789"
REQUEST = Request("tiny", [Message.user("Hi.")])


@pytest.mark.asyncio
async def test_the_key_is_sent_as_a_bearer_token() -> None:
    with LoopbackServer([Answer(body=chat_body())]) as server:
        await HttpModel(server.base_url, api_key=f" {KEY}\n")(REQUEST)

    assert server.requests[0].header("authorization") == f"Bearer {KEY}"


def test_a_repr_says_only_that_there_is_a_key() -> None:
    with_key = HttpModel("http://h/v1?token=hidden", KEY, headers={"api-key": KEY})

    assert repr(with_key) == (
        "HttpModel('http://h/v1/chat/completions', api_key=<set>, provider='openai-compatible')"
    )
    assert "api_key=None" in repr(HttpModel("http://h/v1"))
    assert KEY not in repr(vars(with_key))


def test_a_model_with_a_key_is_not_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(HttpModel("http://h/v1", KEY))


@pytest.mark.parametrize("key", ["", "  ", "a b", "a\nb", "clé"])
def test_what_no_key_can_be_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ConfigurationError, match="api_key") as caught:
        HttpModel("http://h/v1", key)

    assert not key.strip() or key not in str(caught.value)


ECHO = f"Incorrect key provided: {KEY}."


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(401, body=json.dumps({"error": {"message": ECHO}})), id="error"),
        pytest.param(Answer(401, body=ECHO), id="text"),
        pytest.param(Answer(200, body=json.dumps({"error": {"message": ECHO}})), id="good status"),
        pytest.param(Answer(chunks=[sse({"error": {"message": ECHO}})]), id="stream"),
        pytest.param(Answer(chunks=[sse({"oops": ECHO})]), id="stream of another dialect"),
        pytest.param(Answer(302, headers=[("location", f"http://h/?{KEY}")], body=""), id="moved"),
        pytest.param(Answer(401, headers=[("x-request-id", KEY)], body="no"), id="request id"),
        pytest.param(Answer(drop_after=-1), id="no answer"),
    ],
)
@pytest.mark.parametrize("given", ["api_key", "header"])
@pytest.mark.parametrize("provider", [None, Letters()], ids=["ours", "other"])
async def test_an_error_never_shows_the_key_even_when_the_server_repeats_it(
    answer: Answer, given: str, provider: Letters | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with LoopbackServer([answer]) as server:
        if given == "api_key":
            model = HttpModel(server.base_url, KEY, provider=provider)
        else:
            model = HttpModel(server.base_url, headers={"API-Key": KEY}, provider=provider)
        with pytest.raises(SynaptumError) as caught:
            async for _ in model.stream(REQUEST):
                pass

    shown = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    assert KEY not in shown
    assert KEY not in caplog.text


#: No pattern of keys knows it.
TICKET = "abcdefgh12345"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "given",
    [
        {"headers": {"X-Auth-Token": TICKET}},
        {"headers": {"Ocp-Apim-Subscription-Key": TICKET}},
        {"headers": {"Proxy-Authorization": TICKET}},
        {"query": f"?api-version=2026-01-01&key={TICKET}"},
    ],
    ids=lambda given: next(iter(given)),
)
async def test_a_key_by_another_name_does_not_show_either(given: dict[str, Any]) -> None:
    answer = Answer(
        401, body=json.dumps({"error": {"message": f"No ticket {TICKET} (2026-01-01)."}})
    )
    with LoopbackServer([answer]) as server:
        address = server.base_url + given.pop("query", "")
        model = HttpModel(address, **given)
        with pytest.raises(SynaptumError) as caught:
            await model(REQUEST)

    assert TICKET not in str(caught.value)
    assert "<set>" in str(caught.value)
    assert "2026-01-01" in str(caught.value)
    assert TICKET not in repr(model)


@pytest.mark.asyncio
@pytest.mark.parametrize("before", [480, 490, 495])
@pytest.mark.parametrize("how", ["status", "body", "event"])
async def test_a_long_error_is_not_cut_in_the_middle_of_a_key(before: int, how: str) -> None:
    error = {"error": {"message": f"{'x' * before} {TICKET} and more"}}
    answers = {
        "status": Answer(401, body=json.dumps(error)),
        "body": Answer(200, body=json.dumps(error)),
        "event": Answer(chunks=[sse(error)]),
    }
    with LoopbackServer([answers[how]]) as server, pytest.raises(SynaptumError) as caught:
        async for _ in HttpModel(server.base_url, TICKET).stream(REQUEST):
            pass

    assert TICKET[:3] not in str(caught.value)


@pytest.mark.asyncio
async def test_an_answer_that_holds_the_words_of_a_key_stays_as_it_is() -> None:
    with LoopbackServer([Answer(body=chat_body("The password is not-needed."))]) as server:
        response = await HttpModel(server.base_url, "not-needed")(REQUEST)

    assert response.text == "The password is not-needed."


@pytest.mark.asyncio
async def test_a_key_that_is_echoed_with_its_scheme_leaves_words_that_can_be_read() -> None:
    told = f"Incorrect API key provided: Bearer {TICKET}."
    answer = Answer(401, body=json.dumps({"error": {"message": told}}))
    with LoopbackServer([answer]) as server, pytest.raises(SynaptumError) as caught:
        await HttpModel(server.base_url, api_key=TICKET)(REQUEST)

    assert "Incorrect API key provided: Bearer <set>." in str(caught.value)
