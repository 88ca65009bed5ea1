"""The cap on what a tool's result takes of the context.

A pure function of the result and the limit: a resumed run derives its context from the
journal, which holds the whole result, and must come to the same text. So neither time nor
room left counts, and characters are counted, not tokens (about 4 a token in Latin text).

Head and tail are kept: the head says what it is, the tail holds the total, or the exception.
Of an error result the tail gets three quarters. The notice says how much is gone, and counts
inside the limit. Source: seed 000, "La salida se recorta".
"""

from __future__ import annotations

import dataclasses
from typing import Final

from synaptum.errors import ConfigurationError
from synaptum.vocabulary import ResultPart, Text, ToolResult
from synaptum.wording import Wording, current_wording

__all__ = ["MIN_TOOL_CHARS", "cap_tool_output"]

#: Least limit taken, in characters: below it the notice would be most of what is left.
MIN_TOOL_CHARS: Final = 200


def cap_tool_output(
    result: ToolResult, max_chars: int | None = 16_000, wording: Wording | None = None
) -> ToolResult:
    """The result with at most `max_chars` characters of text; parts that are no text stay.

    Args:
        result: what the tool gave.
        max_chars: the limit, over all text parts together; None takes none.
        wording: of the notice; the one in use where it is not given.

    Raises:
        ConfigurationError: `max_chars` is under 200, or no whole number.
    """
    if max_chars is None:
        return result
    given: object = max_chars
    if not isinstance(given, int) or isinstance(given, bool) or max_chars < MIN_TOOL_CHARS:
        msg = (
            f"max_tool_chars={max_chars!r} leaves no room beside the notice, or is no whole number:"
            f" use {MIN_TOOL_CHARS} or more, or None for no limit."
        )
        raise ConfigurationError(msg)
    text = result.text
    total = len(text)
    if total <= max_chars:
        return result
    wording = wording or current_wording()
    # No count is longer than the total's own, so the final notice fits in this one's place.
    room = max(0, max_chars - len(_notice(wording, total, total)))
    head = room // 4 if result.is_error else room // 2
    tail = total - (room - head)
    if _splits_pair(text, head):
        head -= 1
    if _splits_pair(text, tail):
        tail += 1
    notice = _notice(wording, tail - head, total)[:max_chars]
    return dataclasses.replace(result, content=_cut(result.content, head, tail, notice))


def _cut(
    content: tuple[ResultPart, ...], head: int, tail: int, notice: str
) -> tuple[ResultPart, ...]:
    """The parts without the characters from `head` to `tail`; the notice stands in their place."""
    kept: list[ResultPart] = []
    start = 0
    noticed = False
    for part in content:
        if not isinstance(part, Text):
            kept.append(part)
            continue
        end = start + len(part.text)
        before = part.text[: max(0, head - start)]
        after = part.text[max(0, tail - start) :] if end > tail else ""
        if end <= head or start >= tail:
            kept.append(part)
        elif not noticed:
            kept.append(Text(before + notice + after))
            noticed = True
        elif after:
            kept.append(Text(after))
        start = end
    return tuple(kept)


def _notice(wording: Wording, removed: int, total: int) -> str:
    text = wording.truncated.format(
        removed=f"{removed:,}".replace(",", wording.thousands),
        total=f"{total:,}".replace(",", wording.thousands),
    )
    return f"\n{text}\n"


def _splits_pair(text: str, at: int) -> bool:
    """Whether a cut here falls between the halves of a surrogate pair kept as two."""
    return (
        0 < at < len(text)
        and "\ud800" <= text[at - 1] <= "\udbff"
        and "\udc00" <= text[at] <= "\udfff"
    )
