"""Errors as servers tell them, and bodies that are none of what they should be."""

import json

import pytest

from synaptum.errors import NetworkError, ProviderError
from synaptum.providers.openai_compatible import DONE, OpenAICompatible


def told(status, body, headers=None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return OpenAICompatible().error_from_wire(status, raw, headers)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"error": {"message": "No model", "type": "invalid", "code": None}}, "No model (invalid)"),
        ({"error": {"message": "No model", "code": 404}}, "No model"),
        ({"error": {"message": "No model", "code": "404"}}, "No model"),
        ({"error": {"message": "No", "type": "a", "code": "b"}}, "No (a, b)"),
        ({"error": "No model"}, "No model"),
        ({"detail": "No model"}, "No model"),
        (
            {"detail": [{"loc": ["body"], "msg": "missing"}]},
            '[{"loc": ["body"], "msg": "missing"}]',
        ),
        ({"object": "error", "message": "No model", "type": "t", "code": 9}, "No model (t)"),
        ({"code": "x", "message": "No model", "type": "t"}, "No model (t, x)"),
        ({"message": "No model"}, "No model"),
        (
            {"object": "error", "message": {"detail": [{"msg": "extra"}]}, "type": "t"},
            '{"detail": [{"msg": "extra"}]} (t)',
        ),
        ({"error": {"why": 1}}, '{"why": 1}'),
    ],
)
def test_every_shape_of_error_gives_its_message_and_codes(body, says):
    error = told(404, body)

    assert str(error) == f"The server reported an error 404: {says}"
    assert (error.status, error.provider, error.retryable) == (404, "openai-compatible", False)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "an empty body"),
        (b"\r\n", "an empty body"),
        (b"upstream  timed\nout", "the text upstream timed out"),
        (b"<html><h1>502 Bad Gateway</h1></html>", "an HTML page (502 Bad Gateway)"),
        (
            b"<!DOCTYPE html><html><head><title>Down</title><style>p{}</style></head></html>",
            "an HTML page (Down)",
        ),
        (b'"just a text"', "just a text"),
        (b"[1, 2]", "the text [1, 2]"),
        (b"{}", "the text {}"),
        (b"\xff\xfe", "the text \ufffd\ufffd"),
    ],
)
def test_a_body_that_is_no_error_object_is_described_in_a_few_words(body, says):
    error = told(502, body)

    assert str(error) == f"The server answered 502 with {says}."
    assert error.retryable


def test_a_long_page_is_not_quoted():
    page = b"<html><script>" + b"x" * 50_000 + b"</script><p>" + b"word " * 50_000 + b"</p></html>"

    assert len(str(told(500, page))) < 250
    assert len(str(told(500, {"error": {"message": "long " * 50_000}}))) < 700


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(400, False), (401, False), (404, False), (408, False), (429, True), (500, True), (503, True)],
)
def test_the_status_says_whether_to_retry(status, retryable):
    assert told(status, {"error": {"message": "x"}}).retryable is retryable


@pytest.mark.parametrize("where", ["type", "code"])
def test_an_empty_account_is_not_asked_again(where):
    error = told(
        429, {"error": {"message": "You exceeded your quota", where: "insufficient_quota"}}
    )

    assert error.status == 429
    assert not error.retryable
    assert "insufficient_quota" in str(error)


def test_the_id_of_the_request_is_kept():
    assert told(500, b"", {"X-Request-Id": "req_1", "authorization": "x"}).request_id == "req_1"
    assert told(500, {"error": "x"}).request_id is None


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghijkl",
        "sk-abc***xyz",
        "gsk_abcdefgh12345",
        "AIzaSyA1234567890abc",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "my-own-key-7",
        "****-key",
    ],
)
def test_a_key_that_the_server_echoes_is_not_repeated(secret):
    for text in (
        f"Incorrect API key provided: {secret}. You can find yours on the site.",
        f"Authentication Fails, Your api key: {secret} is invalid",
        f"Bearer {secret} is invalid",
    ):
        for body in ({"error": {"message": text}}, {"detail": text}):
            assert secret not in str(told(401, body))
        assert secret not in str(told(401, text.encode()))
        assert secret not in str(told(401, f"<html><p>{text}</p></html>".encode()))


def test_error_from_wire_takes_any_bytes():
    for body in (b"[" * 100_000, b"\x00", b'{"error":', b"null", b"NaN", b'{"error": [1]}'):
        assert isinstance(told(500, body), ProviderError)


def test_a_body_is_decoded_once_and_exactly():
    provider = OpenAICompatible()

    assert provider.decode_body(b'\xef\xbb\xbf{"n": 9007199254740993, "a": "\\ud83d\\ude00"}') == {
        "n": 9007199254740993,
        "a": "😀",
    }
    assert provider.decode_body(b'{"a": NaN, "b": -Infinity, "c": 1e999}') == {
        "a": "NaN",
        "b": "-Infinity",
        "c": "1e999",
    }


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "an empty body"),
        (b"<html>Sign in</html>", r"an HTML page \(Sign in\)"),
        (b"method=POST", "the text method=POST"),
        (b'{"choices": [', "no JSON"),
        (b"[]", "no object"),
        (b"[" * 5_000 + b"]" * 5_000, "no JSON"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "no JSON"),
    ],
)
def test_a_body_that_is_no_json_object_is_a_provider_error(body, says):
    with pytest.raises(ProviderError, match=says):
        OpenAICompatible().decode_body(body)


def test_an_event_is_a_chunk_or_done():
    provider = OpenAICompatible()

    assert provider.decode_event('{"choices": []}') == {"choices": []}
    assert provider.decode_event("[DONE]") is DONE
    assert provider.decode_event(" [DONE] ") is DONE


def test_an_event_cut_anywhere_is_a_lost_connection():
    event = '{"choices": [{"delta": {"content": "a\\u00e9\\n"}, "n": -1.5e3, "t": true}]}'

    for cut in range(1, len(event)):
        with pytest.raises(NetworkError):
            OpenAICompatible().decode_event(event[:cut])


@pytest.mark.parametrize("event", ["oops", "[1]", '{"a" 1}', "<html>x</html>", "3", "{'a': 1}"])
def test_an_event_that_is_no_json_object_is_a_provider_error(event):
    with pytest.raises(ProviderError):
        OpenAICompatible().decode_event(event)


PRIVATE = '{"choices": [{"message": {"content": "patient: John D'


@pytest.mark.parametrize(
    "read",
    [
        lambda text: OpenAICompatible().decode_body(text.encode()),
        lambda text: OpenAICompatible().decode_event(text),
    ],
    ids=["body", "event"],
)
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (PRIVATE + '"] oops}', "61 characters that begin like it, wrong at character 54"),
        (f"[{PRIVATE}]", "wrong at character"),
        (f"[{json.dumps(PRIVATE)}]", "a list of 1"),
        ("[" * 2_000 + "]" * 2_000, "nested too deeply"),
    ],
)
def test_what_an_answer_says_is_not_quoted_where_it_is_damaged(read, text, told):
    with pytest.raises(ProviderError) as caught:
        read(text)

    assert told in str(caught.value)
    assert "patient" not in str(caught.value)
