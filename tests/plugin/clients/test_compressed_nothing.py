"""An empty answer that is announced as compressed is recorded, and replayed as an empty one."""

from __future__ import annotations

from support.loopback import Answer, LoopbackServer
from support.recorded_suite import RecordedSuite


def test_an_empty_compressed_answer_is_an_empty_answer(suite: RecordedSuite) -> None:
    suite.write(
        """
        import urllib.request

        import httpx

        def test_chat(recorded_http):
            url = recorded_http.base_url + "/chat/completions"
            assert httpx.post(url, json={"n": 1}).content == b""
            assert httpx.delete(url).status_code == 204
            request = urllib.request.Request(url, b"{}", {"accept-encoding": "gzip"})
            with urllib.request.urlopen(request) as answer:
                assert answer.read() == b""
        """
    )
    with LoopbackServer(
        lambda request: Answer(
            204 if request.method == "DELETE" else 200,
            headers=[("content-encoding", "gzip")],
            body=b"",
        )
    ) as server:
        suite.record(server).assert_outcomes(passed=1)

    suite.run("--synaptum-strict").assert_outcomes(passed=1)
    assert "gzip" not in suite.cassette("test_chat").read_text(encoding="utf-8")
