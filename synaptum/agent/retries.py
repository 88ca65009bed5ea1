"""Trying again: the error's type says whether, this says when.

Trying again at once repeats against the same broken state, so the wait grows; and without
jitter all agents that fell together would come back together. Source: seed 001,
"Reintentos".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from synaptum.agent.limits import Limits
from synaptum.clock import Random, Sleep
from synaptum.errors import is_retryable, words_of

__all__ = ["Attempts", "retry_wait_s"]


def retry_wait_s(
    failures: int, retry_after_s: float | None, limits: Limits, chance: float
) -> float:
    """Seconds to wait after failure number `failures` (from 1).

    In: `retry_after_s` is what the other side asked for, or None; `chance` is in [0, 1).
    Out: what was asked for, else between half of the grown wait and all of it; never more
    than `limits.max_retry_wait`, never less than zero.
    """
    if retry_after_s is not None:
        return min(max(retry_after_s, 0.0), limits.max_retry_wait)
    # 2**60 steps of any base are beyond every cap; a larger power could overflow a float.
    grown = min(limits.retry_base * 2.0 ** min(failures - 1, 60), limits.max_retry_wait)
    return grown * (0.5 + chance / 2)


class Attempts:
    """The failed attempts of one call.

    `failed` waits before the next one or raises what failed; `meta` is what the completed
    step records of them.
    """

    def __init__(self, limits: Limits, sleep: Sleep, random: Random, model: str | None) -> None:
        self._limits = limits
        self._sleep = sleep
        self._random = random
        self._model = model
        self._record: list[dict[str, Any]] = []
        self._failures = 0
        self._answered_by: Any = None

    def may_retry(self, error: Exception) -> bool:
        """Whether one more attempt follows on `error`."""
        return is_retryable(error) and self._failures < self._limits.max_retries

    async def failed(self, error: Exception) -> None:
        """Record the failure and wait; raises `error` where no attempt is to follow."""
        if not self.may_retry(error):
            raise error
        self._failures += 1
        wait_s = retry_wait_s(self._failures, _asked_s(error), self._limits, self._random())
        self._record.append(
            {
                "error": {"type": type(error).__name__, "message": words_of(error)},
                "wait_s": wait_s,
                "model": self._model,
            }
        )
        await self._sleep(wait_s)

    def note(self, told: Mapping[str, Any]) -> None:
        """Take what a chain of models tells of itself; see `CallContext.note`."""
        if "error" in told:
            self._record.append(dict(told))
        self._answered_by = told.get("answered_by", self._answered_by)

    def meta(self) -> dict[str, Any]:
        """`attempts` where some failed, `answered_by` where a chain says so; else empty."""
        meta: dict[str, Any] = {"attempts": list(self._record)} if self._record else {}
        return meta if self._answered_by is None else {**meta, "answered_by": self._answered_by}


def _asked_s(error: Exception) -> float | None:
    """Seconds that an error asks to wait; None where that is no number."""
    asked: Any = getattr(error, "retry_after", None)
    is_number = isinstance(asked, int | float) and not isinstance(asked, bool)
    return asked if is_number and not math.isnan(asked) else None
