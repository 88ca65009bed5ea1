"""Chunks pushed in, events out, whatever the provider offers to read them with.

A provider's `stream_from_wire` *pulls* its chunks, while on an event loop they are
*pushed* as they arrive. A reader that can be fed needs no more (`ReaderFeed`). The generator
is run in a thread of its own that sleeps whenever it asks for a chunk which is not there
yet (`GeneratorFeed`): it costs two thread switches a chunk and stays incremental; every
event is given before the next chunk is asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from queue import SimpleQueue
from typing import Any, Protocol

from synaptum.models.dialect import Dialect, StreamReader
from synaptum.vocabulary import StreamEvent

__all__ = ["EventFeed", "GeneratorFeed", "ReaderFeed", "event_feed"]

Chunk = Mapping[str, Any]
Generator = Callable[[Iterable[Chunk]], Iterator[StreamEvent]]


class EventFeed(Protocol):
    """Reads one stream. The iterables may raise what the provider raises, after its events."""

    async def feed(self, chunk: Chunk) -> Iterable[StreamEvent]:
        """The events that `chunk` adds."""
        ...

    async def end(self) -> Iterable[StreamEvent]:
        """The events that the end of the chunks adds."""
        ...

    def close(self) -> None:
        """Drop the stream where it is; harmless at any time."""
        ...


def event_feed(dialect: Dialect) -> EventFeed:
    """The cheapest feed the provider has."""
    reader = dialect.stream_reader()
    if reader is not None:
        return ReaderFeed(reader)
    return GeneratorFeed(dialect.provider.stream_from_wire)


class ReaderFeed:
    """Feeds a provider's own reader."""

    def __init__(self, reader: StreamReader) -> None:
        self._reader = reader

    async def feed(self, chunk: Chunk) -> Iterable[StreamEvent]:
        """The events that `chunk` adds."""
        return self._reader.feed(chunk)

    async def end(self) -> Iterable[StreamEvent]:
        """The events that the end of the chunks adds."""
        return self._reader.close()

    def close(self) -> None:
        """Nothing to let go of."""


class _Dropped(BaseException):
    """Unwinds the generator when the caller wants no more; never leaves the thread."""


_END: Chunk = {}
_DROP: Chunk = {}


class GeneratorFeed:
    """Feeds a generator that pulls, in a thread that begins with the first chunk."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._loop = asyncio.get_running_loop()
        self._inbox: SimpleQueue[Chunk] = SimpleQueue()
        self._answer: asyncio.Future[Iterable[StreamEvent]] | None = None
        self._is_over = False
        self._thread: threading.Thread | None = None
        self._events: list[StreamEvent] = []  # the thread's own until it is handed over

    async def feed(self, chunk: Chunk) -> Iterable[StreamEvent]:
        """The events that `chunk` adds."""
        return await self._turn(chunk)

    async def end(self) -> Iterable[StreamEvent]:
        """The events that the end of the chunks adds."""
        return await self._turn(_END)

    def close(self) -> None:
        """Unwind the generator and end the thread."""
        self._inbox.put(_DROP)

    async def _turn(self, item: Chunk) -> Iterable[StreamEvent]:
        if self._is_over:
            return ()
        self._answer = self._loop.create_future()
        self._inbox.put(item)
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, name="synaptum stream_from_wire", daemon=True
            )
            self._thread.start()
        return await self._answer

    def _run(self) -> None:
        failure: Exception | None = None
        try:
            for event in self._generator(self._chunks()):
                self._events.append(event)
        except _Dropped:
            return
        except Exception as error:
            failure = error
        self._hand_over(failure, is_over=True)

    def _chunks(self) -> Iterator[Chunk]:
        """What the generator pulls from. Asking again hands over what the last chunk gave."""
        is_first = True
        while True:
            if not is_first:
                self._hand_over(None, is_over=False)
            is_first = False
            chunk = self._inbox.get()
            if chunk is _END:
                return
            if chunk is _DROP:
                raise _Dropped
            yield chunk

    def _hand_over(self, failure: Exception | None, *, is_over: bool) -> None:
        events, self._events = self._events, []
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._take, _then(events, failure), is_over)

    def _take(self, events: Iterable[StreamEvent], is_over: bool) -> None:
        self._is_over = is_over
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(events)


def _then(events: list[StreamEvent], failure: Exception | None) -> Iterator[StreamEvent]:
    yield from events
    if failure is not None:
        raise failure
