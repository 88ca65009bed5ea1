"""What replaying costs: against the bare openai SDK, and against pytest-recording.

    python benchmarks/replay.py

Read the ratios, all of one run on one machine. Times are processor time and the arms take turns;
what an arm adds is the median of its differences from the floor of the same turn, so that a
machine that is busy, or slower for a while, does not bend them.

1. A replayed exchange: the same call of the openai SDK over its library's mock transport (the
   floor), through `recorded_http`, and through pytest-recording, which matches as it does by
   default, without looking at bodies, its fastest way. `recorded_provider` has no SDK in it.
2. A stream of 2,000 events, each its own chunk, likewise.
3. Loading a cassette of 10 MB until the first request can be answered, and with every answer
   built, against pytest-recording's loading of its own file of the same exchanges.
4. A run of pytest with one empty test, with the plugin and with `-p no:synaptum`, in fresh
   processes that take turns; medians. Noise is the spread (quartiles) of the runs without it.

Everything is recorded first, by each recorder itself, from a loopback server that is gone when
the replays begin.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points
from pathlib import Path

CALLS = 20
EVENTS = 2000
TURNS = (41, 7)  # of exchanges, of streams
LARGE = (100, 100_000)  # exchanges, bytes of each
STARTS = 12

SUITE = """
import asyncio, gc, itertools, json, os, sys, time
from pathlib import Path
import openai, pytest
from pytest_synaptum.cassette.format import load_cassette
from synaptum.vocabulary import Message, Request

URL, CALLS, EVENTS = os.environ["BENCH_URL"], int(os.environ["CALLS"]), int(os.environ["EVENTS"])
LIBRARY = sys.modules[openai.DefaultHttpxClient.__bases__[0].__module__.partition(".")[0]]
HERE = Path(__file__).parent
RESULTS = HERE / "results"

def params():
    for turn in range(int(os.environ["TURNS"])):
        for name in os.environ["ARMS"].split():
            what, _, arm = name.partition("-")
            marks = []
            if arm in ("http", "provider"):
                marks = [pytest.mark.synaptum(cassette=name)]
            if arm == "peer":
                marks = [pytest.mark.vcr, pytest.mark.default_cassette(name + ".yaml")]
            yield pytest.param(what, arm, marks=marks, id=f"{turn}-{name}")

class Chunks(LIBRARY.SyncByteStream):
    def __init__(self, chunks):
        self.chunks = chunks
    def __iter__(self):
        return iter(self.chunks)

def floor(what):
    exchanges = load_cassette(HERE / "cassettes" / f"{what}-http.yaml").exchanges()
    answers = itertools.cycle([exchange.response for exchange in exchanges])
    def handle(request):
        answer = next(answers)
        return LIBRARY.Response(
            answer.status, headers=list(answer.headers), stream=Chunks(answer.chunks)
        )
    return LIBRARY.Client(transport=LIBRARY.MockTransport(handle))

def whole(client):
    for number in range(CALLS):
        question = {"role": "user", "content": f"question {number}"}
        answer = client.chat.completions.create(model="small", messages=[question])
        assert answer.choices[0].message.content == f"answer to question {number}"

def stream(client):
    question = {"role": "user", "content": "question"}
    chunks = client.chat.completions.create(model="small", messages=[question], stream=True)
    assert sum(1 for _ in chunks) == EVENTS

def large(client):
    count, size = json.loads(os.environ["LARGE"])
    for number in range(count):
        question = {"role": "user", "content": f"large {number} {size}"}
        client.chat.completions.create(model="small", messages=[question])

async def provided(provider):
    for number in range(CALLS):
        messages = (Message.user(f"question {number}"),)
        answer = await provider.complete(Request(model="small", messages=messages))
        assert answer.text == f"answer to question {number}"

@pytest.mark.parametrize(("what", "arm"), params())
def test_it(request, what, arm):
    if arm == "provider":
        provider = request.getfixturevalue("recorded_provider")
        call = lambda: asyncio.run(provided(provider))
    else:
        if arm == "http":
            request.getfixturevalue("recorded_http")
        http_client = floor(what) if arm == "floor" else None
        client = openai.OpenAI(base_url=URL, api_key="nobody", http_client=http_client)
        call = lambda: {"whole": whole, "stream": stream, "large": large}[what](client)
    gc.collect()
    gc.disable()
    begin = time.process_time()
    call()
    took = time.process_time() - begin
    gc.enable()
    with RESULTS.open("a") as file:
        file.write(json.dumps([f"{what}-{arm}", took]) + "\\n")
"""

TEXT = 'He said "one, two", and left.\nThen nothing happened for a while: ünïcode, <tags> & more. '


class Chat(BaseHTTPRequestHandler):
    """Answers a chat with its question, in one piece, as a stream, or at length."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        question = body["messages"][-1]["content"]
        self.send_response(200)
        if body.get("stream"):
            self.stream()
            return
        text = f"answer to {question}"
        if question.startswith("large"):
            text = (TEXT * (int(question.split()[-1]) // len(TEXT) + 1))[
                : int(question.split()[-1])
            ]
        answer = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": "small",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
        }
        data = json.dumps(answer, ensure_ascii=False).encode()
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self) -> None:
        """An answer in events, one HTTP chunk each."""
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number in range(EVENTS):
            chunk = {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1700000000,
                "model": "small",
                "choices": [
                    {"index": 0, "delta": {"content": f" word{number}"}, "finish_reason": None}
                ],
            }
            self.chunk(f"data: {json.dumps(chunk)}\n\n".encode())
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def chunk(self, data: bytes) -> None:
        """One HTTP chunk."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *_: object) -> None:
        """Quiet."""


def run(folder: Path, base_url: str, arms: str, turns: int, *options: str) -> None:
    """Run the suite, which leaves what it measured in its folder."""
    environ = {name: value for name, value in os.environ.items() if name != "CI"}
    environ |= {"BENCH_URL": base_url, "ARMS": arms, "TURNS": str(turns)}
    environ |= {"CALLS": str(CALLS), "EVENTS": str(EVENTS), "LARGE": json.dumps(LARGE)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    result = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    if result.returncode:
        sys.exit(f"the benchmark's own suite failed:\n{result.stdout[-4000:]}{result.stderr}")


def record(folder: Path) -> str:
    """Record every arm from a server that is gone afterwards; its base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    live = ["--synaptum-record", f"--synaptum-base-url={base_url}", "--synaptum-model=small"]
    run(folder, base_url, "whole-http whole-provider stream-http large-http", 1, *live)
    peer = ("--record-mode=once", "-o", "synaptum_allow_network=true")
    run(folder, base_url, "whole-peer stream-peer large-peer", 1, *peer)
    server.shutdown()
    server.server_close()
    (folder / "results").unlink()
    return base_url


def replay(folder: Path, base_url: str) -> dict[str, float]:
    """Processor seconds of each arm: the floor's median, and the others' distance from it."""
    for what, turns in zip(("whole", "stream"), TURNS, strict=True):
        arms = [f"{what}-{arm}" for arm in ("floor", "http", "peer")]
        arms += ["whole-provider"] if what == "whole" else []
        run(folder, base_url, " ".join(arms), turns, "--record-mode=none")
    turns_of: dict[str, list[float]] = {}
    for line in (folder / "results").read_text(encoding="utf-8").splitlines():
        name, seconds = json.loads(line)
        turns_of.setdefault(name, []).append(seconds)
    seconds_of: dict[str, float] = {}
    for name, times in turns_of.items():
        floors = turns_of[f"{name.partition('-')[0]}-floor"]
        typical = statistics.median(floors)
        beyond = statistics.median(t - f for t, f in zip(times, floors, strict=True))
        seconds_of[name] = typical + beyond
    return seconds_of


def load(folder: Path) -> dict[str, float]:
    """The best processor seconds of loading 10 MB, each in its own form."""
    from vcr.persisters.filesystem import FilesystemPersister
    from vcr.serializers import yamlserializer

    from pytest_synaptum.cassette.format import load_cassette
    from pytest_synaptum.cassette.match import Matcher
    from pytest_synaptum.cassette.player import Player
    from pytest_synaptum.redact import Redactor

    path = folder / "cassettes" / "large-http.yaml"
    their = folder / "cassettes" / "test_replay" / "large-peer.yaml"

    def ours() -> Player:
        return Player(load_cassette(path), Matcher(), Redactor(), test="t", command="c")

    def built() -> object:
        return ours().cassette.exchanges()

    def peer() -> object:
        return FilesystemPersister.load_cassette(their, yamlserializer)

    calls: dict[str, Callable[[], object]] = {"ours": ours, "built": built, "peer": peer}
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(3):
        for name, call in calls.items():
            begin = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - begin)
    best["megabytes"] = path.stat().st_size / 1e6
    return best


def start(folder: Path) -> dict[str, list[float]]:
    """Processor seconds of runs of pytest with one empty test."""
    (folder / "test_empty.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
    # Whatever else is installed would hide what we add.
    others = {entry.name for entry in entry_points(group="pytest11")} - {"synaptum"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_empty.py"]
    command += [f"-pno:{name}" for name in sorted(others)]
    # Compiled once, as with any user, and not into the checkout.
    environ = os.environ | {"PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    times: dict[str, list[float]] = {"-pno:synaptum": [], "-pno:nothing": []}
    for turn in range(STARTS + 1):
        for option, took in times.items():
            child = subprocess.Popen(
                [*command, option], cwd=folder, env=environ, stdout=subprocess.DEVNULL
            )
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                sys.exit(f"an empty run of pytest ended with {child.returncode}")
            if turn:  # the first one compiles
                took.append(used.ru_utime + used.ru_stime)
    return times


def row(what: str, value: str, aim: str = "", met: bool | None = None) -> None:
    """A line of the table."""
    print(f"{what:46} {value:>34}  {aim:22} {'' if met is None else 'met' if met else 'MISSED'}")


def main() -> None:
    """Record, replay, and print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (folder / "test_replay.py").write_text(SUITE, encoding="utf-8")
        best = replay(folder, record(folder))
        loading = load(folder)
        starts = start(folder)
    row("", "measured", "aim")
    floor = best["whole-floor"]
    added, peer = best["whole-http"] - floor, best["whole-peer"] - floor
    row("an exchange: the SDK on a mock transport", f"{1000 * floor / CALLS:.2f} ms")
    row("  pytest-recording adds", f"{1000 * peer / CALLS:.2f} ms")
    row(
        "  recorded_http adds",
        f"{1000 * added / CALLS:.2f} ms, {added / peer:.2f} of theirs",
        "under 0.33 of theirs",
        added < peer / 3,
    )
    provider = best["whole-provider"]
    row(
        "  recorded_provider, whole",
        f"{1000 * provider / CALLS:.2f} ms, {provider / floor:.2f} of the floor",
    )
    floor = best["stream-floor"]
    row(f"a stream of {EVENTS:,} events: the floor", f"{1000 * floor:.0f} ms")
    row("  pytest-recording", f"{best['stream-peer'] / floor:.2f} of the floor")
    ratio = best["stream-http"] / floor
    row("  recorded_http", f"{ratio:.2f} of the floor", "under 1.10", ratio < 1.1)
    peer = loading["peer"]
    row(f"loading {loading['megabytes']:.1f} MB: pytest-recording", f"{1000 * peer:.0f} ms")
    took, built = loading["ours"], loading["built"]
    value = f"{1000 * took:.0f} ms, {took / peer:.2f} of theirs"
    row("  ours", value, "under 0.50 of theirs", took < peer / 2)
    row("  and building every answer", f"{1000 * built:.0f} ms, {built / peer:.2f} of theirs")
    without, with_us = (statistics.median(times) for times in starts.values())
    quartiles = statistics.quantiles(starts["-pno:synaptum"], n=4)
    noise, more = quartiles[2] - quartiles[0], with_us - without
    row("an empty run of pytest without the plugin", f"{1000 * without:.0f} ms")
    value = f"{1000 * more:+.0f} ms ({100 * more / without:+.1f} %)"
    row("  with it", value, f"noise, {1000 * noise:.0f} ms here", more < noise)


if __name__ == "__main__":
    main()
