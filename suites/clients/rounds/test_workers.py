"""A suite recorded by four workers of xdist has the files of one recorded by one process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from support.loopback import Answer, LoopbackServer, Received, chat_body, chat_stream

SUITE = """
import asyncio
import pytest
from synaptum.vocabulary import Message, Request

@pytest.mark.parametrize("number", range(24))
def test_chat(recorded_provider, number):
    async def main():
        question = Message.user(f"question {number}")
        request = Request(model=recorded_provider.model_name, messages=(question,))
        await recorded_provider.complete(request)
        async for _ in recorded_provider.stream(request):
            pass
    asyncio.run(main())
"""


def answer(received: Received) -> Answer:
    question = received.json()["messages"][-1]["content"]
    if received.json().get("stream"):
        return Answer(chunks=chat_stream((question, "!")), delay_s=0.01)
    return Answer(body=chat_body(question.upper()))


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    environ = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )


def without_times(text: str) -> str:
    return re.sub(r"(?ms)^recorded: .*?$|^timings:.*", "", text)


def files(folder: Path) -> dict[str, str]:
    found = sorted((folder / "cassettes").rglob("*"))
    return {one.name: without_times(one.read_text("utf-8")) for one in found if one.is_file()}


def test_four_workers_write_and_read_the_files_of_one_process(tmp_path: Path) -> None:
    ways = {"serial": [], "workers": ["-n", "4"], "again": ["-n", "4"]}
    with LoopbackServer(answer) as server:
        live = [f"--synaptum-base-url={server.base_url}", "--synaptum-model=small"]
        for name, options in ways.items():
            folder = tmp_path / name
            folder.mkdir()
            (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
            (folder / "test_it.py").write_text(SUITE, encoding="utf-8")
            recorded = run(folder, "--synaptum-record", *live, *options)
            assert recorded.returncode == 0, recorded.stdout
        asked = server.count
        for name in ways:
            for options in ([], ["-n", "4"]):
                replayed = run(tmp_path / name, "--synaptum-strict", *options)
                assert replayed.returncode == 0, replayed.stdout
                assert "48 exchanges replayed, 0 recorded, 0 unused" in replayed.stdout
        assert server.count == asked

    assert len(files(tmp_path / "serial")) == 24
    assert files(tmp_path / "workers") == files(tmp_path / "serial")
    assert files(tmp_path / "again") == files(tmp_path / "serial")
