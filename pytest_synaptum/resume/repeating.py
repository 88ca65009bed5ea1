"""Whether a run is being repeated: what is made meanwhile counts for nothing.

A model double made by a factory for a repeated run is never asked, since the straight run's
answers are used; nobody may then complain that its script was not used up.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

__all__ = ["is_repeating", "repeating"]

_repeating: ContextVar[bool] = ContextVar("synaptum_repeating", default=False)


@contextlib.contextmanager
def repeating() -> Iterator[None]:
    """A block in which runs are repeated."""
    token = _repeating.set(True)
    try:
        yield
    finally:
        _repeating.reset(token)


def is_repeating() -> bool:
    """Whether this is such a block."""
    return _repeating.get()
