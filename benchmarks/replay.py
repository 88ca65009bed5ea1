"""Replaying recorded chats: recorded_provider against pytest-recording, as a ratio.

    python benchmarks/replay.py [chats]

Both suites make the same chats (200 by default) in one test, first recorded from a loopback
server that this script starts, then replayed with the server gone. Each times its own loop,
so that start-up does not count; the runs alternate and the best of each counts. The peer
asks with httpx, and matches as it does by default, without looking at bodies, which is its
fastest way (with bodies it compares each request with every recorded one). A ratio below 1
says that recorded_provider is faster.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROUNDS = 5

OURS = """
import asyncio, time
from synaptum.vocabulary import Message, Request

def test_chats(recorded_provider):
    async def main():
        for number in range({chats}):
            request = Request(
                model=recorded_provider.model_name,
                messages=(Message.user(f"question {{number}}"),),
            )
            response = await recorded_provider.complete(request)
            assert response.text == f"answer to question {{number}}"
    begin = time.perf_counter()
    asyncio.run(main())
    print("SECONDS", time.perf_counter() - begin)
"""

THEIRS = """
import time
import httpx, pytest

@pytest.mark.vcr
def test_chats():
    begin = time.perf_counter()
    with httpx.Client(verify=False) as client:
        for number in range({chats}):
            question = {{"role": "user", "content": f"question {{number}}"}}
            body = {{"model": "small", "messages": [question]}}
            answer = client.post("{base_url}/chat/completions", json=body).json()
            text = answer["choices"][0]["message"]["content"]
            assert text == f"answer to question {{number}}"
    print("SECONDS", time.perf_counter() - begin)
"""


class Chat(BaseHTTPRequestHandler):
    """Answers a chat with its question."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": "answer to " + body["messages"][-1]["content"]}
        answer = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": "small",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Quiet."""


def run(folder: Path, *options: str) -> float:
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *options]
    environ = {name: value for name, value in os.environ.items() if name != "CI"}
    result = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    found = re.search(r"SECONDS ([0-9.]+)", result.stdout)
    if result.returncode or found is None:
        sys.exit(f"the benchmark's own suite failed:\n{result.stdout}{result.stderr}")
    return float(found.group(1))


def main() -> None:
    chats = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    with tempfile.TemporaryDirectory() as name:
        ours, theirs = Path(name, "ours"), Path(name, "theirs")
        for folder, text in ((ours, OURS), (theirs, THEIRS)):
            folder.mkdir()
            (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
            test = text.format(chats=chats, base_url=base_url)
            (folder / "test_chats.py").write_text(test, encoding="utf-8")
        live = ["--synaptum-record", f"--synaptum-base-url={base_url}", "--synaptum-model=small"]
        run(ours, *live)
        run(theirs, "--record-mode=once", "-o", "synaptum_allow_network=true")
        server.shutdown()
        server.server_close()
        times = [(run(ours), run(theirs, "--record-mode=none")) for _ in range(ROUNDS)]
    mine, peer = (min(column) for column in zip(*times, strict=True))
    print(f"{chats} recorded chats, best of {ROUNDS} runs each, alternating")
    print(f"recorded_provider  {1000 * mine / chats:6.2f} ms a chat")
    print(f"pytest-recording   {1000 * peer / chats:6.2f} ms a chat (httpx)")
    print(f"ratio              {mine / peer:6.2f}")


if __name__ == "__main__":
    main()
