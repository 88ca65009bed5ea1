"""A child process for a surface: bounded in time and output, gone when we leave.

Every child leads a process group of its own, so that what it started itself ends with it: the
group is killed when the block is left, on a deadline, an error and a cancellation too. It gets
the environment it is given and no other. That bounds what may go wrong; it is no sandbox: the
child runs as the same user, with the same files and the same network.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from synaptum.errors import ConfigurationError
from synaptum.surfaces.environment import Values

__all__ = [
    "Capture",
    "check_bound",
    "child",
    "collect",
    "collect_until_exit",
]

#: Seconds that the output of a killed group may take to end: a process that left the group
#: (`setsid`) can hold it open for ever.
_LAST_OUTPUT_S: Final = 2.0
_CHUNK: Final = 65_536
#: Seconds between two looks at whether a child has ended.
_LOOK_AGAIN_S: Final = 0.02


class Capture:
    """What a child wrote, of which at most `limit` bytes are kept: half the head, half the tail."""

    def __init__(self, limit: int) -> None:
        self._room = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.total += len(data)
        free = self._room - len(self._head)
        self._head += data[:free]
        self._tail += data[free:]
        if len(self._tail) > 2 * self._room:  # trimmed now and then, not at every piece
            del self._tail[: -self._room]

    @property
    def dropped(self) -> int:
        """Bytes that are not kept."""
        return max(0, self.total - len(self._head) - self._room)

    def text(self, notice: Callable[[int], str], values: Values) -> str:
        """What is kept, as text and without `values`.

        `notice(dropped)` stands where something is missing.
        """
        head, tail = bytes(self._head), bytes(self._tail[-self._room :])
        if not self.dropped:
            return values.out_of(_decoded(head + tail))
        head, tail = _without_cut_end(head), _without_cut_start(tail)
        missing = self.total - len(head) - len(tail)
        start, end = values.out_of_halves(_decoded(head), _decoded(tail))
        return start + notice(missing) + end


def _without_cut_end(data: bytes) -> bytes:
    """Without the first bytes of a character whose other bytes are missing."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    waiting, _ = decoder.getstate()
    return data[: len(data) - len(waiting)]


def _without_cut_start(data: bytes) -> bytes:
    """Without the last bytes of a character whose first byte is missing."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


@contextlib.asynccontextmanager
async def child(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    cwd: str | Path | None = None,
    pass_fds: Sequence[int] = (),
) -> AsyncGenerator[asyncio.subprocess.Process, None]:
    """Start a child with no input and its output piped; leaving the block ends its group.

    Raises:
        OSError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(environment),
        cwd=cwd,
        pass_fds=tuple(pass_fds),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the group and wait for the child, however often the caller is cancelled meanwhile."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    waiting = asyncio.ensure_future(process.wait())
    interrupted: asyncio.CancelledError | None = None
    while not waiting.done():
        try:
            done, _ = await asyncio.wait({waiting}, timeout=_LAST_OUTPUT_S)
        except asyncio.CancelledError as error:
            interrupted = error
            continue
        if not done:
            # Newer Pythons also wait for the pipes, and somebody who left the group holds one.
            waiting.cancel()
            break
    transport = process._transport  # type: ignore[attr-defined] # the only way to let go of pipes
    transport.close()
    if interrupted is not None:
        raise interrupted


async def collect(
    process: asyncio.subprocess.Process, limit: int, until: asyncio.Event | None = None
) -> tuple[Capture, Capture]:
    """Standard output and standard error until both end, at most `limit` bytes of each kept.

    In: once `until` is set, the output has little time left.
    """
    captures = Capture(limit), Capture(limit)
    readers = [
        asyncio.ensure_future(_pump(stream, capture))
        for stream, capture in zip((process.stdout, process.stderr), captures, strict=True)
        if stream is not None
    ]
    try:
        if until is not None:
            waiting = asyncio.ensure_future(until.wait())
            try:
                ended: asyncio.Future[Any] = asyncio.gather(*readers)
                both: set[asyncio.Future[Any]] = {waiting, ended}
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.wait({ended}, timeout=_LAST_OUTPUT_S)
            finally:
                waiting.cancel()
        else:
            await asyncio.wait(readers)
    finally:
        for reader in readers:
            reader.cancel()
    return captures


async def collect_until_exit(
    process: asyncio.subprocess.Process, limit: int
) -> tuple[Capture, Capture, int]:
    """Output, complaints and exit code, once the child itself has ended.

    What it left running in the background may hold its output open for ever: after the
    child's own end the output has little time left, as in `collect`.
    """
    ended = asyncio.Event()
    watching = asyncio.ensure_future(_watch(process, ended))
    try:
        output, complaints = await collect(process, limit, ended)
        await ended.wait()  # it may have closed its output and gone on
    finally:
        watching.cancel()
    code = process.returncode
    return output, complaints, code if code is not None else await process.wait()


async def _watch(process: asyncio.subprocess.Process, ended: asyncio.Event) -> None:
    # `Process.wait` of newer Pythons also waits for the pipes, which is what must not count.
    while process.returncode is None:
        await asyncio.sleep(_LOOK_AGAIN_S)
    ended.set()


async def _pump(stream: asyncio.StreamReader, capture: Capture) -> None:
    while data := await stream.read(_CHUNK):
        capture.add(data)


def check_bound(what: str, value: Any) -> None:
    """Refuse a bound that bounds nothing. Raises `ConfigurationError`."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value < float("inf"):
        msg = f"{what}={value!r}: a finite number over 0 is needed."
        raise ConfigurationError(msg)
