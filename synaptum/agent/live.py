"""Which runs this process is in the middle of, so that none is gone through twice at once.

A store tells processes apart, not the tasks of one. Two passages through one run would each
decide on the journal as they loaded it, and both would carry out its next call.

A passage counts as long as somebody can still iterate it. One that was left without `aclose`
is closed by the event loop some time later, and must not stand in the way until then: hence
the weak references.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from synaptum.journal.store import Checkpointer, place_of

__all__ = ["RunKey", "hold", "is_live", "let_go", "run_key"]

#: A run among all that this process can reach.
RunKey = tuple[object, str]

_live: dict[RunKey, weakref.ref[Any]] = {}
_guard = threading.Lock()


def run_key(checkpointer: Checkpointer, run_id: str) -> RunKey:
    """The run `run_id` of a store, the same for every store that keeps the same journals."""
    return place_of(checkpointer), run_id


def hold(key: RunKey, passage: weakref.ref[Any]) -> bool:
    """Take the run for this passage; False where another one has it."""
    with _guard:
        if _has(key):
            return False
        _live[key] = passage
        return True


def let_go(key: RunKey, passage: weakref.ref[Any]) -> bool:
    """Give the run back; False where this passage does not have it, or not any more."""
    with _guard:
        if _live.get(key) is not passage:
            return False
        del _live[key]
        return True


def is_live(key: RunKey) -> bool:
    """Whether a passage through the run is under way."""
    with _guard:
        return _has(key)


def _has(key: RunKey) -> bool:
    passage = _live.get(key)
    return passage is not None and passage() is not None


def _after_fork() -> None:
    # Whoever iterates is in the parent. The child may go on with the same run.
    global _guard
    _guard = threading.Lock()
    _live.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)
