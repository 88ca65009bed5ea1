"""A cassette is written whole or not at all, at whatever moment its writer dies."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.cassette.writing import write_atomically

WRITER = """
import sys
from pathlib import Path
from pytest_synaptum.cassette.writing import dump_cassette, write_atomically
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse
path = Path(sys.argv[1])
for number in range(1, 10**6):
    exchange = Exchange(
        request=RecordedRequest(method="POST", path="/v1/x", body=b'{"n":%d}' % number),
        response=RecordedResponse(status=200, chunks=(b"x" * 20000,)),
    )
    write_atomically(path, dump_cassette([exchange] * 5, {"at": str(number)}))
    if number == 1:
        print("begun", flush=True)
"""


def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    chance = random.Random(7)
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "begun\n"
            with pytest.raises(subprocess.TimeoutExpired):
                writer.wait(chance.random() * 0.03)
            writer.send_signal(signal.SIGKILL)
            assert writer.wait(10) == -signal.SIGKILL

        assert len(load_cassette(path).exchanges()) == 5


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
