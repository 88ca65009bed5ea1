"""A run of some of the tests still tells what those tests left unused, and of no others."""

from __future__ import annotations

from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite


def test_a_selected_test_is_told_of_its_own_unused_exchange(suite: RecordedSuite) -> None:
    suite.write(
        """
        import os

        def test_one(recorded_provider):
            for word in os.environ["WORDS"].split():
                ask(recorded_provider, word)

        def test_two(recorded_provider):
            for word in os.environ["WORDS"].split():
                ask(recorded_provider, word)
        """
    )
    suite.pytester._monkeypatch.setenv("WORDS", "first second")
    with LoopbackServer(lambda _: Answer(body=chat_body())) as server:
        suite.record(server).assert_outcomes(passed=2)
    kept = suite.cassette("test_two").read_bytes()
    suite.cassette("test_gone").write_bytes(kept)
    suite.pytester._monkeypatch.setenv("WORDS", "first")

    result = suite.run("-k", "test_one")

    result.assert_outcomes(passed=1, deselected=1)
    unused = [line for line in result.outlines if line.startswith("  unused")]
    assert unused == [
        "  unused: cassettes/test_chat/test_one.yaml: exchange 2 (line 23),"
        " POST /v1/chat/completions"
    ]
    assert suite.cassette("test_two").read_bytes() == kept
    assert suite.cassette("test_gone").exists()
