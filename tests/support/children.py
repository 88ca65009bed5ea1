"""Child processes by `fork`, for tests that kill one or need a second writer.

Fork only while no other thread lives here: a lock that one holds would stay locked for ever in
the child.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable

#: Seconds after which a child that hangs ends itself.
PATIENCE_S = 30


def fork(work: Callable[[], None]) -> int:
    """Run `work` in a child; its pid. The child exits 0, or 1 if `work` raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of threads
        pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        signal.alarm(PATIENCE_S)
        work()
        status = 0
    finally:
        os._exit(status)


def kill(pid: int) -> int:
    """SIGKILL the child and reap it; its exit code as `subprocess` gives it."""
    os.kill(pid, signal.SIGKILL)
    return reap(pid)


def reap(pid: int) -> int:
    """Wait for the child; its exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
