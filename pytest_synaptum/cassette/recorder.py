"""Keeps what a live server says, from any number of threads and tasks.

Contract: an exchange's place is taken when its request is sent, so the order in the cassette
is the order of sending; nothing is written here; what the caller sees is not touched.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from pytest_synaptum.cassette.packing import unpacked
from pytest_synaptum.cassette.writing import is_stream
from pytest_synaptum.exchange import CLOSED, Ending, Exchange, RecordedRequest, RecordedResponse
from synaptum.clock import Clock, SystemClock

__all__ = ["Recorder", "Slot", "path_of"]

_DONE = re.compile(rb"data: ?\[DONE\]\s*\Z")


def path_of(url: str) -> str:
    """Path and query of a URL, as a server sees them."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


class Slot:
    """The place of one exchange while it is under way; its methods are called in order."""

    def __init__(
        self,
        request: RecordedRequest,
        origin: str,
        clock: Clock,
        ended: Callable[[Slot], None] | None = None,
    ) -> None:
        self.request = request
        self.origin = origin
        self.status: int | None = None
        self.headers: tuple[tuple[str, str], ...] = ()
        self.is_over = False
        self._ended = ended
        self._clock = clock
        self._last_s = clock.monotonic_s()
        self._headers_after_s = 0.0
        self._chunks: list[bytes] = []
        self._delays_s: list[float] = []
        self._begun: list[bytes] = []
        self._ending: Ending | None = None

    def answered(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """Status and headers are there."""
        self._headers_after_s = self._elapsed()
        self.status = status
        self.headers = tuple((name.lower(), value) for name, value in headers)

    def chunk(self, data: bytes, *, is_whole: bool = True) -> None:
        """A chunk of the body came, or a piece of one whose rest is still to be read."""
        if data:
            self._begun.append(bytes(data))
        if is_whole:
            self._finish_chunk()

    def end(self, ending: Ending | None = None) -> None:
        """The body is over; only the first call counts."""
        if not self.is_over:
            self._finish_chunk()
            self.is_over = True
            self._ending = ending
            if self._ended is not None:
                self._ended(self)

    def _finish_chunk(self) -> None:
        if self._begun:
            self._delays_s.append(self._elapsed())
            self._chunks.append(b"".join(self._begun))
            self._begun.clear()

    def exchange(self) -> Exchange:
        """What was kept so far; a body still open counts as closed by the caller."""
        if self.status is None:
            return Exchange(request=self.request, response=None)
        self._finish_chunk()
        ending = self._ending if self.is_over else CLOSED
        headers, chunks, delays = self._plain()
        if ending == CLOSED and _DONE.search(b"".join(chunks[-2:])):
            ending = None  # whoever stops reading at the last event has read it all
        if not is_stream(headers) and len(chunks) > 1:
            # How the network cut a body that is no stream is chance, and would make diffs.
            chunks, delays = [b"".join(chunks)], [sum(delays)]
        response = RecordedResponse(
            status=self.status,
            headers=headers,
            chunks=tuple(chunks),
            headers_after_s=_milliseconds(self._headers_after_s),
            delays_s=tuple(_milliseconds(delay) for delay in delays),
            ending=ending,
        )
        return Exchange(request=self.request, response=response)

    def _elapsed(self) -> float:
        now = self._clock.monotonic_s()
        elapsed, self._last_s = now - self._last_s, now
        return elapsed

    def _plain(self) -> tuple[tuple[tuple[str, str], ...], list[bytes], list[float]]:
        """Headers and chunks without the compression, which nobody could review."""
        encoding = dict(self.headers).get("content-encoding", "")
        asked = dict(self.request.headers).get("accept-encoding", "")
        plain = unpacked(encoding, self._chunks, asked) if encoding else None
        if plain is None:
            return self.headers, self._chunks, self._delays_s
        headers = tuple(pair for pair in self.headers if pair[0] != "content-encoding")
        chunks: list[bytes] = []
        delays: list[float] = []
        waited = 0.0
        for chunk, delay in zip(plain, self._delays_s, strict=True):
            waited += delay
            if chunk:
                chunks.append(chunk)
                delays.append(waited)
                waited = 0.0
        return headers, chunks, delays


class Recorder:
    """The exchanges of one test while they are recorded.

    Args:
        clock: measures the delays.
        ended: called with the place of each exchange that is over, by whoever read its end.

    Attributes:
        has_transport: whether `recorded_provider` brings its own exchanges.
    """

    def __init__(
        self, clock: Clock | None = None, ended: Callable[[Slot], None] | None = None
    ) -> None:
        self._clock = clock or SystemClock()
        self._ended = ended
        self._lock = threading.Lock()
        self._slots: list[Slot] = []
        self.has_transport = False

    def begin(self, method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes) -> Slot:
        """Take the place of an exchange whose request is about to be sent."""
        parts = urlsplit(url)
        request = RecordedRequest(
            method=method,
            path=path_of(url),
            headers=tuple((name.lower(), value) for name, value in headers),
            body=bytes(body),
        )
        slot = Slot(request, f"{parts.hostname or ''}:{parts.port or ''}", self._clock, self._ended)
        with self._lock:
            self._slots.append(slot)
        return slot

    @property
    def slots(self) -> list[Slot]:
        """The places taken so far, in order."""
        with self._lock:
            return list(self._slots)

    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges so far, untouched: they may hold secrets."""
        return tuple(slot.exchange() for slot in self.slots)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000) / 1000
