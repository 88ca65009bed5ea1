"""A cassette is written whole or not at all, at whatever moment its writer dies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_synaptum.cassette.writing import write_atomically

#: Forks a writer again and again, kills it at some moment, and looks at what stands there.
KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.cassette.writing import dump_cassette, write_atomically
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse

def text(number):
    exchange = Exchange(
        request=RecordedRequest(method="POST", path="/v1/x", body=b'{"n":%d}' % number),
        response=RecordedResponse(status=200, chunks=(b"x" * 20000,)),
    )
    return dump_cassette([exchange] * 5, {"at": str(number)})

path, rounds, chance = Path(sys.argv[1]), int(sys.argv[2]), random.Random(7)
texts = [text(number) for number in range(9)]
write_atomically(path, texts[0])
seen = set()
for _ in range(rounds):
    writer = os.fork()
    if not writer:
        while True:
            for one in texts:
                write_atomically(path, one)
    time.sleep(chance.random() * 0.02)
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    assert len(load_cassette(path).exchanges()) == 5
    seen.add(path.read_text())
assert seen <= set(texts)
print(rounds, "kills,", "many" if len(seen) > 1 else "one", "of the texts seen")
"""


def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    script = [sys.executable, "-c", KILLER, str(tmp_path / "a.yaml"), "120"]
    result = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)

    assert result.stdout == "120 kills, many of the texts seen\n", result.stderr


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.yaml"
    write_atomically(path, "old")

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")

    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.yaml"
    other = tmp_path / "other"
    other.write_text("x", encoding="utf-8")

    write_atomically(path, "text")

    assert path.stat().st_mode == other.stat().st_mode
