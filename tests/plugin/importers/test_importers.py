"""Other people's files become exchanges, and nothing disappears without a word."""

from __future__ import annotations

import base64
import gzip
import json
import urllib.request
import zlib
from pathlib import Path

import pytest
from support.loopback import Answer, LoopbackServer, chat_body, chat_stream

from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.corpus.importers import Found, LeftOut, read_file
from pytest_synaptum.errors import FileFormatError
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse

ASKED = {"model": "m", "messages": [{"role": "user", "content": "¿Qué tal?"}]}


def ask(base_url: str, path: str = "/chat/completions") -> bytes:
    request = urllib.request.Request(
        base_url + path,
        data=json.dumps(ASKED).encode(),
        headers={"content-type": "application/json", "accept-encoding": "gzip"},
    )
    with urllib.request.urlopen(request) as reply:
        return reply.read()


def record_with_vcrpy(path: Path, server: LoopbackServer, *paths: str, serializer: str) -> None:
    import vcr

    with vcr.VCR(serializer=serializer).use_cassette(str(path)):
        for each in paths:
            ask(server.base_url, each)


@pytest.mark.parametrize("serializer", ["yaml", "json"])
def test_a_cassette_that_vcrpy_recorded_gives_request_and_answer(
    tmp_path: Path, serializer: str
) -> None:
    cassette = tmp_path / "cassette"
    with LoopbackServer([Answer(body=chat_body("Bien."))]) as server:
        record_with_vcrpy(cassette, server, "/chat/completions", serializer=serializer)

    (found,) = read_file(cassette)

    assert isinstance(found, Found)
    assert found.exchange.request.path == "/v1/chat/completions"
    assert json.loads(found.exchange.request.body) == ASKED
    assert found.exchange.response is not None
    assert json.loads(found.exchange.response.body)["choices"][0]["message"]["content"] == "Bien."
    assert found.origin.server == "127.0.0.1"


def test_a_gzipped_answer_is_unpacked_and_its_headers_put_right(tmp_path: Path) -> None:
    cassette = tmp_path / "cassette.yaml"
    packed = gzip.compress(chat_body("Packed."))
    answer = Answer(
        headers=[("content-encoding", "gzip"), ("content-type", "application/json")],
        body=packed,
    )
    with LoopbackServer([answer]) as server:
        record_with_vcrpy(cassette, server, "/chat/completions", serializer="yaml")
    assert base64.b64encode(packed)[:40] in cassette.read_bytes().replace(b"\n", b"").replace(
        b" ", b""
    )

    (found,) = read_file(cassette)

    assert isinstance(found, Found)
    assert found.exchange.response is not None
    assert json.loads(found.exchange.response.body)["choices"][0]["message"]["content"] == "Packed."
    names = {name for name, _ in found.exchange.response.headers}
    assert names.isdisjoint({"content-encoding", "content-length", "transfer-encoding"})


def test_requests_that_are_no_chat_completions_are_left_out_with_the_reason(tmp_path: Path) -> None:
    cassette = tmp_path / "cassette.yaml"
    with LoopbackServer([Answer(body="{}"), Answer(body=chat_body("Yes."))]) as server:
        record_with_vcrpy(cassette, server, "/models", "/chat/completions", serializer="yaml")

    findings = list(read_file(cassette))

    assert findings[0] == LeftOut(
        file=str(cassette), number=1, reason="POST /v1/models is no chat completion"
    )
    assert isinstance(findings[1], Found)


def har(*entries: dict) -> str:
    return json.dumps({"log": {"version": "1.2", "entries": list(entries)}})


def har_entry(content: dict, *, status: int = 200, headers: list | None = None) -> dict:
    return {
        "startedDateTime": "2026-11-30T10:11:12.000Z",
        "request": {
            "method": "POST",
            "url": "https://api.example.com/v1/chat/completions?trace=1",
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "postData": {"mimeType": "application/json", "text": json.dumps(ASKED)},
        },
        "response": {"status": status, "headers": headers or [], "content": content},
    }


def test_a_har_file_gives_texts_and_base64_bodies(tmp_path: Path) -> None:
    stream = b"".join(chat_stream(["Hola", "."])).decode()
    path = tmp_path / "export.har"
    path.write_text(
        har(
            har_entry({"mimeType": "text/event-stream", "text": stream}),
            har_entry(
                {
                    "mimeType": "application/json",
                    "encoding": "base64",
                    "text": base64.b64encode(b'{"choices": []}').decode(),
                },
                headers=[{"name": "Content-Encoding", "value": "br"}],
            ),
        ),
        encoding="utf-8",
    )

    first, second = read_file(path)

    assert isinstance(first, Found)
    assert isinstance(second, Found)
    assert first.exchange.request.path == "/v1/chat/completions?trace=1"
    assert first.exchange.response == RecordedResponse(
        status=200,
        headers=(("content-type", "text/event-stream"),),
        chunks=(stream.encode(),),
    )
    assert first.origin.date == "2026-11-30"
    assert second.exchange.response is not None
    assert second.exchange.response.body == b'{"choices": []}'


def test_har_entries_without_an_answer_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "export.har"
    broken = har_entry({})
    del broken["request"]["url"]
    path.write_text(
        har(har_entry({}, status=0), har_entry({"size": 120}), broken), encoding="utf-8"
    )

    reasons = [finding.reason for finding in read_file(path) if isinstance(finding, LeftOut)]

    assert reasons == [
        "it has no answer: the browser cancelled or blocked it",
        "its answer was not kept in the file; export with the content",
        "it is not a HAR entry (KeyError: 'url')",
    ]


def test_our_own_cassettes_are_read_too(tmp_path: Path) -> None:
    exchange = Exchange(
        request=RecordedRequest(
            method="POST", path="/v1/chat/completions", body=json.dumps(ASKED).encode()
        ),
        response=RecordedResponse(status=200, chunks=(b'{"choices":', b"[]}")),
    )
    lost = Exchange(request=exchange.request, response=None)
    path = tmp_path / "ours.yaml"
    recorded = {"at": "2026-11-30T12:00:00Z", "server": "llama.cpp", "model": "m", "plugin": "0"}
    path.write_text(dump_cassette([exchange, lost], recorded), encoding="utf-8")

    found, left_out = read_file(path)

    assert isinstance(found, Found)
    assert found.exchange == exchange
    assert (found.origin.server, found.origin.date) == ("llama.cpp", "2026-11-30")
    assert isinstance(left_out, LeftOut)


def test_a_collected_public_exchange_keeps_its_licence_and_source(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    value = {
        "source": {"repo": "someone/agent", "path": "tests/a.yaml", "license": "MIT"},
        "server_host_kind": "vllm",
        "capture": "raw",
        "request": ASKED,
        "status": 200,
        "content_type": "text/event-stream",
        "response_sse": "data: [DONE]\n\n",
    }
    path.write_text(json.dumps(value), encoding="utf-8")

    (found,) = read_file(path)

    assert isinstance(found, Found)
    assert found.origin.licence == "MIT"
    assert found.origin.repository == "someone/agent: tests/a.yaml"
    assert found.origin.server == "vllm"
    assert found.exchange.response is not None
    assert found.exchange.response.body == b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "none of what the importer reads"),
        ("hello", "none of what the importer reads"),
        ("{", "begins like JSON and is none"),
        ('{"log": {}}', "has a list log.entries"),
        ("interactions: [{}]\nversion: 1", "no vcrpy cassette"),
        ("interactions:\n- !!python/object/apply:os.system [echo]\n", "no vcrpy cassette"),
        ("synaptum: cassette/99\n", "newer"),
    ],
)
def test_a_file_that_cannot_be_read_says_so_in_one_sentence(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(FileFormatError) as caught:
        list(read_file(path))

    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrapper", [zlib.compress, lambda data: zlib.compress(data)[2:-4]])
def test_deflate_is_undone_with_and_without_its_wrapper(tmp_path: Path, wrapper) -> None:
    path = tmp_path / "export.har"
    body = b'{"choices": [], "padding": "' + b"x" * 200 + b'"}'
    content = {"encoding": "base64", "text": base64.b64encode(wrapper(body)).decode()}
    path.write_text(
        har(har_entry(content, headers=[{"name": "content-encoding", "value": "deflate"}])),
        encoding="utf-8",
    )

    (found,) = read_file(path)

    assert isinstance(found, Found)
    assert found.exchange.response is not None
    assert found.exchange.response.body == body


def test_an_encoding_without_a_decoder_is_left_out_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "export.har"
    content = {"encoding": "base64", "text": base64.b64encode(b"\x0b\x02\x80").decode()}
    path.write_text(
        har(har_entry(content, headers=[{"name": "content-encoding", "value": "br"}])),
        encoding="utf-8",
    )

    (left_out,) = read_file(path)

    assert isinstance(left_out, LeftOut)
    assert left_out.reason.startswith("the body is in br")
