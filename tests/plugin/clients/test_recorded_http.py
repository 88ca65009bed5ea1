"""`recorded_http` as a user has it: a client of one's own, recorded once and replayed."""

from __future__ import annotations

from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite


def test_a_client_is_recorded_and_replayed_with_the_server_gone(suite: RecordedSuite) -> None:
    with LoopbackServer(lambda _: Answer(body=chat_body("Hello."))) as server:
        suite.write(
            f"""
            import httpx
            def test_chat(recorded_http):
                with recorded_http as ex, httpx.Client(verify=False) as client:
                    answer = client.post(
                        "{server.base_url}/chat/completions", json={{"model": "m"}},
                        headers={{"authorization": "Bearer my-own-credential"}},
                    )
                assert answer.json()["choices"][0]["message"]["content"] == "Hello."
                assert len(ex.exchanges) == 1
            """
        )
        recorded = suite.run("--synaptum-record")
    replayed = suite.run()

    recorded.assert_outcomes(passed=1)
    replayed.assert_outcomes(passed=1)
    assert server.count == 1
    assert "my-own-credential" not in suite.cassette("test_chat").read_text(encoding="utf-8")


def test_both_fixtures_in_one_test_keep_each_exchange_once(suite: RecordedSuite) -> None:
    with LoopbackServer(lambda _: Answer(body=chat_body("Hello."))) as server:
        suite.write(
            f"""
            import httpx
            def test_chat(recorded_provider, recorded_http):
                ask(recorded_provider)
                with httpx.Client(verify=False) as client:
                    client.post("{server.base_url}/chat/completions", json={{"other": 1}})
                assert len(recorded_http.exchanges) == 2
            """
        )
        suite.record(server).assert_outcomes(passed=1)
    suite.run("--synaptum-strict").assert_outcomes(passed=1)

    assert server.count == 2


def test_a_model_of_ones_own_is_captured_too(suite: RecordedSuite) -> None:
    with LoopbackServer(lambda _: Answer(body=chat_body("Hello."))) as server:
        suite.write(
            f"""
            from synaptum import HttpModel
            def test_chat(recorded_http):
                model = HttpModel("{server.base_url}")
                request = Request(model="m", messages=(Message.user("Hi"),))
                assert asyncio.run(model(request)).text == "Hello."
            """
        )
        suite.run("--synaptum-record").assert_outcomes(passed=1)
    suite.run("--synaptum-strict").assert_outcomes(passed=1)

    assert server.count == 1


def test_a_mismatch_that_a_retrying_client_hides_is_shown(suite: RecordedSuite) -> None:
    with LoopbackServer(lambda _: Answer(body=chat_body("Hello."))) as server:
        suite.write(
            f"""
            import openai, os
            def test_chat(recorded_http):
                with openai.OpenAI(base_url="{server.base_url}", api_key="k" * 20) as client:
                    client.chat.completions.create(
                        model="m", messages=[{{"role": "user", "content": os.environ["WORDS"]}}]
                    )
            """
        )
        suite.pytester._monkeypatch.setenv("WORDS", "one")
        suite.run("--synaptum-record").assert_outcomes(passed=1)
        suite.pytester._monkeypatch.setenv("WORDS", "two")
        result = suite.run()

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*asked for something that its cassette does not hold*", '*recorded: "one"', '*"two"']
    )
    assert server.count == 1
