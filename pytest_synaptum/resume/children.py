"""A child process that runs up to its death, by `fork`: a few milliseconds each.

The child has the test's memory, so closures and fixtures work in it; it makes its own event
loop, store and gateway, and never comes back into pytest.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, NoReturn

from synaptum.errors import ConfigurationError

__all__ = [
    "PATIENCE_S",
    "NotKilledError",
    "can_fork",
    "fork",
    "live",
    "patience_s",
    "refuse_kills",
    "run_in_child",
    "start_child",
    "told_by",
    "wait_for_child",
    "written_in",
]

#: Seconds after which a run that hangs is given up, at least.
PATIENCE_S: Final = 20
#: As many times what the straight run took is no hang yet: a store may be slow.
_SLOWER: Final = 10
#: Seconds that a thread of ours which is about to end is waited for.
_FAREWELL_S: Final = 1.0


class NotKilledError(Exception):
    """A run that was to die came to its end."""

    def __init__(self, end: str) -> None:
        super().__init__(f"the run came to its end: {end}")


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


def patience_s(straight_s: float) -> float:
    """Seconds to wait for a run, where the straight one took `straight_s`."""
    return max(PATIENCE_S, _SLOWER * straight_s)


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


def written_in(log: Path) -> bytes:
    """The whole lines that a child wrote; one that it died over is left out."""
    try:
        written = log.read_bytes()
    except FileNotFoundError:  # it could not even begin: `told_by` may know more
        return b""
    return written[: written.rfind(b"\n") + 1]


def told_by(log: Path) -> str:
    """The traceback of a child that raised; empty where it did not."""
    error = log.with_suffix(".error")
    return error.read_text(encoding="utf-8") if error.exists() else ""


def live(
    work: Callable[[int], Awaitable[object]], log: Path, patience_s: float | None = None
) -> NoReturn:
    """The whole life of a forked child; see `run_in_child`."""
    status = 1
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(math.ceil(PATIENCE_S if patience_s is None else patience_s))
        asyncio.run(_settled(work(descriptor)))
        status = 0
    except NotKilledError as error:
        log.with_suffix(".error").write_text(str(error), encoding="utf-8")
    except BaseException:
        log.with_suffix(".error").write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        os._exit(status)


async def _settled(work: Awaitable[object]) -> None:
    await work


def fork() -> int:
    """Fork while no thread of ours lives: a lock that one holds would stay locked in the child.

    What was printed is written out before: a child that prints more would print it again.
    """
    _let_threads_end()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed, none, or somebody else's
            stream.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of threads
        return os.fork()


def _let_threads_end() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("synaptum") and thread is not threading.current_thread():
            thread.join(_FAREWELL_S)
