"""A recorded test that asks nothing tests nothing: it has no cassette, and it fails."""

from __future__ import annotations

import pytest
from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

FORGOTTEN = """
@pytest.mark.filterwarnings("ignore")
def test_chat(recorded_provider):
    recorded_provider.complete(question(recorded_provider))
"""
ASKING = """
def test_chat(recorded_provider):
    ask(recorded_provider)
"""
NOTHING = (
    "test_chat.py::test_chat recorded nothing, so cassettes/test_chat/test_chat.yaml is not"
    " written: did the test forget an await, or not use the fixture? *HttpModel(*"
)


def record(suite: RecordedSuite, tests: str, flag: str = "--synaptum-record") -> pytest.RunResult:
    suite.write(tests)
    with LoopbackServer(lambda _: Answer(body=chat_body("Hello."))) as server:
        return suite.record(server, flag=flag)


def test_a_forgotten_await_records_nothing_and_fails(suite: RecordedSuite) -> None:
    result = record(suite, FORGOTTEN)

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [NOTHING, "  not written: cassettes/test_chat/test_chat.yaml: the test asked nothing"]
    )
    assert not suite.cassette("test_chat").exists()


def test_what_was_recorded_before_stands(suite: RecordedSuite) -> None:
    record(suite, ASKING).assert_outcomes(passed=1)
    before = suite.cassette("test_chat").read_bytes()

    result = record(suite, FORGOTTEN, "--synaptum-rerecord")

    result.stdout.fnmatch_lines([NOTHING])
    assert suite.cassette("test_chat").read_bytes() == before


def test_a_cassette_without_an_exchange_is_not_green_either(suite: RecordedSuite) -> None:
    suite.write(FORGOTTEN)
    suite.cassette("test_chat").parent.mkdir(parents=True)
    empty = "synaptum: cassette/1\nrecorded: {model: small}\nexchanges: []\ntimings: []\n"
    suite.cassette("test_chat").write_text(empty, encoding="utf-8")

    result = suite.run()

    assert result.ret == 1
    result.stdout.fnmatch_lines(["*replayed nothing, since cassettes/*.yaml holds no exchange; *"])


def test_a_test_that_is_expected_to_fail_may_fail_before_it_asks(suite: RecordedSuite) -> None:
    tests = "@pytest.mark.xfail\ndef test_chat(recorded_provider):\n    assert False\n"

    result = record(suite, tests)

    result.assert_outcomes(xfailed=1)
    assert not suite.cassette("test_chat").exists()
    suite.run().assert_outcomes(xfailed=1)


def test_a_test_that_rightly_asks_nothing_has_a_model_of_its_own(suite: RecordedSuite) -> None:
    suite.write(
        """
        import os
        from synaptum import HttpModel

        def test_chat():
            model = HttpModel("http://nowhere.invalid")
            if "ASK" in os.environ:
                asyncio.run(model.complete(Request("small", (Message.user("Hi"),))))
        """
    )

    suite.run().assert_outcomes(passed=1)

    suite.pytester._monkeypatch.setenv("ASK", "1")
    suite.run().stdout.fnmatch_lines(["*test_chat opened a connection to nowhere.invalid*"])
