"""Bars as SVG text: groups side by side, a value at each; what nobody measured is said in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

__all__ = ["bars"]

_WIDTH: Final = 860
_LEFT: Final = 150
_BAR: Final = 14
_LINE: Final = 18
_FONT: Final = 'font-family="sans-serif" font-size="12"'
#: Colours that stay apart for people who tell red from green with difficulty (Okabe and Ito).
_COLOURS: Final = ("#0072B2", "#56B4E9", "#E69F00", "#009E73")

#: Title, and the series of a panel: a value, or None, for each group.
Panel = tuple[str, Mapping[str, Sequence[float | None]]]


def bars(groups: Sequence[str], panels: Sequence[Panel], notes: Sequence[str]) -> str:
    """A picture of panels below each other.

    In: `groups` are the names down the left side; `notes` stand above, a line each.
    """
    parts: list[str] = []
    y = _LINE
    for note in notes:
        parts.append(_text(10, y, note))
        y += _LINE
    for title, series in panels:
        y += _LINE
        parts.append(_text(10, y, title, weight="bold"))
        y = _legend(parts, list(series), y)
        # One scale for values of one kind: a panel without a title has none in common.
        largest = max((v or 0 for row in series.values() for v in row), default=0)
        for index, group in enumerate(groups):
            parts.append(_text(10, y + _BAR, group))
            for number, (name, values) in enumerate(series.items()):
                scale = largest if title else max((v or 0 for v in values), default=0)
                parts.append(
                    _bar(y, values[index], scale, _COLOURS[number % 4], f"{group}: {name}")
                )
                y += _BAR + 2
            y += 8
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y + 10}" '
    head += f'viewBox="0 0 {_WIDTH} {y + 10}" role="img" {_FONT}>'
    background = f'<rect width="{_WIDTH}" height="{y + 10}" fill="white"/>'
    return "\n".join([head, background, *parts, "</svg>"]) + "\n"


def _legend(parts: list[str], names: Sequence[str], y: int) -> int:
    x = _LEFT
    for number, name in enumerate(names):
        parts.append(
            f'<rect x="{x}" y="{y - 10}" width="10" height="10" fill="{_COLOURS[number % 4]}"/>'
        )
        parts.append(_text(x + 14, y, name))
        x += 14 + 8 * len(name) + 16
    return y + 8


def _bar(y: int, value: float | None, scale: float, colour: str, label: str) -> str:
    room = _WIDTH - _LEFT - 90
    width = 0 if not value or not scale else round(room * value / scale, 1)
    shown = "not measured" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:g}"
    return (
        f'<g><title>{escape(label)}: {shown}</title><rect x="{_LEFT}" y="{y + 2}"'
        f' width="{width}" height="{_BAR}" fill="{colour}"/>'
        f"{_text(_LEFT + width + 6, y + _BAR, shown)}</g>"
    )


def _text(x: float, y: int, text: str, *, weight: str = "normal") -> str:
    # Characters that XML 1.0 has no form for would make the whole picture unreadable.
    clean = "".join(c if c.isprintable() else " " for c in text)
    clean = clean if len(clean) <= 130 else f"{clean[:129]}…"
    return f'<text x="{x}" y="{y}" font-weight="{weight}">{escape(clean)}</text>'
