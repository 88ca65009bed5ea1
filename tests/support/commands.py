"""`synaptum-corpus` in a process of its own, for commands that run until they are told to end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["serving"]


@contextlib.contextmanager
def serving(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Iterator[str]:
    """`synaptum-corpus serve` while the block runs; gives its base URL. Ends it as Ctrl-C does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_synaptum", "serve", "--quiet", *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line.startswith("http://127.0.0.1:"), process.communicate(timeout=20)[1]
        yield line
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
