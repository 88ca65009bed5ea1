"""A process that is forked once, and forks a child for each job.

Forking the test's own process costs more each time: it goes on working, so every page that it
writes to is copied again, and it may have threads. The server does nothing but fork, one child
ahead, which waits for its job: the fork itself happens while the parent works. Server and
children have the test's memory as it was when the server started, so closures and fixtures
work in them; what a job needs beyond that is pickled.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
from collections.abc import Awaitable, Callable
from io import BufferedIOBase
from pathlib import Path
from typing import Final, Generic, NoReturn, Self, TypeVar, cast

from pytest_synaptum.resume.children import fork, live, wait_for_child

__all__ = ["ForkServer"]

Job = TypeVar("Job")

#: The exit code of a child that found no job for it.
_NO_JOB: Final = 113


class ForkServer(Generic[Job]):
    """Does jobs in children, each of which may die of it.

    Start it while no store is open: the server keeps whatever files are open then, and so their
    locks, for as long as it lives.

    Args:
        work: does a job; it is given a descriptor to write to besides.
    """

    def __init__(self, work: Callable[[Job, int], Awaitable[object]]) -> None:
        pair = socket.socketpair()
        self._stream, its = (end.makefile("rwb") for end in pair)
        for end in pair:
            end.close()  # the streams keep them open
        self._pid = fork()
        if self._pid == 0:
            self._stream.close()
            _serve(work, its)
        its.close()

    def run(self, job: Job, log: Path) -> int:
        """Do `job` in a child and wait for its end.

        Out: what `run_in_child` gives, and leaves in `log`.

        Raises:
            RuntimeError: the server itself is gone.
        """
        try:
            _send(self._stream, (job, log))
            return cast("int", pickle.load(self._stream))
        except (EOFError, ConnectionError) as error:
            msg = (
                "The process that forks the processes to be killed has itself ended: something"
                " else killed it (a lack of memory, perhaps). Run the test again."
            )
            raise RuntimeError(msg) from error

    def close(self) -> None:
        """Let the server end, and wait for that. Twice is once."""
        if not self._stream.closed:
            self._stream.close()
            wait_for_child(self._pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(work: Callable[[Job, int], Awaitable[object]], stream: BufferedIOBase) -> NoReturn:
    """The server's whole life: until its parent hangs up, or is gone."""
    try:
        gc.freeze()  # a collection would touch, and so copy, every page of the parent
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, who hangs up then
        while True:
            child = fork()
            if child == 0:
                _do_one(work, stream)
            status = wait_for_child(child)
            if status == _NO_JOB:
                break
            _send(stream, status)
    finally:
        os._exit(0)


def _do_one(work: Callable[[Job, int], Awaitable[object]], stream: BufferedIOBase) -> NoReturn:
    """A child's whole life."""
    try:
        job, log = pickle.load(stream)
    except (EOFError, ConnectionError):
        os._exit(_NO_JOB)
    stream.close()  # were the server to die now, its parent would see that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    live(lambda descriptor: work(job, descriptor), log)


def _send(stream: BufferedIOBase, value: object) -> None:
    pickle.dump(value, stream)
    stream.flush()
