"""A child process that runs up to its death, by `fork`: a few milliseconds each.

The child has the test's memory, so closures and fixtures work in it; it makes its own event
loop, store and gateway, and never comes back into pytest.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import traceback
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, NoReturn

from synaptum.errors import ConfigurationError

__all__ = [
    "PATIENCE_S",
    "can_fork",
    "fork",
    "live",
    "refuse_kills",
    "run_in_child",
    "start_child",
    "told_by",
    "wait_for_child",
]

#: Seconds after which a child that hangs ends itself.
PATIENCE_S: Final = 20
#: Seconds that a thread of ours which is about to end is waited for.
_FAREWELL_S: Final = 1.0


def can_fork() -> bool:
    """Whether this system can."""
    return hasattr(os, "fork") and hasattr(signal, "SIGKILL")


def refuse_kills() -> NoReturn:
    """Say that no process can be killed here. Raises `ConfigurationError`."""
    msg = (
        "A killed process is asked for, and this system cannot fork one (Windows cannot). Leave the"
        " killed kinds out of stops=, or run this test on Linux or macOS; Stop.BEFORE and"
        " Stop.AFTER stop at the same writes inside the process."
    )
    raise ConfigurationError(msg)


def run_in_child(work: Callable[[int], Awaitable[object]], log: Path) -> int:
    """Run `work` in a child and wait for its end.

    In: `work` is given a descriptor to write to; what it wrote is in `log`, also when it was
    killed. Out: its exit code, negative for a signal; 0 where it came to its end, and 1 where
    it raised, with the traceback beside `log`, as `<log>.error`.
    """
    return wait_for_child(start_child(work, log))


def start_child(work: Callable[[int], Awaitable[object]], log: Path) -> int:
    """Start a child as `run_in_child` does, without waiting; its process id."""
    pid = fork()
    if pid == 0:
        gc.freeze()  # a collection would touch, and so copy, every page of the parent
        live(work, log)
    return pid


def wait_for_child(pid: int) -> int:
    """The exit code of a child, as `run_in_child` gives it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def told_by(log: Path) -> str:
    """The traceback of a child that raised; empty where it did not."""
    error = log.with_suffix(".error")
    return error.read_text(encoding="utf-8") if error.exists() else ""


def live(work: Callable[[int], Awaitable[object]], log: Path) -> NoReturn:
    """The whole life of a forked child; see `run_in_child`."""
    status = 1
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE_S)
        asyncio.run(_settled(work(descriptor)))
        status = 0
    except BaseException:
        log.with_suffix(".error").write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        os._exit(status)


async def _settled(work: Awaitable[object]) -> None:
    await work


def fork() -> int:
    """Fork while no thread of ours lives: a lock that one holds would stay locked in the child."""
    _let_threads_end()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of threads
        return os.fork()


def _let_threads_end() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("synaptum") and thread is not threading.current_thread():
            thread.join(_FAREWELL_S)
