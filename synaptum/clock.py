"""The only door to time and chance.

Everything else takes a `Clock`, a `Sleep` and a `Random` from its caller, so that a replay
sees the time it is given and a test waits for nothing. Times are UTC; durations are
seconds as floats.
"""

from __future__ import annotations

import asyncio
import datetime as _datetime
import random as _random
import time as _time
from collections.abc import Awaitable, Callable
from typing import Protocol

__all__ = ["Clock", "Random", "Sleep", "SystemClock", "isoformat", "system_random", "system_sleep"]


class Clock(Protocol):
    """Tells the time."""

    def now_s(self) -> float:
        """Seconds since 1970-01-01T00:00:00Z, wall clock."""
        ...

    def monotonic_s(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...


#: Waits for a number of seconds.
Sleep = Callable[[float], Awaitable[None]]

#: Gives a float in [0, 1).
Random = Callable[[], float]


class SystemClock:
    """The machine's own clock."""

    def now_s(self) -> float:
        """Seconds since the epoch, wall clock."""
        return _time.time()

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back."""
        return _time.monotonic()


async def system_sleep(seconds: float) -> None:
    """Wait for `seconds` on the running event loop."""
    await asyncio.sleep(seconds)


def system_random() -> float:
    """A float in [0, 1) from the process's generator."""
    return _random.random()


def isoformat(seconds: float) -> str:
    """UTC time as `2026-11-30T12:00:00.123Z`, the form the journal keeps.

    In: seconds since the epoch. Out: always three decimals and a `Z`, whatever the zone.
    """
    moment = _datetime.datetime.fromtimestamp(seconds, _datetime.UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
