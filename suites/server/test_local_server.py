"""The embedded server, really started: needs the extra `local` and the small model."""

import json
import os
import select
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_synaptum.local_server import LocalServer, LocalServerError


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer() as running:
        yield running


def ask(server: LocalServer, **body: Any) -> dict[str, Any]:
    body = {"model": server.alias, "temperature": 0, "seed": 42, "max_tokens": 24, **body}
    request = urllib.request.Request(
        f"{server.base_url}/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        decoded: dict[str, Any] = json.load(answer)
        return decoded


def question(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_it_answers_under_a_name_without_a_path(server: LocalServer) -> None:
    answer = ask(server, messages=question("What is the capital of France?"))

    assert answer["model"] == "smollm2-135m"
    assert "Paris" in answer["choices"][0]["message"]["content"]


def test_two_fresh_servers_give_the_same_answer() -> None:
    answers = []
    for _ in range(2):
        with LocalServer(template=None) as fresh:
            answers.append(ask(fresh, messages=question("Name three colours.")))

    first, second = (a["choices"][0]["message"]["content"] for a in answers)
    assert first == second
    assert answers[0]["usage"] == answers[1]["usage"]


def test_after_the_block_nobody_listens() -> None:
    with LocalServer() as short:
        address = f"{short.base_url}/models"
        assert urllib.request.urlopen(address, timeout=10).status == 200

    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(address, timeout=10)


def test_a_file_that_is_no_model_fails_with_the_end_of_the_log(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and then nothing of use")

    with pytest.raises(LocalServerError, match=r"ended with status .* while starting") as caught:
        LocalServer(broken).start()

    assert "loading" in str(caught.value)


def test_it_ends_when_its_parent_is_killed() -> None:
    script = (
        "from pytest_synaptum.local_server import LocalServer\n"
        "s = LocalServer().start()\n"
        "print(s._process.pid, flush=True)\n"
        "input()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    child_end = os.pidfd_open(child)

    parent.send_signal(signal.SIGKILL)
    parent.wait()

    readable, _, _ = select.select([child_end], [], [], 10.0)
    os.close(child_end)
    parent.stdin.close()
    parent.stdout.close()
    assert readable == [child_end]


def test_without_a_prompt_cache_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    with LocalServer(template=None, cache_prompt=False) as fresh:
        answers = [ask(fresh, messages=question("Name three colours.")) for _ in range(2)]

    assert [a["usage"]["prompt_tokens_details"]["cached_tokens"] for a in answers] == [0, 0]
