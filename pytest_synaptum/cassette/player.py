"""Answers requests from a cassette, from any number of threads and tasks.

Contract: equal requests are answered in the order they were recorded, different ones in any
order; each exchange answers once; what is not recorded raises, is noted, and never goes
anywhere.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Hashable, Iterable, Sequence

from pytest_synaptum.cassette.entry import Entry
from pytest_synaptum.cassette.format import Cassette
from pytest_synaptum.cassette.match import Matcher, body_value
from pytest_synaptum.cassette.mismatch import Asked, describe
from pytest_synaptum.errors import CassetteMismatchError, FileFormatError
from pytest_synaptum.exchange import Exchange, RecordedResponse
from pytest_synaptum.redact import Redactor

__all__ = ["Player"]

_TOTAL = re.compile(rb'"total_tokens"\s*:\s*([0-9]+)')


class Player:
    """One view of a cassette: what it has answered, it has answered.

    Args:
        cassette: what was recorded.
        matcher: what makes two requests the same one.
        redactor: requests are matched in their redacted form, which is the recorded one.
        test: the test, as messages name it.
        command: what a user types to record it again.
        shared_by: the tests that are known to share the cassette, in the order they run.

    Attributes:
        mismatches: messages of requests that found no answer, whether anybody saw them or not.
        damage: likewise, of answers that cannot be read in the cassette.
    """

    def __init__(
        self,
        cassette: Cassette,
        matcher: Matcher,
        redactor: Redactor,
        *,
        test: str,
        command: str,
        shared_by: Sequence[str] = (),
    ) -> None:
        self.cassette = cassette
        self.matcher = matcher
        self.mismatches: list[str] = []
        self.damage: list[str] = []
        self._redactor = redactor
        self._test = test
        self._command = command
        self._shared_by = shared_by
        self._lock = threading.Lock()
        self._queues: dict[Hashable, deque[Entry]] = {}
        for entry in cassette.entries:
            self._queues.setdefault(matcher.entry_key(entry), deque()).append(entry)
        self._served: list[Entry] = []

    def learn(self, headers: Iterable[tuple[str, str]]) -> None:
        """Take note of a request's credentials, which may stand in its body too."""
        self._redactor.learn(headers)

    def take(self, method: str, path: str, body: bytes) -> RecordedResponse | None:
        """The answer to a request; None where the recorded connection failed before any status.

        Raises:
            CassetteMismatchError: no exchange, or none any more, matches it.
            FileFormatError: one matches, and its answer is damaged.
        """
        # Hidden, since a traceback shows arguments, and the body is not redacted yet.
        __tracebackhide__ = True
        self._redactor.learn_body(body)
        path, value = self._redactor.text(path), body_value(self._redactor.body(body))
        value = self.matcher.masked(value, note=True)
        key = self.matcher.key(method, path, value)
        with self._lock:
            queue = self._queues.get(key)
            entry = queue.popleft() if queue else None
        if entry is None:
            raise self._mismatch(Asked(method, path, value))
        try:
            response = self.cassette.exchange(entry).response
        except FileFormatError as error:
            self.damage.append(str(error))
            raise
        with self._lock:
            self._served.append(entry)
        return response

    def past_the_end(self) -> CassetteMismatchError:
        """The error for a caller who reads on where the recorded one closed the stream."""
        msg = (
            f"{self._test} read on in a stream at the place where it was closed while recording"
            f" {self.cassette.where}, so what came next is not known; record it again:"
            f" {self._command}"
        )
        self.mismatches.append(msg)
        return CassetteMismatchError(msg)

    def _mismatch(self, asked: Asked) -> CassetteMismatchError:
        with self._lock:
            used = {entry.number for entry in self._served}
        msg = describe(
            asked,
            self.cassette.entries,
            used,
            self.matcher,
            test=self._test,
            where=self.cassette.where,
            command=self._command,
            shared_by=self._shared_by,
        )
        self.mismatches.append(msg)
        return CassetteMismatchError(msg)

    def served(self) -> tuple[Exchange, ...]:
        """The exchanges that were asked for, in the order they were asked."""
        with self._lock:
            entries = list(self._served)
        return tuple(self.cassette.exchange(entry) for entry in entries)

    def unused(self) -> Sequence[Entry]:
        """The exchanges that nobody asked for."""
        with self._lock:
            used = {entry.number for entry in self._served}
        return [entry for entry in self.cassette.entries if entry.number not in used]

    def cost(self) -> tuple[int, int, float]:
        """Of the answers given: tokens, answers that do not say, and seconds the server took."""
        tokens = unknown = 0
        seconds = 0.0
        for exchange in self.served():
            response = exchange.response
            if response is None:
                continue
            seconds += (response.headers_after_s or 0.0) + sum(response.delays_s)
            # The last one: a stream may count up from chunk to chunk.
            found = _TOTAL.findall(response.body)
            if found:
                tokens += int(found[-1])
            else:
                unknown += 1
        return tokens, unknown, seconds
