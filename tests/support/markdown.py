"""Fenced blocks of a Markdown page: ```language words... and the text between the fences."""

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\S+)([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is where its text begins, counted from 1."""

    page: Path
    line: int
    language: str
    words: tuple[str, ...]
    text: str

    @property
    def where(self) -> str:
        """For a person who looks for it."""
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page that name their language, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, found.start(3)) + 1,
            language=found[1],
            words=tuple(found[2].split()),
            text=found[3],
        )
        for found in _FENCE.finditer(text)
    ]
