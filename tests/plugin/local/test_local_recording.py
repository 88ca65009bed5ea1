"""What `--synaptum-server=local` puts into a cassette: what the test asked, and nothing else."""

from __future__ import annotations

from support.recorded_suite import RecordedSuite

ASKS = """
import json, urllib.request

def test_asks(recorded_http):
    body = json.dumps({"model": recorded_http.model, "messages": []}).encode()
    url = recorded_http.base_url + "/chat/completions"
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        answer.read()
"""


def test_the_polls_of_the_plugin_are_in_no_cassette(fake_server_suite: RecordedSuite) -> None:
    suite = fake_server_suite
    suite.write(ASKS)

    suite.run("--synaptum-record", "--synaptum-server=local").assert_outcomes(passed=1)

    text = suite.cassette("test_asks").read_text(encoding="utf-8")
    assert text.count("- about: ") == 1
    assert "/health" not in text
    suite.run("--synaptum-strict").assert_outcomes(passed=1)


def test_a_server_can_be_started_in_a_test_that_replays(fake_server_suite: RecordedSuite) -> None:
    suite = fake_server_suite
    suite.write(ASKS)
    suite.run("--synaptum-record", "--synaptum-server=local").assert_outcomes(passed=1)
    started = """
        import os
        from pytest_synaptum.local_server import LocalServer
        with LocalServer(os.environ["SYNAPTUM_MODEL"]):
            pass
    """.replace("\n        ", "\n    ")
    suite.write(ASKS + started)

    suite.run("--synaptum-strict").assert_outcomes(passed=1)
