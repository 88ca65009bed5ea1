"""Redirects to another origin: what a client sends there is its own affair, and kept as it is."""

from __future__ import annotations

import pytest
from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

KEY = "my-own-credential-81"

ASKS = {
    "httpx": """
                with httpx.Client(verify=False, follow_redirects=True, headers=HEADERS) as client:
                    return client.post(URL, json=BODY).json()
    """,
    "openai": """
                with openai.OpenAI(base_url=BASE, api_key=KEY) as client:
                    answer = client.chat.completions.create(model="m", messages=BODY["messages"])
                    return answer.model_dump()
    """,
    "requests": """
                with requests.Session() as session:
                    session.trust_env = False
                    return session.post(URL, json=BODY, headers=HEADERS, timeout=10).json()
    """,
}


@pytest.mark.parametrize("client", ASKS)
def test_a_redirect_to_another_origin_carries_no_credentials(
    suite: RecordedSuite, client: str
) -> None:
    with (
        LoopbackServer([Answer(body=chat_body("Hello."))]) as other,
        LoopbackServer(
            [Answer(status=307, headers=[("location", f"{other.base_url}/moved")], body=b"")]
        ) as server,
    ):
        suite.write(
            f"""
            import httpx, openai, requests
            KEY = "{KEY}"
            BASE = "{server.base_url}"
            URL = BASE + "/chat/completions"
            HEADERS = {{"authorization": f"Bearer {{KEY}}"}}
            BODY = {{"model": "m", "messages": [{{"role": "user", "content": "Hi"}}]}}
            def answer():
{ASKS[client]}
            def test_chat(recorded_http):
                assert answer()["choices"][0]["message"]["content"] == "Hello."
                assert [e.response.status for e in recorded_http.exchanges] == [307, 200]
                assert [e.request.path for e in recorded_http.exchanges] == [
                    "/v1/chat/completions", "/v1/moved"
                ]
            """
        )
        recorded = suite.run("--synaptum-record")
    replayed = suite.run("--synaptum-strict")

    recorded.assert_outcomes(passed=1)
    replayed.assert_outcomes(passed=1)
    assert (server.count, other.count) == (1, 1)
    assert server.requests[0].header("authorization") == f"Bearer {KEY}"
    assert other.requests[0].header("authorization") is None
    assert KEY not in suite.cassette("test_chat").read_text(encoding="utf-8")


def test_a_client_that_carries_its_key_along_leaves_it_in_no_cassette(
    suite: RecordedSuite,
) -> None:
    """`urllib` sends the header to wherever it is led; the live server sees what it sends."""
    with (
        LoopbackServer([Answer(body=chat_body(f"You said {KEY}."))]) as other,
        LoopbackServer(
            [
                Answer(
                    status=302,
                    headers=[("location", f"{other.base_url}/moved?key={KEY}")],
                    body=b"",
                )
            ]
        ) as server,
    ):
        suite.write(
            f"""
            import json, urllib.request
            def test_chat(recorded_http):
                opener = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
                request = urllib.request.Request(
                    "{server.base_url}/start", headers={{"authorization": "Bearer {KEY}"}}
                )
                with opener.open(request, timeout=10) as answer:
                    assert json.load(answer)["model"]
                assert [e.response.status for e in recorded_http.exchanges] == [302, 200]
            """
        )
        recorded = suite.run("--synaptum-record")
    replayed = suite.run("--synaptum-strict")

    recorded.assert_outcomes(passed=1)
    replayed.assert_outcomes(passed=1)
    assert other.requests[0].header("authorization") == f"Bearer {KEY}"
    assert KEY not in suite.cassette("test_chat").read_text(encoding="utf-8")
