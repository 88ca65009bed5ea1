"""What a test may leave behind: nothing. Counts our threads and the process's descriptors."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["descriptors", "our_threads", "wait_until"]


def our_threads() -> list[str]:
    """Names of the library's threads that are alive."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("synaptum")]


def descriptors() -> int:
    """How many descriptors this process has open (Linux)."""
    gc.collect()
    table = Path("/proc/self/fd")
    return len(list(table.iterdir())) if table.is_dir() else 0


def wait_until(condition: Callable[[], bool], timeout_s: float = 5.0) -> bool:
    """Look every few milliseconds whether `condition()` holds, for at most `timeout_s`."""
    end = time.monotonic() + timeout_s
    pause = threading.Event()
    while not condition():
        if time.monotonic() > end:
            return False
        pause.wait(0.005)
    return True
