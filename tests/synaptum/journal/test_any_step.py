"""Whatever a step holds comes back as it was, from every store and in every process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from support.stores import FILE_STORES
from support.strategies import runs, steps

from synaptum import canonical
from synaptum.journal.encoding import RunCodec, first_difference
from synaptum.journal.memory import MemoryCheckpointer
from synaptum.vocabulary import Step
from synaptum.vocabulary.codec import to_json

slow = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def texts(events) -> list[str]:
    """Canonical texts: equal only for the same JSON, where `==` takes 1 and True for equal."""
    return [canonical.encode(to_json(event)) for event in events]


@slow
@given(runs())
def test_any_run_comes_back_from_memory(events):
    async def go():
        store = MemoryCheckpointer()
        for event in events:
            await store.append("run", event)
        return (await store.load("run")).events

    loaded = asyncio.run(go())
    assert loaded == tuple(events)
    assert texts(loaded) == texts(events)


@pytest.mark.parametrize("name", FILE_STORES)
def test_any_run_comes_back_from_a_file(name):
    @settings(slow, max_examples=40)
    @given(runs())
    def check(events):
        async def go(folder: Path):
            with FILE_STORES[name](folder) as store:
                for event in events:
                    await store.append("run", event)
            with FILE_STORES[name](folder) as store:
                for event in events:
                    await store.append("run", event)  # all on record: nothing differs
                return (await store.load("run")).events

        with tempfile.TemporaryDirectory() as folder:
            loaded = asyncio.run(go(Path(folder)))
        assert loaded == tuple(events)
        assert texts(loaded) == texts(events)

    check()


@slow
@given(steps("run", 0), steps("run", 0))
def test_the_first_difference_is_none_exactly_for_the_same_json(one, other):
    same = texts([one]) == texts([other])
    assert (first_difference(to_json(one), to_json(other)) is None) == same
    assert first_difference(to_json(one), to_json(one)) is None


@pytest.mark.parametrize(
    ("old", "new", "pointer"),
    [
        ({"a": 1}, {"a": 2}, "/a"),
        ({"a": [1, 2]}, {"a": [1]}, "/a/1"),
        ({"a": {"b/c~": 1}}, {"a": {"b/c~": True}}, "/a/b~1c~0"),
        ({"a": None}, {}, "/a"),
        ([{}], [[]], "/0"),
        (1, 1.0, ""),
    ],
)
def test_a_difference_is_a_json_pointer(old, new, pointer):
    assert first_difference(old, new) == pointer


READER = """
import json, sys
from synaptum import canonical
from synaptum.journal.encoding import RunCodec
from synaptum.vocabulary import Step
for line in sys.stdin.buffer:
    reading, writing = RunCodec("run"), RunCodec("run")
    records = canonical.decode(line)
    again = []
    for record in records:
        step = reading.decode(record)
        reading.advance(step)
        again.append(writing.encode(step))
        writing.advance(step)
    sys.stdout.buffer.write(canonical.encode(again).encode() + b"\\n")
"""


def test_other_processes_read_the_same_and_write_the_same_bytes():
    """Under other hash seeds, time zones and locales."""
    lines: list[bytes] = []

    @settings(slow, max_examples=30, database=None)
    @given(runs(size=3))
    def collect(events: list[Step]) -> None:
        codec = RunCodec("run")
        records = []
        for event in events:
            records.append(codec.encode(event))
            codec.advance(event)
        lines.append(canonical.encode(records).encode() + b"\n")

    collect()
    sent = b"".join(lines)
    for seed, zone, locale in [("0", "UTC", "C"), ("1", "Asia/Kolkata", "tr_TR.UTF-8")]:
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale}
        done = subprocess.run(
            [sys.executable, "-c", READER], input=sent, env=env, capture_output=True, check=True
        )
        assert done.stdout == sent
    assert any(json.loads(line) for line in lines)
