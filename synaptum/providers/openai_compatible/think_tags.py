"""Reasoning that stands in the content between `<think>` and `</think>`.

Read only where the profile says so: without it the tags are text like any other. Only tags
at the very start count (white space may stand before them), so that an answer that talks
about the tag keeps it. A tag may be cut anywhere between two fragments.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ThinkTags"]

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class ThinkTags:
    """Splits the content, fragment by fragment, into reasoning and text."""

    __slots__ = ("_held", "_state")

    def __init__(self) -> None:
        self._state = "start"
        self._held = ""

    def feed(self, fragment: str) -> list[tuple[bool, str]]:
        """Pieces of (is it reasoning, text); what may be a cut tag is held back."""
        if self._state == "text":
            return [(False, fragment)]
        found: list[tuple[bool, str]] = []
        text = self._held + fragment
        self._held = ""
        if self._state == "start":
            bare = text.lstrip()
            if bare.startswith(_OPEN):
                self._state = "reasoning"
                text = bare[len(_OPEN) :]
            elif _OPEN.startswith(bare):
                self._held = text
                return found
            else:
                self._state = "text"
                return [(False, text)]
        at = text.find(_CLOSE)
        if at >= 0:
            self._state = "text"
            found.append((True, text[:at]))
            found.append((False, text[at + len(_CLOSE) :]))
            return [piece for piece in found if piece[1]]
        keep = next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
        self._held = text[len(text) - keep :]
        head = text[: len(text) - keep]
        return [(True, head)] if head else []

    def flush(self) -> list[tuple[bool, str]]:
        """What was held back, at the end of the answer."""
        held, self._held = self._held, ""
        return [(self._state == "reasoning", held)] if held else []
