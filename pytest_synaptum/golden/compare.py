"""Whether two JSON values are the same: the one comparer that decides.

Strict as JSON is: 1, 1.0 and true differ, so do null, "" and an absent key; `-0.0` is not
`0.0`, because its JSON text is another; NaN is refused where values enter, never compared.
The order of keys does not count, that of a list does.

Python's `==` finds every difference but one: numbers of other types that are equal. So an
expected value keeps the places of its numbers, those of one container together, and a
comparison is one `==` and a look at these.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["Expected", "same"]


_Path = tuple[str | int, ...]
#: Where a container is, and of which type each of its numbers is, by key.
_Group = tuple[_Path, tuple[tuple[str | int, type], ...]]


class Expected:
    """An expected value, prepared once for many comparisons. `value` must not be changed."""

    __slots__ = ("_groups", "_is_bare", "_zeros", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._is_bare = isinstance(value, int | float)
        self._groups: tuple[_Group, ...] | None = None
        self._zeros: tuple[tuple[_Path, float], ...] = ()

    def equals(self, actual: Any) -> bool:
        """Whether `actual`, a plain JSON value, is the same value."""
        if self.value != actual or (self._is_bare and type(self.value) is not type(actual)):
            return False
        groups = self._groups
        if groups is None:
            groups = self._prepare()
        for path, numbers in groups:
            container = actual
            for step in path:
                container = container[step]
            for key, kind in numbers:
                if type(container[key]) is not kind:
                    return False
        for path, zero in self._zeros:
            if math.copysign(1.0, zero) != math.copysign(1.0, _at(actual, path)):
                return False
        return True

    def _prepare(self) -> tuple[_Group, ...]:
        """Find the numbers, and which of them are zeros with a sign."""
        groups: dict[_Path, list[tuple[str | int, type]]] = {}
        zeros: list[tuple[_Path, float]] = []
        for path, number in _numbers(self.value):
            if path:
                groups.setdefault(path[:-1], []).append((path[-1], type(number)))
            if number == 0.0 and isinstance(number, float):
                zeros.append((path, number))
        self._groups = tuple((path, tuple(numbers)) for path, numbers in groups.items())
        self._zeros = tuple(zeros)
        return self._groups


def _at(value: Any, path: _Path) -> Any:
    for step in path:
        value = value[step]
    return value


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
