"""The founding documents of the framework, where they stand beside the checkout.

They are not part of the project. What they decide is told in docs/rules.md, and their code is run
in our own words by tests that need no file; where the documents are there, their own lines run too.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["FOLDER", "SEEDS", "Block", "seed_lines"]

FOLDER = Path(__file__).parents[3] / "shared" / "seeds"

#: Number of a document -> its file, where it is there.
SEEDS = {path.name[:3]: path for path in sorted(FOLDER.glob("00[01]_*.txt"))}


def seed_lines(number: str) -> list[str]:
    """The lines of a document; line 1 is at place 0."""
    return SEEDS[number].read_text(encoding="utf-8").splitlines()


class Block:
    """The code between two lines of a document, with what it elides filled in.

    Args:
        number: of the document, such as `000`.
        first, last: its lines, counted from 1.
    """

    def __init__(self, number: str, first: int, last: int) -> None:
        self.text = "\n".join(seed_lines(number)[first - 1 : last])
        self._where = f"{number}:{first}-{last}"

    def fill(self, elided: str, code: str) -> Block:
        """Put code where the document says `elided`."""
        assert elided in self.text, f"{self._where} has no {elided!r}"
        self.text = self.text.replace(elided, code)
        return self

    def run(self, **names: object) -> dict[str, object]:
        """Run it as a module would; gives its names."""
        space: dict[str, object] = dict(names)
        exec(compile(self.text, self._where, "exec"), space)
        return space

    async def run_async(self, **names: object) -> dict[str, object]:
        """Run it where `await` may stand; gives its names."""
        body = "\n".join(f"    {line}" for line in self.text.splitlines())
        space: dict[str, object] = dict(names)
        source = f"async def __block():\n{body}\n    return dict(locals())"
        exec(compile(source, self._where, "exec"), space)
        return await space["__block"]()  # type: ignore[operator, no-any-return]
