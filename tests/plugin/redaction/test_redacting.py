"""Secrets leave everything that is written; everything else stays byte for byte."""

from __future__ import annotations

import base64
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_synaptum.errors import SecretFoundError
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_synaptum.redact import Redactor

KEY = "sk-test-123"


def redactor(**environ: str) -> Redactor:
    return Redactor(environ=environ or {"OPENAI_API_KEY": KEY})


def exchange(
    body: bytes = b"",
    answer: tuple[bytes, ...] = (),
    path: str = "/v1/x",
    headers: tuple[tuple[str, str], ...] = (),
    answer_headers: tuple[tuple[str, str], ...] = (),
) -> Exchange:
    return Exchange(
        request=RecordedRequest(method="POST", path=path, headers=headers, body=body),
        response=RecordedResponse(status=200, headers=answer_headers, chunks=answer),
    )


def test_the_value_of_a_key_variable_leaves_path_headers_and_bodies() -> None:
    dirty = exchange(
        body=b'{"user":"sk-test-123"}',
        answer=(b'{"echo":"sk-test-123"}',),
        path="/v1/chat/completions?key=sk-test-123",
        headers=(("Authorization", "Bearer sk-test-123"), ("OpenAI-Organization", "org-9")),
        answer_headers=(("Set-Cookie", "sid=abc"), ("X-Request-Id", "r sk-test-123")),
    )

    clean = redactor().exchange(dirty)

    assert KEY not in repr(clean)
    assert clean.request.headers == ()
    assert clean.request.body == b'{"user":"REDACTED-KEY"}'
    assert clean.request.path == "/v1/chat/completions?key=REDACTED-KEY"
    assert clean.response is not None
    assert clean.response.headers == (("x-request-id", "r REDACTED-KEY"),)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghij0123456789",
        "sk-ant-api03-abcdefghij0123456789",
        "gsk_abcdefghij0123456789abcd",
        "hf_abcdefghij0123456789abcd",
        "AIzaSyA0123456789abcdefghijklmnopqrstu",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghij0123456789abcdefghij",
        "xoxb-1234567890-abcdef",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
        "org-abcdefghij0123456789abcd",
    ],
)
@pytest.mark.parametrize("around", ["{}", "key:\\n{}", '(\\"{}\\")', "Bearer {}"])
def test_the_shapes_of_the_usual_keys_are_found(secret: str, around: str) -> None:
    body = f'{{"a": "{around.format(secret)}"}}'.encode()

    clean = redactor().body(body)

    assert secret.encode() not in clean
    json.loads(clean)


@pytest.mark.parametrize(
    "harmless",
    [
        "risk-assessment-framework-for-2026",
        "task-list-of-the-day-number-1",
        "sk-learn",
        "organisation",
        "org-chart",
        "the bearer of bad news",
        "0123456789abcdef0123456789abcdef",
        "chatcmpl-9aXyZ0123456789abcdefgh",
        "call_abc0123456789defghijklmn",
        "EqQBCgIYAhIkNWU4ZjA5ZGEtZTg0Ni00",
    ],
)
def test_what_only_looks_random_stays(harmless: str) -> None:
    body = json.dumps({"a": harmless, "token": "Hello", "max_tokens": 5}).encode()

    assert redactor().body(body) == body


@pytest.mark.parametrize("name", ["api_key", "apiKey", "access_token", "client_secret", "password"])
def test_a_field_named_like_a_key_loses_its_value(name: str) -> None:
    plain = json.dumps({name: "hunter2", "n": 1}).encode()
    nested = json.dumps({"arguments": json.dumps({name: "hunter2"})}).encode()

    assert b"hunter2" not in redactor().body(plain)
    assert b"hunter2" not in redactor().body(nested)
    json.loads(json.loads(redactor().body(nested))["arguments"])


@pytest.mark.parametrize(
    "secret", ['qu"ote-secret', "sla/sh&secret", "schlüssel-wert", "a+b=c d%e!"]
)
def test_a_known_value_is_found_in_the_spellings_of_json_and_urls(secret: str) -> None:
    from urllib.parse import quote

    clean = redactor(MY_API_KEY=secret)
    once = json.dumps({"a": secret})
    for text in (once, json.dumps({"b": once}), json.dumps({"a": secret}, ensure_ascii=False)):
        assert b"REDACTED-KEY" in clean.body(text.encode())
        json.loads(clean.body(text.encode()))
    assert clean.text(f"/x?q={quote(secret, safe='')}") == "/x?q=REDACTED-KEY"


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
def test_a_known_value_is_found_encoded_whatever_stands_before_it(before: str) -> None:
    secret = "okapi-quagga-0123456789"
    whole = f"{before}{secret}:x".encode()

    for text in (base64.b64encode(whole), base64.urlsafe_b64encode(whole), whole.hex().encode()):
        assert b"REDACTED-KEY" in redactor(MY_API_KEY=secret).body(text)


@pytest.mark.parametrize("secret", ["okapi-quagga-01", "okapi-quagga-012", "okapi-quagga-0123"])
def test_a_known_value_at_the_end_leaves_no_letter_of_its_encoding(secret: str) -> None:
    padded = base64.b64encode(secret.encode())
    for text in (padded, padded.rstrip(b"=")):
        assert redactor(MY_API_KEY=secret).body(b'{"a":"%s"}' % text) == b'{"a":"REDACTED-KEY"}'


def test_a_known_value_is_found_in_either_case() -> None:
    clean = redactor(MY_API_KEY="okapi/quagga-0123")

    assert clean.text("OKAPI/QUAGGA-0123, okapi%2fquagga-0123") == "REDACTED-KEY, REDACTED-KEY"


def test_a_short_key_is_no_secret_in_a_text() -> None:
    assert redactor(LOCAL_API_KEY="none").body(b'{"a":"none of it"}') == b'{"a":"none of it"}'


def test_a_credential_of_a_request_is_a_secret_everywhere() -> None:
    clean = redactor(X="y")
    clean.learn([("authorization", "Bearer my-own-credential")])

    assert clean.body(b"say my-own-credential") == b"say REDACTED-KEY"


def test_a_secret_split_over_two_chunks_is_found() -> None:
    cut = redactor().exchange(exchange(answer=(b'{"a":"sk-te', b'st-123","b":1}', b"\n"))).response

    assert cut is not None
    assert cut.chunks == (b'{"a":"REDACTED-KEY', b'","b":1}', b"\n")


def test_a_secret_split_over_the_events_of_a_stream_is_found() -> None:
    def event(text: str) -> bytes:
        return (
            b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"
        )

    answer = (event("it is sk-t"), event("est"), event("-123 then"), b"data: [DONE]\n\n")

    clean = redactor().exchange(exchange(answer=answer)).response

    assert clean is not None
    assert clean.chunks == (
        event("it is REDACTED-KEY"),
        event(""),
        event(" then"),
        b"data: [DONE]\n\n",
    )


def test_what_users_name_is_replaced_too() -> None:
    clean = Redactor(["project-x-name", re.compile(r"emp-\d{4}")], environ={})

    assert (
        clean.body(b'{"a":"project-x-name of emp-1234"}') == b'{"a":"REDACTED-KEY of REDACTED-KEY"}'
    )


def test_a_write_that_still_holds_a_secret_is_refused_and_says_where() -> None:
    hidden = exchange(body=b'{"messages":[{"content":"\\u0073k-test-123"}]}')
    clean = redactor()

    with pytest.raises(SecretFoundError) as caught:
        clean.scan([clean.exchange(hidden)], "cassettes/a.yaml")

    message = str(caught.value)
    assert "request body at messages.0.content of exchange 1 still holds a known secret" in message
    assert KEY not in message


texts = st.text(alphabet=st.sampled_from('sk-tes123 "\\{}:,ab\n'), max_size=30)


@given(st.lists(st.binary(max_size=12) | st.just(KEY.encode()) | texts.map(str.encode), max_size=6))
def test_redacting_twice_is_redacting_once_and_leaves_no_key(chunks: list[bytes]) -> None:
    clean = redactor()

    once = clean.exchange(exchange(answer=tuple(chunks)))

    assert clean.exchange(once) == once
    assert once.response is not None
    assert KEY.encode() not in once.response.body
    assert len(once.response.chunks) == len(chunks)


@given(st.recursive(st.none() | texts, lambda inner: st.lists(inner, max_size=3)))
def test_json_stays_json(value: object) -> None:
    json.loads(redactor().body(json.dumps([value, KEY]).encode()))


def pieces(text: str) -> tuple[bytes, ...]:
    """A stream whose events bring a tool's arguments in pieces of five characters."""
    cuts = [text[at : at + 5] for at in range(0, len(text), 5)]
    return tuple(b"data: " + json.dumps({"arguments": cut}).encode() + b"\n\n" for cut in cuts)


TOKEN = "tok-live-abcdef123456"


@pytest.mark.parametrize(
    "answer",
    [
        (b'{"access_token":"tok-live-abcdef123456"}',),
        (b'{"auth":{"refreshToken" : "tok-live-abcdef123456"}}',),
        (json.dumps({"arguments": json.dumps({"api_key": TOKEN})}).encode(),),
        (b'{"authorization":"Bearer tok-live-abcdef123456"}',),
        pieces(json.dumps({"client_secret": TOKEN})),
    ],
)
def test_a_token_named_in_an_answer_is_a_secret_in_every_exchange(
    answer: tuple[bytes, ...],
) -> None:
    one = redactor()
    one.learn_exchange(exchange(answer=answer))

    used = one.exchange(exchange(body=b'{"t":"use tok-live-abcdef123456"}', path=f"/v1/{TOKEN}"))

    assert used.request.body == b'{"t":"use REDACTED-KEY"}'
    assert used.request.path == "/v1/REDACTED-KEY"


def test_a_token_named_in_a_request_is_a_secret_in_the_next() -> None:
    one = redactor()
    one.learn_body(b'{"api_key":"tok-live-abcdef123456"}')

    assert one.text("use tok-live-abcdef123456") == "use REDACTED-KEY"


def test_a_token_whose_slashes_are_escaped_is_a_secret_in_both_spellings() -> None:
    one = redactor()
    body = b'{"access_token":"ab12\\/cd34\\/ef56"}'
    one.learn_exchange(exchange(answer=(body,)))

    assert one.body(body) == b'{"access_token":"REDACTED-KEY"}'
    assert one.text("use ab12/cd34/ef56") == "use REDACTED-KEY"


@pytest.mark.parametrize(
    "field",
    [
        '{"password":"correct-horse-9"}',
        '{"api_key":"required"}',
        '{"access_token":"your-api-key"}',
        '{"id_token":"the token of 2026 that you were given"}',
        '{"api_key":"none1"}',
    ],
)
def test_words_in_fields_named_like_a_key_are_replaced_there_and_nowhere_else(field: str) -> None:
    one = redactor()
    one.learn_exchange(exchange(answer=(field.encode(),)))
    word = next(iter(json.loads(field).values()))

    assert one.text(f"it is {word}") == f"it is {word}"
    assert word not in one.text(field)
