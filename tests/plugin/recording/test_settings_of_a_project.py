"""What a project adds by hooks and ini: volatile places, and header fields that are kept."""

from __future__ import annotations

from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

TEST = """
import os

def test_chat(recorded_http):
    import httpx
    with httpx.Client(verify=False) as client:
        body = {"metadata": {"run": os.environ["RUN"]}, "messages": []}
        answer = client.post(f"{recorded_http.base_url}/chat/completions", json=body)
    print(dict(answer.headers))
"""


def test_a_hook_names_places_that_change_from_run_to_run(suite: RecordedSuite, monkeypatch) -> None:
    suite.write(TEST)
    suite.pytester.makeconftest(
        "def pytest_synaptum_volatile(config):\n    return ['metadata.run']\n"
    )
    monkeypatch.setenv("RUN", "one")
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        suite.record(server).assert_outcomes(passed=1)

    monkeypatch.setenv("RUN", "two")
    suite.run("--synaptum-strict").assert_outcomes(passed=1)


def test_header_fields_are_kept_by_allow_list_and_by_ini(suite: RecordedSuite, monkeypatch) -> None:
    monkeypatch.setenv("RUN", "one")
    suite.write(TEST)
    ini = suite.pytester.path / "tox.ini"
    ini.write_text(ini.read_text("utf-8") + "\nsynaptum_keep_headers = X-Shard\n", "utf-8")
    headers = (("x-shard", "blue"), ("x-cluster", "red"), ("set-cookie", "sid=1"))
    with LoopbackServer([Answer(body=chat_body("Hello."), headers=headers)]) as server:
        suite.record(server).assert_outcomes(passed=1)

    text = suite.cassette("test_chat").read_text(encoding="utf-8")
    assert "x-shard: blue" in text
    assert "x-cluster" not in text
    assert "sid=1" not in text
