"""A pytest run killed at any moment of recording leaves the old cassette, or the new one, whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from support.loopback import Answer, LoopbackServer, chat_stream

from pytest_synaptum.cassette.format import load_cassette

KILLS = 100

TEST = """
import asyncio
from synaptum.vocabulary import Message, Request

def test_chat(recorded_provider):
    async def main():
        for number in range(20):
            question = Message.user(f"question {number}")
            request = Request(model=recorded_provider.model_name, messages=(question,))
            async for _ in recorded_provider.stream(request):
                pass
    asyncio.run(main())
"""


def start(folder: Path, server: LoopbackServer) -> subprocess.Popen[bytes]:
    options = ["--synaptum-rerecord", f"--synaptum-base-url={server.base_url}"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    environ = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.Popen(
        [*command, "--synaptum-model=small"],
        cwd=folder,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_recording_killed_at_any_moment_leaves_a_whole_cassette(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(TEST, encoding="utf-8")
    cassette = tmp_path / "cassettes" / "test_it" / "test_chat.yaml"
    chance = random.Random(7)
    with LoopbackServer(lambda _: Answer(chunks=chat_stream())) as server:
        begun = time.monotonic()
        assert start(tmp_path, server).wait(60) == 0
        whole_run_s = time.monotonic() - begun
        died_recording = 0
        for _ in range(KILLS):
            asked = server.count
            with start(tmp_path, server) as run:
                # From the first question on: what is before it touches no cassette.
                if chance.random() < 0.8:
                    server.wait_for(lambda asked=asked: server.count > asked, 30)
                time.sleep(chance.random() * whole_run_s / 3)
                run.send_signal(signal.SIGKILL)
                died_recording += run.wait(30) == -signal.SIGKILL and server.count > asked
            assert len(load_cassette(cassette).exchanges()) == 20
    assert died_recording > KILLS / 4
