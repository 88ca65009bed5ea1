"""What a user sees of redaction: files without secrets, answers that were not touched."""

from __future__ import annotations

from support.loopback import Answer, LoopbackServer, chat_body, chat_stream
from support.recorded_suite import RecordedSuite


def test_the_live_call_sees_the_untouched_answer_and_the_file_the_replaced_one(
    suite: RecordedSuite,
) -> None:
    suite.write(
        """
        import os

        def test_token(recorded_provider):
            first = ask(recorded_provider, "a token, please").text
            second = ask(recorded_provider, "use " + first).text
            if os.environ.get("LIVE"):
                assert first == "sk-live-0123456789abcdef"
                assert second == "yes"
        """
    )

    def answer(received: object) -> Answer:
        text = received.json()["messages"][0]["content"]  # type: ignore[attr-defined]
        if text.startswith("a token"):
            return Answer(body=chat_body("sk-live-0123456789abcdef"))
        return Answer(body=chat_body("yes" if text.endswith("abcdef") else "no"))

    suite.pytester._monkeypatch.setenv("LIVE", "1")
    with LoopbackServer(answer) as server:
        suite.record(server).assert_outcomes(passed=1)
    suite.pytester._monkeypatch.delenv("LIVE")

    suite.run("--synaptum-strict").assert_outcomes(passed=1)

    assert "sk-live" not in suite.cassette("test_token").read_text(encoding="utf-8")


USES_A_TOKEN = """
import json, os, urllib.request

def post(http, path, value):
    body = json.dumps(value).encode()
    request = urllib.request.Request(http.base_url + path, body)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())

def test_token(recorded_http, synaptum_golden):
    token = post(recorded_http, "/token", {"user": "ana"})["access_token"]
    assert token == os.environ.get("LIVE", "REDACTED-KEY")
    post(recorded_http, "/use", {"t": "use " + token})
    post(recorded_http, "/use/" + token, {"t": "again"})
    synaptum_golden.check("I used " + token)
"""


def test_a_token_that_an_answer_gives_is_replaced_where_later_requests_use_it(
    suite: RecordedSuite,
) -> None:
    suite.write(USES_A_TOKEN)
    suite.pytester._monkeypatch.setenv("LIVE", "tok-live-abcdef123456")
    answers = [b'{"access_token":"tok-live-abcdef123456"}', b'{"ok":true}', b'{"ok":true}']
    with LoopbackServer([Answer(body=body) for body in answers]) as server:
        recorded = suite.record(server, "--synaptum-update")
    recorded.assert_outcomes(passed=1)
    assert b"use tok-live-abcdef123456" in server.requests[1].body
    suite.pytester._monkeypatch.delenv("LIVE")

    suite.run("--synaptum-strict").assert_outcomes(passed=1)

    text = suite.cassette("test_token").read_text(encoding="utf-8")
    golden = suite.pytester.path / "goldens/test_chat/test_token.yaml"
    assert "use REDACTED-KEY" in text
    assert "tok-live" not in text + golden.read_text(encoding="utf-8") + recorded.stdout.str()


def test_a_token_that_a_test_knew_before_it_was_told_names_the_hook(suite: RecordedSuite) -> None:
    suite.write(
        USES_A_TOKEN.partition("def test_token")[0]
        + """
def test_known(recorded_http):
    post(recorded_http, "/use", {"t": "use tok-live-abcdef123456"})
    post(recorded_http, "/token", {"user": "ana"})
"""
    )
    answers = [b'{"ok":true}', b'{"access_token":"tok-live-abcdef123456"}']
    with LoopbackServer([Answer(body=body) for body in answers]) as server:
        suite.record(server).assert_outcomes(passed=1)
    assert "tok-live" not in suite.cassette("test_known").read_text(encoding="utf-8")

    result = suite.run("--tb=line")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*recorded: *use REDACTED-KEY*",
            "*asked: *(the same, with a secret in its place)*",
            "*likely: *at $.t, a secret that was replaced*in the hook pytest_synaptum_redact.",
        ]
    )
    assert "tok-live" not in result.stdout.str()


def test_a_refused_write_leaves_no_file_and_fails_the_test(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_hidden(recorded_provider):
            ask(recorded_provider)
        """
    )
    suite.pytester._monkeypatch.setenv("SYNAPTUM_API_KEY", "correct-horse-battery")
    body = chat_body("correct-horse-battery").replace(b"correct", b"c\\u006frrect")
    with LoopbackServer([Answer(body=body)]) as server:
        result = suite.record(server)

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*was not written: the answer body at choices.0.message.content of exchange 1 still*"]
    )
    assert "correct-horse" not in result.stdout.str()
    assert not suite.cassette("test_hidden").exists()


def test_a_project_names_secrets_of_its_own(suite: RecordedSuite) -> None:
    suite.pytester.makeconftest(
        "def pytest_synaptum_redact(config):\n    return ['internal-codename']\n"
    )
    suite.write(
        """
        def test_name(recorded_provider):
            ask(recorded_provider, "what is internal-codename?")
        """
    )
    with LoopbackServer([Answer(body=chat_body("internal-codename is ours"))]) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.run().assert_outcomes(passed=1)

    text = suite.cassette("test_name").read_text(encoding="utf-8")
    assert "internal-codename" not in text
    assert "what is REDACTED-KEY?" in text


def test_a_golden_holds_no_secret_and_is_the_same_for_the_recording_and_its_replay(
    suite: RecordedSuite,
) -> None:
    suite.write(
        """
        def test_chat(recorded_provider, synaptum_golden):
            response = ask(recorded_provider, "which key do you see?")
            synaptum_golden.check(response.text)
            synaptum_golden.response(response)
            synaptum_golden.check({"api_key": "any-word-at-all"}, name="by the field's name")
        """
    )
    suite.pytester._monkeypatch.setenv("SYNAPTUM_API_KEY", "correct-horse-battery")
    body = chat_body("I see correct-horse-battery and sk-live-0123456789abcdef.")
    with LoopbackServer([Answer(body=body)]) as server:
        suite.record(server, "--synaptum-update").assert_outcomes(passed=1)
    suite.pytester._monkeypatch.delenv("SYNAPTUM_API_KEY")

    suite.run("--synaptum-strict").assert_outcomes(passed=1)

    text = (suite.pytester.path / "goldens/test_chat/test_chat.yaml").read_text(encoding="utf-8")
    assert "correct-horse" not in text
    assert "sk-live" not in text
    assert "any-word" not in text
    assert text.count("I see REDACTED-KEY and REDACTED-KEY.") == 2


def test_a_golden_of_events_holds_no_secret_that_came_in_pieces(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_chat(recorded_provider, synaptum_golden):
            synaptum_golden.events(asyncio.run(events(recorded_provider)))
        """
    )
    suite.pytester._monkeypatch.setenv("SYNAPTUM_API_KEY", "correct-horse-battery")
    chunks = chat_stream(["It is correct-", "horse-", "battery, yes."])
    with LoopbackServer([Answer(chunks=chunks)]) as server:
        suite.record(server, "--synaptum-update").assert_outcomes(passed=1)

    text = (suite.pytester.path / "goldens/test_chat/test_chat.yaml").read_text(encoding="utf-8")
    assert "It is REDACTED-KEY" in text
    for piece in ("correct", "horse", "battery"):
        assert piece not in text


def test_what_a_red_golden_shows_is_clean(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_chat(synaptum_golden):
            synaptum_golden.check("correct-horse-battery")
        """
    )
    suite.run("--synaptum-update").assert_outcomes(passed=1)
    suite.pytester._monkeypatch.setenv("SYNAPTUM_API_KEY", "correct-horse-battery")

    result = suite.run("--showlocals")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['    actual    "REDACTED-KEY"'])
    assert "correct-horse" not in result.stdout.str()
