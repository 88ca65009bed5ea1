"""A request that was not recorded fails, and says what is nearest and what to type."""

from __future__ import annotations

import pytest
from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

ONE_CHAT = """
import os

def test_chat(recorded_provider):
    ask(recorded_provider, os.environ["WORDS"])
"""


def recorded(suite: RecordedSuite, tests: str = ONE_CHAT, words: str = "2+2") -> None:
    suite.write(tests)
    suite.pytester._monkeypatch.setenv("WORDS", words)
    with LoopbackServer(lambda _: Answer(body=chat_body("4"))) as server:
        suite.record(server).assert_outcomes(passed=1)


def test_a_changed_prompt_never_gets_the_old_answer(suite: RecordedSuite) -> None:
    recorded(suite, words="2+2")

    suite.pytester._monkeypatch.setenv("WORDS", "3+3")
    result = suite.run()

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*test_chat.py::test_chat asked for something that its cassette does not hold:"
            " POST /v1/chat/completions",
            "*cassette: cassettes/test_chat/test_chat.yaml",
            "*nearest:  exchange 1 (line 4), POST /v1/chat/completions, not answered yet",
            "*differs:  at $.messages[[]0[]].content",
            '*recorded: "2+2"',
            '*asked:    "3+3"',
            "*to record it again: pytest --synaptum-rerecord test_chat.py::test_chat",
        ]
    )


def test_a_date_in_the_prompt_is_named_as_the_likely_cause(suite: RecordedSuite) -> None:
    recorded(suite, words="Today is 2026-11-30. Plan.")

    suite.pytester._monkeypatch.setenv("WORDS", "Today is 2026-12-01. Plan.")
    result = suite.run()

    result.stdout.fnmatch_lines(
        ['*likely:   at $.messages[[]0[]].content, a date*ignore=[[]"messages.0.content"[]]*']
    )


@pytest.mark.parametrize(
    ("names", "likely"),
    [
        ("b a c", "the same tools come in another order*offer them in a fixed order."),
        ("a b", "the tools changed ('c' is gone): record again."),
        ("a b c d", "the tools changed ('d' is new): record again."),
        ("a b C", "the tools changed ('C' is new, 'c' is gone): record again."),
    ],
)
def test_tools_that_changed_or_moved_are_named_as_the_cause(
    suite: RecordedSuite, monkeypatch: pytest.MonkeyPatch, names: str, likely: str
) -> None:
    suite.write(
        """
        import os

        def test_chat(recorded_http):
            import httpx
            tools = [
                {"type": "function", "function": {"name": name}}
                for name in os.environ["TOOLS"].split()
            ]
            with httpx.Client(verify=False) as client:
                client.post(recorded_http.base_url, json={"messages": [], "tools": tools})
        """
    )
    monkeypatch.setenv("TOOLS", "a b c")
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        suite.record(server).assert_outcomes(passed=1)
    monkeypatch.setenv("TOOLS", names)

    suite.run().stdout.fnmatch_lines([f"*likely:   {likely}"])


def test_a_request_asked_more_often_than_recorded_says_so(suite: RecordedSuite) -> None:
    recorded(
        suite,
        """
        import os
        def test_chat(recorded_provider):
            for _ in range(int(os.environ.get("TIMES", "1"))):
                ask(recorded_provider)
        """,
    )

    suite.pytester._monkeypatch.setenv("TIMES", "2")
    result = suite.run()

    result.stdout.fnmatch_lines(
        [
            "*nearest:  exchange 1 (line 4), POST /v1/chat/completions, already answered",
            "*differs:  in nothing: this request matches, but it was recorded fewer times",
        ]
    )


def test_a_mismatch_that_the_test_swallows_fails_it_all_the_same(suite: RecordedSuite) -> None:
    recorded(
        suite,
        """
        import os
        def test_chat(recorded_provider):
            try:
                ask(recorded_provider, os.environ["WORDS"])
            except Exception:
                pass
        """,
    )

    suite.pytester._monkeypatch.setenv("WORDS", "other")
    result = suite.run()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*asked for something that its cassette does not hold*"])


def test_another_model_is_named_as_the_cause(suite: RecordedSuite) -> None:
    recorded(suite)

    suite.pytester.makeconftest(
        "import pytest\n@pytest.fixture\ndef synaptum_model(): return 'large'\n"
    )
    result = suite.run()

    result.stdout.fnmatch_lines(["*likely:   another model is asked than was recorded*"])


def test_a_missing_cassette_names_the_command_that_records_it(suite: RecordedSuite) -> None:
    suite.write(
        """
        @pytest.mark.parametrize("word", ["a b"])
        def test_chat(recorded_provider, word):
            ask(recorded_provider)
        """
    )

    result = suite.run()

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "test_chat.py::test_chat[[]a b[]] has no cassette at"
            " cassettes/test_chat/test_chat-a-b-*.yaml; record it once, with a server at hand:"
            " pytest --synaptum-record 'test_chat.py::test_chat[[]a b[]]'"
        ]
    )


def test_an_unused_exchange_is_listed_and_fails_under_strict(suite: RecordedSuite) -> None:
    recorded(
        suite,
        """
        import os
        def test_chat(recorded_provider):
            ask(recorded_provider)
            if os.environ["WORDS"] == "2+2":
                ask(recorded_provider, "again")
        """,
    )
    suite.pytester._monkeypatch.setenv("WORDS", "less")

    lenient = suite.run()
    strict = suite.run("--synaptum-strict")

    lenient.assert_outcomes(passed=1)
    lenient.stdout.fnmatch_lines(
        [
            "synaptum: 1 exchange replayed, 0 recorded, 1 unused; *",
            "  unused: cassettes/test_chat/test_chat.yaml: exchange 2 (line *), POST */completions",
        ]
    )
    strict.assert_outcomes(passed=1, errors=1)
    strict.stdout.fnmatch_lines(["*test_chat did not ask for all that its cassette*exchange 2*"])


def test_strict_is_the_default_in_ci(suite: RecordedSuite) -> None:
    recorded(
        suite,
        """
        import os
        def test_chat(recorded_provider):
            if os.environ["WORDS"] == "2+2":
                ask(recorded_provider)
        """,
    )
    suite.pytester._monkeypatch.setenv("WORDS", "less")
    suite.pytester._monkeypatch.setenv("CI", "true")

    suite.run().assert_outcomes(passed=1, errors=1)


def test_a_mask_lets_ids_and_times_differ_and_nothing_else(suite: RecordedSuite) -> None:
    recorded(
        suite,
        """
        import os
        @pytest.mark.synaptum(ignore=["messages.*.content.id", "messages.*.content.at"])
        def test_chat(recorded_provider):
            ask(recorded_provider, os.environ["WORDS"])
        """,
        words='{"id":"7f3a","at":"2026-11-30T10:00:00Z","rows":3}',
    )

    suite.pytester._monkeypatch.setenv(
        "WORDS", '{"id":"91bc","at":"2026-12-01T09:00:00Z","rows":3}'
    )
    same = suite.run()
    suite.pytester._monkeypatch.setenv(
        "WORDS", '{"id":"91bc","at":"2026-12-01T09:00:00Z","rows":4}'
    )
    other = suite.run()

    same.assert_outcomes(passed=1)
    other.assert_outcomes(failed=1)
    other.stdout.fnmatch_lines(
        ["*differs:  at $.messages[[]0[]].content.rows", "*recorded: 3", "*asked:    4"]
    )


@pytest.mark.parametrize("by", ["marker", "ini", "hook"])
@pytest.mark.parametrize("prefix", ["$.", ""])
def test_the_place_that_a_mismatch_prints_can_be_ignored_as_it_stands(
    suite: RecordedSuite, by: str, prefix: str
) -> None:
    test = """
def test_chat(recorded_provider):
    import os
    ask(recorded_provider, "run " + os.environ["RUN"])
"""
    monkeypatch = suite.pytester._monkeypatch
    suite.write(test)
    monkeypatch.setenv("RUN", "a1b2")
    with LoopbackServer([Answer(body=chat_body())]) as server:
        suite.record(server).assert_outcomes(passed=1)
    monkeypatch.setenv("RUN", "c3d4")
    assert "differs:  at $.messages[0].content\n" in suite.run().stdout.str()
    place = f"{prefix}messages[0].content"

    if by == "marker":
        suite.write(f"@pytest.mark.synaptum(ignore=[{place!r}]){test}")
    elif by == "ini":
        ini = suite.pytester.path / "tox.ini"
        ini.write_text(f"{ini.read_text('utf-8')}\nsynaptum_ignore = {place}\n", "utf-8")
    else:
        hook = f"def pytest_synaptum_volatile(config):\n    return [{place!r}]\n"
        suite.pytester.makeconftest(hook)

    suite.run("--synaptum-strict").assert_outcomes(passed=1)


@pytest.mark.parametrize("by", ["marker", "ini", "hook"])
def test_what_is_no_path_is_told_with_where_it_stands(suite: RecordedSuite, by: str) -> None:
    test = "def test_chat(recorded_provider):\n    ask(recorded_provider)\n"
    suite.write(test)
    with LoopbackServer([Answer(body=chat_body())]) as server:
        suite.record(server).assert_outcomes(passed=1)
    if by == "marker":
        where = "test_chat.py::test_chat: in the marker's ignore="
        suite.write(f"@pytest.mark.synaptum(ignore=['messages[x]'])\n{test}")
    elif by == "ini":
        where = "In the ini setting synaptum_ignore"
        ini = suite.pytester.path / "tox.ini"
        ini.write_text(f"{ini.read_text('utf-8')}\nsynaptum_ignore = messages[x]\n", "utf-8")
    else:
        where = "In the hook pytest_synaptum_volatile"
        hook = "def pytest_synaptum_volatile(config):\n    return ['messages[x]']\n"
        suite.pytester.makeconftest(hook)

    replayed = suite.run()
    with LoopbackServer() as server:
        recorded = suite.record(server, flag="--synaptum-rerecord")

    told = f"{where}: The path 'messages[x]' is not readable; write it as choices.*.id, a[0].b"
    for result in (replayed, recorded):
        assert result.ret == (1 if by == "hook" else pytest.ExitCode.USAGE_ERROR)
        assert told in result.stdout.str() + result.stderr.str()
    assert server.requests == []


def test_a_mask_that_matches_nothing_is_an_error_while_recording_and_on_replay(
    suite: RecordedSuite,
) -> None:
    suite.write(
        """
        @pytest.mark.synaptum(ignore="messages.*.tool_call_id")
        def test_chat(recorded_provider):
            ask(recorded_provider)
        """
    )
    with LoopbackServer([Answer(body=chat_body())]) as server:
        recording = suite.record(server)
    replay = suite.run()

    for result in (recording, replay):
        result.assert_outcomes(passed=1, errors=1)
        result.stdout.fnmatch_lines(
            ["test_chat.py::test_chat ignores 'messages.[*].tool_call_id', but no request has any*"]
        )


def test_equal_requests_are_answered_in_the_recorded_order(suite: RecordedSuite) -> None:
    suite.write(
        """
        def test_chat(recorded_provider):
            answers = [ask(recorded_provider).text for _ in range(3)]
            assert answers == ["one", "two", "two"]
        """
    )
    answers = [Answer(body=chat_body(word)) for word in ("one", "two", "two")]
    with LoopbackServer(answers) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.run("--synaptum-strict").assert_outcomes(passed=1)


def test_different_requests_are_answered_in_any_order_from_many_tasks(suite: RecordedSuite) -> None:
    suite.write(
        """
        import os, random

        def test_chat(recorded_provider):
            words = [f"word {number}" for number in range(40)]
            if "SHUFFLE" in os.environ:
                words.reverse()

            async def one(word):
                request = question(recorded_provider, word)
                return (await recorded_provider.complete(request)).text

            async def main():
                return await asyncio.gather(*map(one, words))

            assert asyncio.run(main()) == [word.upper() for word in words]
        """
    )

    def shout(received: object) -> Answer:
        return Answer(body=chat_body(received.json()["messages"][0]["content"].upper()))  # type: ignore[attr-defined]

    with LoopbackServer(shout) as server:
        suite.record(server).assert_outcomes(passed=1)
    suite.pytester._monkeypatch.setenv("SHUFFLE", "1")

    suite.run("--synaptum-strict").assert_outcomes(passed=1)
