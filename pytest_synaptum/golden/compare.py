"""Whether two JSON values are the same: the one comparer that decides.

Strict as JSON is: 1, 1.0 and true differ, so do null, "" and an absent key; `-0.0` is not
`0.0`, because its JSON text is another; NaN is refused where values enter, never compared.
The order of keys does not count, that of a list does.

Python's `==` finds every difference but one: numbers of other types that are equal. So an
expected value keeps the places of its numbers, and a comparison is one `==` and a look at
these.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["Expected", "same"]


class Expected:
    """An expected value, prepared once for many comparisons. `value` must not be changed."""

    __slots__ = ("_numbers", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._numbers: tuple[tuple[tuple[str | int, ...], Any], ...] | None = None

    def equals(self, actual: Any) -> bool:
        """Whether `actual`, a plain JSON value, is the same value."""
        if self.value != actual:
            return False
        if self._numbers is None:
            self._numbers = tuple(_numbers(self.value))
        for path, number in self._numbers:
            other = actual
            for step in path:
                other = other[step]
            if type(other) is not type(number):
                return False
            if number == 0.0 and math.copysign(1.0, number) != math.copysign(1.0, other):
                return False
        return True


def same(expected: Any, actual: Any) -> bool:
    """Whether two plain JSON values are the same."""
    return Expected(expected).equals(actual)


def _numbers(value: Any) -> list[tuple[tuple[str | int, ...], Any]]:
    """The places of all numbers and booleans, without recursion."""
    found: list[tuple[tuple[str | int, ...], Any]] = []
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(((*path, key), inner) for key, inner in item.items())
        elif isinstance(item, list):
            waiting.extend(((*path, index), inner) for index, inner in enumerate(item))
        elif isinstance(item, int | float):
            found.append((path, item))
    return found
