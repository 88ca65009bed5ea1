"""Ids of calls as a server wants them, when they come from another server.

A conversation may move from one server to another (a fallback, a resumed run). Where the
profile has a pattern, an id that does not fit is rewritten, the same in the call and in its
result, and never to an id that stands for another one.
"""

from __future__ import annotations

import hashlib
import re

__all__ = ["CallIds", "made_id"]

#: Digits of a rewritten id: what the strictest pattern known takes (Mistral: nine).
_LENGTH = 9


def made_id(position: int, name: str, arguments: str) -> str:
    """An id for a call that came without one; the same for the same call in a stream.

    Some servers send `""` (seen in recorded exchanges of Gemini's compatible endpoint), and
    a result needs something to name its call by.
    """
    text = f"{position}\x00{name}\x00{arguments}"
    return "call_" + _digest(text)[:16]


class CallIds:
    """The ids of one request: `wire` gives for each of ours what travels."""

    def __init__(self, pattern: str | None) -> None:
        self._pattern = None if pattern is None else re.compile(pattern)
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def wire(self, call_id: str) -> str:
        """The id that travels for `call_id`."""
        if self._pattern is None:
            return call_id
        known = self._given.get(call_id)
        if known is not None:
            return known
        candidate = call_id
        salt = 0
        while not self._pattern.fullmatch(candidate) or candidate in self._taken:
            candidate = _digest(f"{salt}\x00{call_id}")[:_LENGTH]
            salt += 1
        self._given[call_id] = candidate
        self._taken.add(candidate)
        return candidate


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
