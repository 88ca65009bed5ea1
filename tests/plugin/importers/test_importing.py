"""`synaptum-corpus import`: other people's recordings become cases that run."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from support.chat import chat_body, chat_stream

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.cli import main
from pytest_synaptum.corpus.facts import facts_of
from pytest_synaptum.corpus.flags import load_flags
from pytest_synaptum.corpus.providers import REFERENCE, load_adapter
from pytest_synaptum.corpus.reading import read_exchange
from pytest_synaptum.corpus.sentences import SENTENCES
from pytest_synaptum.corpus.shows import name_of, shows
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse

CORPUS = Path(__file__).parents[3] / "corpus"
STREAM = (("content-type", "text/event-stream"),)
JSON = (("content-type", "application/json"),)


def exchange(*chunks: bytes, status: int = 200, ask: str = "Hi.") -> Exchange:
    body = {"model": "m", "messages": [{"role": "user", "content": ask}]}
    return Exchange(
        request=RecordedRequest(
            method="POST", path="/v1/chat/completions", body=json.dumps(body).encode()
        ),
        response=RecordedResponse(
            status=status,
            headers=STREAM if len(chunks) > 1 else JSON,
            chunks=chunks,
        ),
    )


def cassette(path: Path, *exchanges: Exchange) -> Path:
    recorded = {"at": "2026-11-29T10:00:00Z", "server": "Some Server", "model": "m"}
    path.write_text(dump_cassette(exchanges, recorded), encoding="utf-8")
    return path


def public(**changes: Any) -> str:
    value = {
        "source": {"repo": "someone/thing", "path": "a.yaml", "commit": "c", "license": "MIT"},
        "server_host_kind": "vllm",
        "capture": "raw",
        "request": {"model": "m", "messages": [{"role": "user", "content": "Hi."}]},
        "status": 200,
        "content_type": "application/json",
        "response_json": json.loads(chat_body("Hello.")),
    }
    return json.dumps({**value, **changes})


def test_an_exchange_becomes_a_case_named_after_what_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {"id": "c1", "name": "find", "arguments": "{}"}
    path = cassette(
        tmp_path / "test_x.yaml",
        exchange(chat_body("Hello.")),
        exchange(chat_body(None, tool_calls=[call])),
    )

    status = main(["import", str(path), "--into", str(tmp_path / "corpus"), "--goldens", "-q"])

    assert status == 0
    assert capsys.readouterr().out.splitlines() == [
        "openai_chat/some-server/text",
        "openai_chat/some-server/tool-call-content-null",
    ]
    folder = tmp_path / "corpus" / "openai_chat" / "some-server" / "text"
    assert sorted(p.name for p in folder.iterdir()) == ["case.yaml", "exchange.yaml", "golden.yaml"]
    case = strict_yaml.load_file(folder / "case.yaml")
    assert case["kind"] == "imported"
    assert case["source"] == {
        "server": "Some Server",
        "model": "scripted-model",
        "date": "2026-11-29",
        "capture": "raw",
    }


def test_licence_and_repository_are_kept(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(public(), encoding="utf-8")

    main(["import", str(tmp_path / "one.json"), "--into", str(tmp_path / "corpus")])

    case = strict_yaml.load_file(tmp_path / "corpus/openai_chat/vllm/text/case.yaml")
    assert case["source"]["repository"] == "someone/thing: a.yaml"
    assert case["source"]["licence"] == "MIT"


def test_what_shows_the_same_is_left_out_and_a_second_import_adds_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(
        tmp_path / "test_x.yaml", exchange(chat_body("Hello.")), exchange(chat_body("Other words."))
    )
    corpus = str(tmp_path / "corpus")

    main(["import", str(path), "--into", corpus, "--json"])
    first = json.loads(capsys.readouterr().out)
    main(["import", str(path), "--into", corpus, "--json"])
    second = json.loads(capsys.readouterr().out)

    assert [case["id"] for case in first["cases"]] == ["openai_chat/some-server/text"]
    assert first["left_out"] == [
        {
            "file": str(path),
            "exchange": 2,
            "reason": "it shows the same as openai_chat/some-server/text",
        }
    ]
    assert second["cases"] == []
    assert len(second["left_out"]) == 2


def test_other_answers_of_one_name_are_numbered(tmp_path: Path) -> None:
    extra = json.loads(chat_body("Hello."))
    extra["service_tier"] = "default"
    path = cassette(
        tmp_path / "test_x.yaml",
        exchange(chat_body("Hello.")),
        exchange(json.dumps(extra).encode()),
    )

    main(["import", str(path), "--into", str(tmp_path / "corpus")])

    server = tmp_path / "corpus" / "openai_chat" / "some-server"
    assert sorted(folder.name for folder in server.iterdir()) == ["text", "text-2"]


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = cassette(tmp_path / "test_x.yaml", exchange(chat_body("Hello.")))

    main(["import", str(path), "--into", str(tmp_path / "corpus"), "--dry-run"])

    assert not (tmp_path / "corpus").exists()
    assert "1 cases would be written, 0 left out" in capsys.readouterr().out


def test_secrets_do_not_come_along(tmp_path: Path) -> None:
    key = "sk-" + "a1B2" * 10
    (tmp_path / "one.json").write_text(
        public(request={"model": "m", "messages": [{"role": "user", "content": f"My key: {key}"}]}),
        encoding="utf-8",
    )

    main(["import", str(tmp_path / "one.json"), "--into", str(tmp_path / "corpus")])

    written = list((tmp_path / "corpus").rglob("exchange.yaml"))
    assert len(written) == 1
    assert key not in written[0].read_text(encoding="utf-8")


def test_a_named_file_that_is_no_recording_is_said_and_ends_with_status_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("nothing of the kind", encoding="utf-8")
    into = ["--into", str(tmp_path / "corpus")]

    named = main(["import", str(tmp_path / "notes.txt"), *into])
    said = capsys.readouterr().out
    in_a_folder = main(["import", str(tmp_path), *into])

    assert named == 3
    assert "notes.txt is none of what the importer reads" in said
    assert in_a_folder == 0


def test_names_of_files_are_read_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(tmp_path / "test_x.yaml", exchange(chat_body("Hello.")))
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{path}\n"))

    main(["import", "-", "--into", str(tmp_path / "corpus"), "--quiet"])

    assert capsys.readouterr().out == "openai_chat/some-server/text\n"


def test_the_cases_run_as_tests(pytester: pytest.Pytester) -> None:
    path = cassette(pytester.path / "recorded.yaml", exchange(*chat_stream(["Hel", "lo."])))
    main(["import", str(path), "--into", "corpus", "--goldens"])

    result = pytester.runpytest("corpus")

    result.assert_outcomes(passed=1)


def test_the_sentences_are_those_of_our_own_corpus() -> None:
    ours = load_flags(CORPUS / "flags.yaml").sentences

    assert {flag: ours.get(flag) for flag in SENTENCES} == SENTENCES


def flags_of(*chunks: bytes, status: int = 200) -> tuple[str, ...]:
    given = exchange(*chunks, status=status)
    facts = facts_of(given)
    return shows(facts, read_exchange(load_adapter(REFERENCE), given))


def test_flags_are_read_off_the_bytes() -> None:
    assert flags_of(chat_body("Hi.")) == ("text",)
    assert flags_of(chat_body("Cut", finish_reason="length")) == ("finish-length", "text")
    assert flags_of(*chat_stream(["Hi."])) == ("usage-last-chunk", "text", "stream")
    assert (
        flags_of(*chat_stream(["Hi."], finish_reason=None, usage=None, done=False))[0]
        == "stream-lost"
    )
    assert flags_of(b'{"error": {"message": "no"}}', status=400) == ("error-status",)
    assert flags_of(b"<html>", status=502) == ("error-no-json", "error-status")
    assert flags_of(b'{"error": {"message": "no"}}') == ("error-in-200",)


def test_a_name_says_the_few_flags_that_tell_most() -> None:
    whole, streamed = facts_of(exchange(b"{}")), facts_of(exchange(*chat_stream(["Hi."])))

    assert name_of(("tool-call-parallel", "tool-call", "text"), whole) == "tool-call-parallel-text"
    assert name_of(("text", "stream"), streamed) == "text-streamed"
    refused = facts_of(exchange(b"{}", status=404))
    assert name_of(("error-status",), refused) == "error-404"


def har(**changes: Any) -> str:
    ask = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}
    entry = {
        "startedDateTime": changes.pop("started", "2026-11-29T10:00:00Z"),
        "request": {
            "method": "POST",
            "url": "https://api.example.com/v1/chat/completions",
            "headers": [],
            "postData": {"text": json.dumps(ask)},
        },
        "response": {
            "status": 200,
            "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"text": chat_body("Hello.").decode()},
            **changes,
        },
    }
    return json.dumps({"log": {"entries": [entry]}})


def vcr(response: dict[str, Any]) -> str:
    request = {
        "method": "POST",
        "uri": "http://a.example/v1/chat/completions",
        "body": "{}",
        "headers": {},
    }
    return json.dumps({"version": 1, "interactions": [{"request": request, "response": response}]})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (har(status=10**30), "response.status is 1000000000000000000000000000000, not an HTTP"),
        (
            vcr({"headers": {}, "body": {"string": ""}}),
            "no interaction of vcrpy (KeyError: 'status')",
        ),
        (
            vcr({"status": {"code": "abc"}, "headers": {}, "body": {"string": ""}}),
            "no interaction of vcrpy (ValueError:",
        ),
        (public(source={"repo": "a/b", "path": "c", "license": 5}), "a text that is none"),
        (public(source=["a"]), "a text that is none"),
        (public(content_type={}), "a text that is none"),
    ],
)
def test_what_no_case_can_hold_is_left_out_and_spoils_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    (tmp_path / "odd").write_text(text, encoding="utf-8")
    good = cassette(tmp_path / "good.yaml", exchange(chat_body("Hello.")))
    corpus = str(tmp_path / "corpus")

    status = main(["import", str(tmp_path / "odd"), str(good), "--into", corpus, "--json"])

    told = json.loads(capsys.readouterr().out)
    assert status == 0
    assert [case["id"] for case in told["cases"]] == ["openai_chat/some-server/text"]
    assert reason in told["left_out"][0]["reason"]
    main(["import", str(good), "--into", corpus, "--goldens"])
    assert main(["list", "--corpus", corpus]) == 0


def test_a_day_that_is_none_is_replaced_by_the_day_of_the_import(tmp_path: Path) -> None:
    (tmp_path / "odd.har").write_text(har(started="yesterday!"), encoding="utf-8")
    corpus = tmp_path / "corpus"

    main(["import", str(tmp_path / "odd.har"), "--into", str(corpus), "--goldens"])

    assert main(["lint", "--corpus", str(corpus)]) == 0
