"""The corpus at scale, and the golden comparison against its peers.

    python benchmarks/corpus.py [cases]        10,000 by default; some minutes

Scale: a corpus is generated (the project's derived cases, each many times under other names),
and `pytest` runs it in a process of its own: at a quarter, half and all of the cases, then all
of them with `-n 2`. Time should grow as the cases do, and the memory of the process (its peak)
by what pytest itself keeps for a test: the same folders with items that do nothing show it.
Processor time counts, since a busy machine does not change it.

Comparison: one golden of 2.6 kB, loaded, compared with an equal value, by our comparer, by
plain `==`, by syrupy (its JSON extension's serialisation and comparison) and by inline-snapshot
(`value == snapshot(...)` inside a run that checks snapshots; outside of one it is plain `==`);
the best of several rounds, as ratios to plain `==`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

ROOT = Path(__file__).parents[1]
DERIVED = ROOT / "corpus" / "openai_chat" / "derived"


def generate(corpus: Path, count: int) -> None:
    """Cases of our own, over and over, in folders of a hundred servers."""
    corpus.mkdir(parents=True)
    shutil.copy(ROOT / "corpus" / "flags.yaml", corpus / "flags.yaml")
    sources = sorted(path.parent for path in DERIVED.rglob("case.yaml"))
    for number in range(count):
        source = sources[number % len(sources)]
        target = corpus / "openai_chat" / "derived" / f"{source.name[:60]}-{number:05d}"
        target.mkdir(parents=True)
        for name in ("case.yaml", "exchange.yaml", "golden.yaml"):
            os.link(source / name, target / name)


def run(folder: Path, count: int, *options: str) -> tuple[float, float]:
    """Processor seconds and peak megabytes of `pytest corpus`, children included."""
    script = (
        "import resource, subprocess, sys;"
        "status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode;"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(status, used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    command = [sys.executable, "-m", "pytest", "corpus", "-q", "-p", "no:cacheprovider", *options]
    told = subprocess.run(
        [sys.executable, "-c", script, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    if told[0] != "0":
        sys.exit(f"pytest ended with status {told[0]} on {count} generated cases")
    return float(told[1]), int(told[2]) / 1024


BARE = """
import pytest

class Item(pytest.Item):
    def runtest(self): ...

class File(pytest.File):
    def collect(self):
        yield Item.from_parent(self, name="bare")

def pytest_collect_file(file_path, parent):
    if file_path.name == "case.yaml":
        return File.from_parent(parent, path=file_path)
"""


def scale(count: int) -> None:
    """Time and memory at a quarter, half and all of `count` cases."""
    print(f"{'cases':>7} {'processor s':>12} {'ms a case':>10} {'peak MB':>8} {'kB a case':>10}")
    before: tuple[int, float, float] | None = None
    for part, options, about in (
        (count // 4, (), ""),
        (count // 2, (), ""),
        (count, (), ""),
        (count, ("-n", "2"), "-n 2"),
        (count // 2, ("-p", "no:synaptum"), "pytest alone"),
        (count, ("-p", "no:synaptum"), "pytest alone"),
    ):
        with tempfile.TemporaryDirectory(dir=ROOT.parent) as place:
            folder = Path(place)
            (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
            generate(folder / "corpus", part)
            if about == "pytest alone":
                (folder / "conftest.py").write_text(BARE, encoding="utf-8")
            seconds, megabytes = run(folder, part, *options)
        if before is None or before[0] >= part:
            each, memory = "", ""
        else:
            # What one case more costs: starting up does not count.
            more = part - before[0]
            each = f"{(seconds - before[1]) / more * 1000:.2f}"
            memory = f"{(megabytes - before[2]) / more * 1024:.1f}"
        numbers = f"{part:>7} {seconds:>12.1f} {each:>10} {megabytes:>8.0f} {memory:>10}"
        print(f"{numbers}  {about}".rstrip(), flush=True)
        before = (part, seconds, megabytes)


def a_golden(size: int) -> object:
    """A golden of about `size` bytes of JSON, out of the corpus."""
    from pytest_synaptum import strict_yaml

    values = [strict_yaml.load_file(path) for path in sorted(ROOT.glob("corpus/**/golden.yaml"))]
    return min(values, key=lambda value: abs(len(json.dumps(value)) - size))


INLINE = """
import json, pathlib, time, timeit
from inline_snapshot import snapshot

VALUE, EQUAL = (json.loads(pathlib.Path("value.json").read_text()) for _ in range(2))
STORED = snapshot(EQUAL)

def test_it():
    assert VALUE == STORED
    calls = (lambda: VALUE == STORED, lambda: VALUE == EQUAL)
    theirs, plain = (
        min(times)
        for times in zip(
            *(
                [timeit.timeit(call, number=300, timer=time.process_time) for call in calls]
                for _ in range(25)
            )
        )
    )
    pathlib.Path("ratio").write_text(str(theirs / plain))
"""


def inline_snapshot_ratio(value: object) -> float:
    """A comparison by inline-snapshot to plain `==`, in a run of pytest that checks snapshots.

    Outside of such a run `snapshot(x)` is `x`, and its comparison Python's.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "value.json").write_text(json.dumps(value), encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (folder / "test_it.py").write_text(INLINE, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "--inline-snapshot=report", "test_it.py"]
        environment = {key: text for key, text in os.environ.items() if key != "CI"}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(done.stdout)
        return float((folder / "ratio").read_text(encoding="utf-8"))


def compare() -> None:
    """The comparers, on loaded values."""
    from syrupy.extensions.json import JSONSnapshotExtension

    from pytest_synaptum.golden.compare import Expected

    value = a_golden(2600)
    equal = json.loads(json.dumps(value))
    expected = Expected(value)
    stored = JSONSnapshotExtension().serialize(value)

    def with_syrupy() -> bool:
        return JSONSnapshotExtension().serialize(equal) == stored

    rounds = {
        "plain ==": lambda: value == equal,
        "ours": lambda: expected.equals(equal),
        "syrupy": with_syrupy,
    }
    for name, call in rounds.items():
        if not call():
            sys.exit(f"{name} does not hold two equal values for equal")
    best = dict.fromkeys(rounds, float("inf"))
    # In turns, so that a slow moment of the machine is everybody's.
    for _ in range(25):
        for name, call in rounds.items():
            number = 20 if name == "syrupy" else 500
            took = timeit.timeit(call, number=number, timer=time.process_time) / number
            best[name] = min(best[name], took)
    # In a process of its own, so only its ratio can be compared.
    best["inline-snapshot"] = inline_snapshot_ratio(value) * best["plain =="]
    print(f"a golden of {len(json.dumps(value)):,} bytes, loaded, compared with an equal one:")
    for name, seconds in best.items():
        print(f"{name:>16} {seconds * 1e6:>8.1f} µs {seconds / best['plain ==']:>8.1f} x plain ==")
    print()


if __name__ == "__main__":
    compare()
    scale(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
