"""Two values side by side: the paths that differ, and their lines next to one another."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Final

from pytest_synaptum.cassette.bodies import pretty
from pytest_synaptum.golden.describe import ABSENT, differences
from pytest_synaptum.golden.paths import show_path
from pytest_synaptum.report.texts import shortened, value_text

__all__ = ["plain_sides"]

_SHOWN_PATHS: Final = 200
_SHOWN_CHARS: Final = 2_000
#: Lines of the longer side up to which they are aligned; difflib takes quadratic time.
_ALIGNED_LINES: Final = 1_500
#: Narrow, so that a line holds little and a difference stands out in it.
_WIDTH: Final = 32
#: Equal lines shown before and after a difference.
_CONTEXT: Final = 3


def plain_sides(expected: Any, actual: Any) -> dict[str, Any]:
    """What differs between two plain JSON values.

    Out: `paths`, `[path, expected, actual]` each, a side None where it is absent; `more`, how
    many are not shown; `lines`, `[kind, expected, actual]` each, kind `=`, `~` (both sides,
    different), `-` (expected only), `+` (actual only) or `…` (equal lines left out), empty
    where the values are too long to align.
    """
    found = differences(expected, actual)
    paths = [
        [show_path(one.path), _side(one.expected), _side(one.actual)]
        for one in found[:_SHOWN_PATHS]
    ]
    return {
        "paths": paths,
        "more": len(found) - len(paths),
        "lines": list(_lines(pretty(expected, _WIDTH), pretty(actual, _WIDTH))),
    }


def _side(value: Any) -> str | None:
    if value is ABSENT:
        return None
    return shortened(pretty(value) if isinstance(value, str) else value_text(value), _SHOWN_CHARS)


def _lines(expected: str, actual: str) -> Iterator[list[str]]:
    left, right = expected.split("\n"), actual.split("\n")
    if max(len(left), len(right)) > _ALIGNED_LINES:
        return
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    codes = matcher.get_opcodes()
    for place, (kind, a, b, c, d) in enumerate(codes):
        if kind == "equal":
            yield from _equal(left[a:b], first=place == 0, last=place == len(codes) - 1)
            continue
        both = min(b - a, d - c)
        for index in range(max(b - a, d - c)):
            old = shortened(left[a + index], _SHOWN_CHARS) if index < b - a else ""
            new = shortened(right[c + index], _SHOWN_CHARS) if index < d - c else ""
            yield ["~" if index < both else "-" if index < b - a else "+", old, new]


def _equal(lines: list[str], *, first: bool, last: bool) -> Iterator[list[str]]:
    """Equal lines: those next to a difference, and how many stand between them."""
    head = [] if first else lines[:_CONTEXT]
    tail = [] if last else lines[max(len(head), len(lines) - _CONTEXT) :]
    left_out = len(lines) - len(head) - len(tail)
    for line in head:
        yield ["=", shortened(line, _SHOWN_CHARS), shortened(line, _SHOWN_CHARS)]
    if left_out:
        yield ["…", f"{left_out:,} equal line{'' if left_out == 1 else 's'}", ""]
    for line in tail:
        yield ["=", shortened(line, _SHOWN_CHARS), shortened(line, _SHOWN_CHARS)]
