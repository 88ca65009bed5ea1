"""Texts side by side, as wide as the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

__all__ = ["side_by_side", "terminal_width"]

_GAP: Final = " │ "
#: A column narrower than this is no help; the texts then stand one below the other.
_NARROWEST: Final = 30
_BOLD, _DIM, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def terminal_width() -> int:
    """Columns of the terminal (`COLUMNS` wins), 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def side_by_side(texts: Sequence[tuple[str, str]], width: int, *, coloured: bool) -> Iterator[str]:
    """The lines of several titled texts, next to each other, each wrapped in its column.

    In: pairs of title and text; the whole width in characters. Where a column would get too
    narrow, half of the texts stand below the other half, and so on down to one a row.
    """
    bold, dim, reset = (_BOLD, _DIM, _RESET) if coloured else ("", "", "")
    column = (width - len(_GAP) * (len(texts) - 1)) // len(texts)
    if column < _NARROWEST and len(texts) > 1:
        half = (len(texts) + 1) // 2
        yield from side_by_side(texts[:half], width, coloured=coloured)
        yield ""
        yield from side_by_side(texts[half:], width, coloured=coloured)
        return
    gap = f"{dim}{_GAP}{reset}"
    yield gap.join(f"{bold}{title:<{column}}{reset}" for title, _ in texts).rstrip()
    for row in zip_longest(*(_wrapped(text, column) for _, text in texts), fillvalue=""):
        yield gap.join(f"{cell:<{column}}" for cell in row).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for line in text.splitlines():
        indent = " " * min(len(line) - len(line.lstrip()) + 2, width // 2)
        lines += textwrap.wrap(
            line,
            width,
            subsequent_indent=indent,
            drop_whitespace=False,
            replace_whitespace=False,
            break_on_hyphens=False,
        ) or [""]
    return lines
