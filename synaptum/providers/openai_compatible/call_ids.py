"""Ids of calls as a server wants them, when they come from another server.

A conversation may move from one server to another (a fallback, a resumed run). Where the
profile has a pattern, an id that does not fit is rewritten, the same in the call and in its
result, and never to an id that stands for another one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from synaptum.errors import ConfigurationError

__all__ = ["CallIds", "made_id"]

#: Lengths of what is made up in a rewritten id; nine is what the strictest pattern known takes
#: (Mistral's).
_LENGTHS: Final = (9, 24, 16, 32, 8, 64)
#: What ids of known servers begin with.
_PREFIXES: Final = ("", "call_", "toolu_")
#: Rounds of made-up ids until a pattern counts as one that none fits.
_ROUNDS: Final = 200


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
        """The id that travels for `call_id`.

        Raises:
            ConfigurationError: no id that could be made up fits the pattern.
        """
        if self._pattern is None:
            return call_id
        known = self._given.get(call_id)
        if known is not None:
            return known
        for candidate in _candidates(call_id):
            if self._pattern.fullmatch(candidate) and candidate not in self._taken:
                self._given[call_id] = candidate
                self._taken.add(candidate)
                return candidate
        msg = (
            f"The id {call_id!r} of a call does not fit the profile's call_id_pattern"
            f" {self._pattern.pattern!r}, and none could be made up that does: give a pattern"
            " that takes 8 to 64 letters and digits, after `call_` or `toolu_` perhaps."
        )
        raise ConfigurationError(msg)


def _candidates(call_id: str) -> Iterator[str]:
    yield call_id
    for salt in range(_ROUNDS):
        digest = _digest(f"{salt}\x00{call_id}")
        for text in (digest, str(int(digest, 16))):  # for patterns that take digits alone
            for prefix in _PREFIXES:
                for length in _LENGTHS:
                    yield prefix + text[:length]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
