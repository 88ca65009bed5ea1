"""What pytest says about a failed test shows no secret, however much of it is asked for."""

from __future__ import annotations

import base64

import pytest
from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

KEY = "quagga-okapi-0123456789"

TEST = """
import base64, logging, os

def test_chat(recorded_provider):
    key = os.environ["SYNAPTUM_API_KEY"]
    basic = base64.b64encode(f"user:{key}".encode()).decode()
    long = "x" * 60 + key + "y" * 60
    logging.getLogger("client").warning("GET /v1/models?key=%s", key)
    print(key)
    asyncio.run(recorded_provider.complete(question(recorded_provider, os.environ["WORDS"] + key)))
"""


@pytest.fixture
def recorded(suite: RecordedSuite, monkeypatch: pytest.MonkeyPatch) -> RecordedSuite:
    monkeypatch.setenv("SYNAPTUM_API_KEY", KEY)
    monkeypatch.setenv("WORDS", "one")
    suite.write(TEST)
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        suite.record(server).assert_outcomes(passed=1)
    monkeypatch.setenv("WORDS", "two")
    return suite


@pytest.mark.parametrize(
    "options",
    [
        ["-vv", "--showlocals"],
        ["--tb=long", "--showlocals"],
        ["--tb=native"],
        ["--full-trace"],
        ["-n1", "-vv", "--showlocals"],
        ["--junitxml=report.xml", "-vv", "--showlocals", "-o", "junit_logging=all"],
    ],
    ids=" ".join,
)
def test_a_failure_shows_no_key(recorded: RecordedSuite, options: list[str]) -> None:
    result = recorded.run(*options)

    result.assert_outcomes(failed=1)
    page = recorded.pytester.path / "report.xml"
    shown = result.stdout.str() + result.stderr.str()
    shown += page.read_text(encoding="utf-8") if page.exists() else ""
    assert "asked for something that its cassette does not hold" in shown
    assert "REDACTED-KEY" in shown
    assert KEY not in shown
    assert base64.b64encode(f"user:{KEY}".encode()).decode() not in shown
