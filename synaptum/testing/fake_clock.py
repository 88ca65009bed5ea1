"""A clock that stands still until somebody sleeps: tests that wait for nothing."""

from __future__ import annotations

__all__ = ["FakeClock"]


class FakeClock:
    """Time under the test's control; give `clock` and `clock.sleep` to a `Session`.

    Args:
        now_s: seconds since the epoch at the start.

    Attributes:
        slept: every wait asked for, in seconds, in order.
    """

    def __init__(self, now_s: float = 1_764_547_200.0) -> None:
        self._now_s = now_s
        self.slept: list[float] = []

    def now_s(self) -> float:
        """Seconds since the epoch."""
        return self._now_s

    def monotonic_s(self) -> float:
        """The same number; it never goes back."""
        return self._now_s

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now_s += seconds

    async def sleep(self, seconds: float) -> None:
        """Let time pass without waiting."""
        self.slept.append(seconds)
        self.advance(seconds)
