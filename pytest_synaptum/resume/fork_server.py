"""A process that is forked once, and forks a child for each job.

Forking the test's own process costs more each time: it goes on working, so every page that it
writes to is copied again, and it may have threads. The server does nothing but fork, one child
ahead, which waits for its job: the fork itself happens while the parent works. Server and
children have the test's memory as it was when the server started, so closures and fixtures
work in them; what a job needs beyond that is pickled.

Server, children and what these start are one process group, which ends with the server: a
killed child leaves what it started behind, and nothing of it may outlive the check.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import pickle
import select
import signal
import socket
from collections.abc import Awaitable, Callable
from io import BufferedIOBase
from pathlib import Path
from typing import Any, Final, Generic, NoReturn, Self, TypeVar, cast

from pytest_synaptum.resume.children import fork, live, wait_for_child

__all__ = ["ForkServer", "ServerEndedError"]

Job = TypeVar("Job")

#: The exit code of a child that found no job for it.
_NO_JOB: Final = 113
#: Milliseconds between two looks at whether the test was cancelled meanwhile.
_GLANCE_MS: Final = 100


class ServerEndedError(RuntimeError):
    """The process that forks is gone, so that nothing can be killed."""


class ForkServer(Generic[Job]):
    """Does jobs in children, each of which may die of it.

    Start it while no store is open: the server keeps whatever files are open then, and so their
    locks, for as long as it lives.

    Args:
        work: does a job; it is given a descriptor to write to besides.
        patience_s: seconds after which a child that hangs ends itself.
        orphaned: called in the server where its parent went without closing it (a CI runner
            that ends a job): the last chance to tidy up.
    """

    def __init__(
        self,
        work: Callable[[Job, int], Awaitable[object]],
        *,
        patience_s: float,
        orphaned: Callable[[], object] = lambda: None,
    ) -> None:
        pair = socket.socketpair()
        self._stream, its = (end.makefile("rwb") for end in pair)
        self._line = pair[0].fileno()
        for end in pair:
            end.close()  # the streams keep them open
        self._pid = fork()
        if self._pid == 0:
            self._stream.close()

            def do(job: Job, log: Path) -> NoReturn:
                live(lambda descriptor: work(job, descriptor), log, patience_s)

            _serve(do, its, orphaned)
        with contextlib.suppress(OSError):  # it may have done so itself
            os.setpgid(self._pid, self._pid)
        its.close()

    def run(self, job: Job, log: Path) -> int:
        """Do `job` in a child and wait for its end.

        Out: what `run_in_child` gives, and leaves in `log`.

        Raises:
            ServerEndedError: the server itself is gone.
            CancelledError: the task was cancelled meanwhile, as by Ctrl-C.
        """
        try:
            _send(self._stream, (job, log))
            self._wait()
            return cast("int", pickle.load(self._stream))
        except (EOFError, ConnectionError) as error:
            msg = (
                "The process that forks the processes to be killed has itself ended: something"
                " else killed it (a lack of memory, perhaps). Run the test again."
            )
            raise ServerEndedError(msg) from error

    def _wait(self) -> None:
        """Until there is an answer. The loop does not run here, so nobody else could cancel."""
        task = asyncio.current_task()
        answer = select.poll()
        answer.register(self._line, select.POLLIN)
        while not answer.poll(_GLANCE_MS):
            if task is not None and task.cancelling():
                raise asyncio.CancelledError

    def close(self) -> None:
        """End the server and what is left of its children. Twice is once."""
        if self._stream.closed:
            return
        # Not by hanging up: any process that the test forked meanwhile holds the line too.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # the test lets nobody wait for children
            wait_for_child(self._pid)
        with contextlib.suppress(OSError):  # what was not sent yet has nobody to read it
            self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(
    do: Callable[[Any, Path], NoReturn], stream: BufferedIOBase, orphaned: Callable[[], object]
) -> NoReturn:
    """The server's whole life: until its parent ends it, or is gone."""
    try:
        # A group of its own: Ctrl-C is the parent's, who ends this one then.
        os.setpgid(0, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a handler of the test's would wait first
        for stopping in (signal.SIGTTIN, signal.SIGTTOU):
            signal.signal(stopping, signal.SIG_IGN)  # a group in the background may not read
        gc.freeze()  # a collection would touch, and so copy, every page of the parent
        while True:
            child = fork()
            if child == 0:
                _do_one(do, stream)
            status = wait_for_child(child)
            if status == _NO_JOB:
                break
            _send(stream, status)
    finally:
        try:
            orphaned()
        finally:
            if os.getpgrp() == os.getpid():  # never the test's own group
                os.killpg(0, signal.SIGKILL)
            os._exit(0)


def _do_one(do: Callable[[Any, Path], NoReturn], stream: BufferedIOBase) -> NoReturn:
    """A child's whole life."""
    try:
        job, log = pickle.load(stream)
    except (EOFError, ConnectionError):
        os._exit(_NO_JOB)
    stream.close()  # were the server to die now, its parent would see that
    do(job, log)


def _send(stream: BufferedIOBase, value: object) -> None:
    pickle.dump(value, stream)
    stream.flush()
