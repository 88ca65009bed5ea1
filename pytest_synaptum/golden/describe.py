"""Differences in words: path, expected, actual. deepdiff finds them; it never decides.

Imported only when a comparison failed, because deepdiff is slow to import.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pytest_synaptum.golden.compare import same
from pytest_synaptum.golden.paths import show_path

__all__ = ["ABSENT", "Difference", "describe", "differences", "show_value"]

_SHOWN_CHARS: Final = 160
_SHOWN_DIFFERENCES: Final = 12


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


#: Where one side has no value at a path.
ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two values differ; either side may be `ABSENT`."""

    path: tuple[str | int, ...]
    expected: Any
    actual: Any


def differences(expected: Any, actual: Any) -> list[Difference]:
    """Where two plain JSON values differ, in the order of the paths; empty where they do not."""
    if same(expected, actual):
        return []
    from deepdiff import DeepDiff
    from deepdiff.helper import notpresent

    tree = DeepDiff(expected, actual, view="tree", ignore_order=False, verbose_level=2)
    found = []
    for level in itertools.chain.from_iterable(tree.values()):
        path = tuple(level.path(output_format="list"))
        old, new = (ABSENT if side is notpresent else side for side in (level.t1, level.t2))
        found.append(Difference(path, old, new))
    if not found:  # what deepdiff takes for equal, such as -0.0 and 0.0
        found = list(_walk(expected, actual, ()))
    return sorted(found, key=lambda one: [(type(step).__name__, step) for step in one.path])


def _walk(expected: Any, actual: Any, path: tuple[str | int, ...]) -> Iterator[Difference]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in dict.fromkeys([*expected, *actual]):
            yield from _walk(expected.get(key, ABSENT), actual.get(key, ABSENT), (*path, key))
    elif isinstance(expected, list) and isinstance(actual, list):
        pairs = itertools.zip_longest(expected, actual, fillvalue=ABSENT)
        for index, (left, right) in enumerate(pairs):
            yield from _walk(left, right, (*path, index))
    elif not same(expected, actual):
        yield Difference(path, expected, actual)


def describe(expected: Any, actual: Any) -> list[str]:
    """The lines that show where two values differ."""
    found = differences(expected, actual)
    lines: list[str] = []
    for one in found[:_SHOWN_DIFFERENCES]:
        left, right = _shown_pair(one.expected, one.actual)
        lines += [f"  {show_path(one.path)}", f"    expected  {left}", f"    actual    {right}"]
    if len(found) > _SHOWN_DIFFERENCES:
        lines.append(f"  and {len(found) - _SHOWN_DIFFERENCES} more")
    return lines


def show_value(value: Any) -> str:
    """A plain JSON value in a line, shortened."""
    return _window(_shown(value), 0)


def _shown_pair(expected: Any, actual: Any) -> tuple[str, str]:
    left, right = _shown(expected), _shown(actual)
    if max(len(left), len(right)) <= _SHOWN_CHARS:
        return left, right
    start = next(
        (index for index, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    return _window(left, start), _window(right, start)


def _window(text: str, start: int) -> str:
    begin = max(0, start - 40)
    piece = text[begin : begin + _SHOWN_CHARS]
    head = "… " if begin else ""
    tail = f" … ({len(text):,} characters)" if begin + _SHOWN_CHARS < len(text) else ""
    return head + piece + tail


def _shown(value: Any) -> str:
    if isinstance(value, _Absent):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)
