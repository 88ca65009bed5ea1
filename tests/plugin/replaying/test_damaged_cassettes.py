"""A cassette that was damaged, by hand or by a merge, is one sentence: the file and the place."""

from __future__ import annotations

import pytest
from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

ASKING = """
def test_chat(recorded_provider):
    ask(recorded_provider, "first")
    ask(recorded_provider, "second")
"""
SWALLOWING = """
def test_chat(recorded_http):
    import urllib.request
    for text in ("first", "second"):
        body = '{"model":"small","messages":[{"role":"user","content":"%s"}]}' % text
        try:
            url = recorded_http.base_url + "/chat/completions"
            with urllib.request.urlopen(url, body.encode()) as answer:
                answer.read()
        except Exception:
            pass
"""


def damaged(suite: RecordedSuite, tests: str, old: str, new: str) -> pytest.RunResult:
    suite.write(tests)
    answers = [Answer(body=chat_body(text)) for text in ("one", "two")]
    with LoopbackServer(answers) as server:
        suite.record(server).assert_outcomes(passed=1)
    path = suite.cassette("test_chat")
    before, last = path.read_text(encoding="utf-8").rsplit("- about:", 1)
    assert old in last
    path.write_text(f"{before}- about:{last.replace(old, new, 1)}", encoding="utf-8")
    return suite.run()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("    status: 200", "    status: 20", "response.status is 20, not an HTTP status"),
        ('"index": 0,', '"index": 0', "response.json is not JSON: *"),
        ("  response:", "  answer:", "unknown key 'answer'"),
    ],
)
def test_damage_is_one_sentence_without_a_traceback(
    suite: RecordedSuite, old: str, new: str, says: str
) -> None:
    result = damaged(suite, ASKING, old, new)

    assert result.ret == 1
    line = f"cassettes/test_chat/test_chat.yaml: exchange 2 (line *), {says}; restore it from *"
    result.stdout.fnmatch_lines([line])
    for trace in ("Traceback", "test_chat.py:[0-9]", ">  "):
        result.stdout.no_re_match_line(f".*{trace}.*")
    assert len([one for one in result.outlines if "restore it from version control" in one]) == 1


def test_damage_that_a_client_swallowed_fails_the_test_all_the_same(suite: RecordedSuite) -> None:
    result = damaged(suite, SWALLOWING, "    status: 200", "    status: 20")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["cassettes/test_chat/test_chat.yaml: exchange 2 (line *), response.status is 20, *"]
    )


def test_damage_in_an_exchange_that_nobody_asks_for_does_no_harm(suite: RecordedSuite) -> None:
    damaged(suite, ASKING, "    status: 200", "    status: 20")
    suite.write(ASKING.replace('    ask(recorded_provider, "second")\n', ""))

    suite.run().assert_outcomes(passed=1)
