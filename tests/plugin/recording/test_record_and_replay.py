"""A test recorded once from a real server replays without it, with the same results."""

from __future__ import annotations

import textwrap

from support.loopback import Answer, LoopbackServer, chat_body, chat_stream
from support.recorded_suite import RecordedSuite


def test_a_whole_answer_is_recorded_and_replayed_with_the_server_gone(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_hello(recorded_provider):
            assert ask(recorded_provider).text == "Hello."
        """
    )
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        recorded = suite.record(server)
    replayed = suite.run()

    recorded.assert_outcomes(passed=1)
    recorded.stdout.fnmatch_lines(["synaptum: 0 exchanges replayed, 1 recorded, 0 unused"])
    replayed.assert_outcomes(passed=1)
    replayed.stdout.fnmatch_lines(
        ["synaptum: 1 exchange replayed, 0 recorded, 0 unused; 10 tokens not spent; * s not waited"]
    )
    assert server.count == 1


def test_the_cassette_is_laid_out_for_people(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_hello(recorded_provider):
            ask(recorded_provider)
        """
    )
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        suite.record(server).assert_outcomes(passed=1)
    lines = suite.cassette("test_hello").read_text(encoding="utf-8").splitlines()

    assert lines[0] == "synaptum: cassette/1"
    assert lines[1].startswith('recorded: {at: "20')
    assert lines[2:11] == [
        "exchanges:",
        "- about: POST /v1/chat/completions, 200, stop",
        "  request:",
        "    method: POST",
        "    path: /v1/chat/completions",
        "    json: |",
        '      {"model": "small", "messages": [{"role": "user", "content": "Hi"}]}',
        "  response:",
        "    status: 200",
    ]
    assert lines[-2] == "timings:"


def test_a_stream_keeps_its_events_and_chunks(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_stream(recorded_provider):
            found = asyncio.run(events(recorded_provider))
            assert [e.text for e in found if e.kind == "text_delta"] == ["Hel", "lo."]
            assert len(recorded_provider.exchanges[0].response.chunks) == 6
        """
    )
    with LoopbackServer([Answer(chunks=chat_stream())]) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.run().assert_outcomes(passed=1)

    text = suite.cassette("test_stream").read_text(encoding="utf-8")
    assert "200, stream of 6 events, stop" in text
    assert "chunks: events" in text
    assert "      [DONE]\n" in text


def test_a_stream_closed_early_replays_as_far_as_it_was_read(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_close(recorded_provider):
            async def main():
                request = question(recorded_provider)
                stream = recorded_provider.stream(request)
                async for event in stream:
                    if event.kind == "text_delta":
                        await stream.aclose()
                        return event.text
            assert asyncio.run(main()) == "Hel"
        """
    )
    with LoopbackServer([Answer(chunks=chat_stream(), delay_s=0.05)]) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.run().assert_outcomes(passed=1)

    assert "ending: closed" in suite.cassette("test_close").read_text(encoding="utf-8")


def test_reading_past_where_the_recorded_caller_closed_is_told(suite: RecordedSuite) -> None:
    suite.write(
        """
        import os
        def test_close(recorded_provider):
            async def main():
                request = question(recorded_provider)
                stream = recorded_provider.stream(request)
                async for event in stream:
                    if event.kind == "text_delta" and "READ_ON" not in os.environ:
                        await stream.aclose()
                        return
            asyncio.run(main())
        """
    )
    with LoopbackServer([Answer(chunks=chat_stream(), delay_s=0.05)]) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.pytester._monkeypatch.setenv("READ_ON", "1")
    result = suite.run()

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*read on in a stream at the place where it was closed while recording*"]
    )


def test_a_lost_connection_is_lost_again_on_replay(suite: RecordedSuite) -> None:
    suite.write(
        """
        from synaptum import NetworkError

        def test_lost(recorded_provider):
            with pytest.raises(NetworkError):
                asyncio.run(events(recorded_provider))
        """
    )
    with LoopbackServer([Answer(chunks=chat_stream(), drop_after=2)]) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.run().assert_outcomes(passed=1)

    assert "ending: lost" in suite.cassette("test_lost").read_text(encoding="utf-8")


def test_exchanges_are_the_same_while_recording_and_on_replay(suite: RecordedSuite) -> None:
    suite.write(
        """
        import os, pathlib
        def test_same(recorded_provider):
            ask(recorded_provider, "my key is " + os.environ["SYNAPTUM_API_KEY"])
            asyncio.run(events(recorded_provider))
            seen = repr(recorded_provider.exchanges)
            assert "correct-horse" not in seen
            file = pathlib.Path("seen.txt")
            if file.exists():
                assert file.read_text() == seen
            else:
                file.write_text(seen)
        """
    )
    suite.pytester._monkeypatch.setenv("SYNAPTUM_API_KEY", "correct-horse-battery")
    answers = [
        Answer(body=chat_body("You said correct-horse-battery.")),
        Answer(chunks=chat_stream(("corr", "ect-horse", "-battery!"))),
    ]
    with LoopbackServer(answers) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.run().assert_outcomes(passed=1)

    assert "correct-horse" not in suite.cassette("test_same").read_text(encoding="utf-8")


def test_an_agent_with_a_tool_takes_the_same_steps_offline(suite: RecordedSuite) -> None:
    suite.write(
        """
        import pathlib
        from synaptum import Agent, MemoryCheckpointer, Session, tool

        @tool
        def weather(city: str) -> str:
            "The weather in a city."
            return f"Sunny in {city}"

        def test_agent(recorded_provider):
            agent = Agent("a", model=recorded_provider.model, tools=[weather])
            store = MemoryCheckpointer()
            gateway = recorded_provider.gateway(tools=[weather])

            async def main():
                session = Session("r", gateway, store)
                return [step async for step in agent.run("Weather in Oslo?", session=session)]

            steps = asyncio.run(main())
            assert len(recorded_provider.exchanges) == 2
            assert steps[-1].output == "It is sunny in Oslo."
        """
    )
    call = {"id": "c1", "name": "weather", "arguments": '{"city": "Oslo"}'}
    answers = [
        Answer(body=chat_body(None, tool_calls=[call])),
        Answer(body=chat_body("It is sunny in Oslo.")),
    ]
    with LoopbackServer(answers) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.run().assert_outcomes(passed=1)


def test_recording_again_touches_only_the_selected_test(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_one(recorded_provider):
            ask(recorded_provider)

        def test_two(recorded_provider):
            ask(recorded_provider)
        """
    )
    with LoopbackServer(lambda _: Answer(body=chat_body("Hello."))) as server:
        suite.record(server).assert_outcomes(passed=2)
        before = suite.cassette("test_two").read_bytes()
        ino = suite.cassette("test_two").stat().st_ino
        suite.record(server, "test_chat.py::test_one", flag="--synaptum-rerecord")
        count = server.count

    assert count == 3
    assert suite.cassette("test_two").read_bytes() == before
    assert suite.cassette("test_two").stat().st_ino == ino


def test_recording_again_changes_nothing_but_the_header_and_the_timings(
    suite: RecordedSuite,
) -> None:
    suite.write(
        """
        def test_one(recorded_provider):
            ask(recorded_provider)
            asyncio.run(events(recorded_provider))
        """
    )

    def exchanges() -> str:
        text = suite.cassette("test_one").read_text(encoding="utf-8")
        return text[text.index("exchanges:") : text.index("\ntimings:")]

    answers = [Answer(body=chat_body("Hello.")), Answer(chunks=chat_stream())]
    with LoopbackServer(answers * 2) as server:
        suite.record(server)
        first = exchanges()
        suite.record(server, flag="--synaptum-rerecord")

    assert server.count == 4
    assert exchanges() == first


def test_recording_does_not_ask_for_what_is_recorded_already(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_one(recorded_provider):
            ask(recorded_provider)
        """
    )
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        suite.record(server).assert_outcomes(passed=1)
        suite.record(server).assert_outcomes(passed=1)

    assert server.count == 1


def test_the_flag_does_not_swallow_the_path_behind_it(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_one(recorded_provider):
            ask(recorded_provider)
        """
    )
    suite.pytester.makepyfile(test_other="def test_not_chosen(): pass")
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        url = f"--synaptum-base-url={server.base_url}"
        result = suite.run(url, "--synaptum-model=small", "--synaptum-record", "test_chat.py")

    result.assert_outcomes(passed=1)


def test_parametrised_tests_and_classes_have_files_of_their_own(suite: RecordedSuite) -> None:
    suite.write(
        """
        class TestChat:
            @pytest.mark.parametrize("word", ["../evil", "a/b", "A/b"])
            def test_word(self, recorded_provider, word):
                ask(recorded_provider, word)
        """
    )
    with LoopbackServer(lambda _: Answer(body=chat_body("Hello."))) as server:
        suite.record(server).assert_outcomes(passed=3)

    suite.run("--synaptum-strict").assert_outcomes(passed=3)

    names = sorted(path.name for path in suite.pytester.path.rglob("*.yaml"))
    assert len({name.lower() for name in names}) == 3
    assert all(
        path.parent == suite.cassette("x").parent for path in suite.pytester.path.rglob("*.yaml")
    )


def test_a_shared_cassette_is_recorded_once(suite: RecordedSuite) -> None:
    suite.write(
        """
        pytestmark = pytest.mark.synaptum(cassette="shared/hello")

        def test_one(recorded_provider):
            ask(recorded_provider)

        def test_two(recorded_provider):
            ask(recorded_provider)
        """
    )
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        suite.record(server, flag="--synaptum-rerecord").assert_outcomes(passed=2)

    suite.run().assert_outcomes(passed=2)

    assert (suite.pytester.path / "cassettes" / "shared" / "hello.yaml").is_file()


def test_settings_can_be_fixtures_of_the_project(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_one(recorded_provider):
            ask(recorded_provider)
        """
    )
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        suite.pytester.makeconftest(
            textwrap.dedent(
                f"""
                import pytest

                @pytest.fixture
                def synaptum_base_url():
                    return {server.base_url!r}

                @pytest.fixture
                def synaptum_model():
                    return "fixture-model"

                @pytest.fixture
                def synaptum_cassette_path(tmp_path_factory, request):
                    return request.config.rootpath / "elsewhere" / "mine.yaml"
                """
            )
        )
        suite.run("--synaptum-record").assert_outcomes(passed=1)

    suite.run().assert_outcomes(passed=1)

    text = (suite.pytester.path / "elsewhere" / "mine.yaml").read_text(encoding="utf-8")
    assert '"model": "fixture-model"' in text


def test_replay_waits_as_long_as_the_server_did_where_it_is_asked_to(suite: RecordedSuite) -> None:
    suite.write(
        """
        import time

        @pytest.fixture
        def synaptum_replay_pace():
            return 1.0

        def test_slow(recorded_provider):
            begin = time.monotonic()
            asyncio.run(events(recorded_provider))
            assert time.monotonic() - begin > 0.08
        """
    )
    with LoopbackServer([Answer(chunks=chat_stream(), delay_s=0.02)]) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.run().assert_outcomes(passed=1)


def test_a_fixture_of_wider_scope_is_refused_clearly(suite: RecordedSuite) -> None:
    suite.write(
        """
        @pytest.fixture(scope="session")
        def client(recorded_provider):
            return recorded_provider

        def test_chat(client):
            pass
        """
    )

    result = suite.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ScopeMismatch*recorded_provider*"])


def test_a_fresh_view_gives_every_answer_again_and_counts_for_nothing(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_chat(recorded_provider):
            first = ask(recorded_provider).text
            for _ in range(2):
                assert ask(recorded_provider.fresh()).text == first
        """
    )
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        suite.record(server).assert_outcomes(passed=1)

    replayed = suite.run("--synaptum-strict")

    replayed.assert_outcomes(passed=1)
    replayed.stdout.fnmatch_lines(["synaptum: 1 exchange replayed, 0 recorded, 0 unused; *"])
    assert server.count == 1


def test_an_agents_retries_wait_while_recording_and_not_on_replay(suite: RecordedSuite) -> None:
    suite.write(
        """
        import time
        from synaptum import Agent, Session

        def test_chat(recorded_provider):
            agent = Agent("clerk", model=recorded_provider.model)

            async def run():
                gateway = recorded_provider.gateway()
                session = Session("r1", gateway, sleep=recorded_provider.sleep)
                return [step async for step in agent.run("Hi", session=session)]

            began = time.monotonic()
            assert asyncio.run(run())[-1].output == "At last."
            (asked,) = recorded_provider.waits
            assert asked >= 2
            print("waited" if time.monotonic() - began >= asked else "went on")
        """
    )
    busy = Answer(status=503, headers=[("retry-after", "2")], body=b'{"error":{"message":"busy"}}')
    with LoopbackServer([busy, Answer(body=chat_body("At last."))]) as server:
        recorded = suite.record(server, "--synaptum-force", "-s")

    recorded.stdout.fnmatch_lines(["waited"])
    suite.run("-s").stdout.fnmatch_lines(["*went on"])
