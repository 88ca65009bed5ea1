"""Checks of a file's shape, each failing with the sentence that says where and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pytest_synaptum.errors import FileFormatError

__all__ = ["Shape", "shown"]


def shown(path: Path) -> str:
    """A file or folder as messages name it: from here, where it is below here."""
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


class Shape:
    """Reads the values of one file; every method raises `FileFormatError`."""

    def __init__(self, path: Path) -> None:
        self.where = shown(path)

    def refuse(self, where: str, expected: str, found: Any) -> NoReturn:
        """Raise the sentence: where, what it should be, what was found."""
        shown = repr(found)
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        msg = f"{self.where}: {where} {expected}, found {shown}; see FORMAT.md of the corpus."
        raise FileFormatError(msg)

    def keys(
        self,
        value: Mapping[str, Any],
        where: str,
        known: tuple[str, ...],
        required: tuple[str, ...],
    ) -> None:
        """Every key is known, and the required ones are there."""
        for key in value:
            if key not in known:
                self.refuse(where, f"has the keys {', '.join(known)}", key)
        for key in required:
            if key not in value:
                self.refuse(where, f"needs the key `{key}`", sorted(value))

    def mapping(self, value: Any, where: str) -> dict[str, Any]:
        """A mapping."""
        if not isinstance(value, dict):
            self.refuse(where, "is a mapping", value)
        return value

    def text(self, value: Any, where: str) -> str:
        """A text that is not empty."""
        if not isinstance(value, str) or not value:
            self.refuse(where, "is a text", value)
        return value

    def optional_text(self, value: Any, where: str) -> str | None:
        """A text that is not empty, or None."""
        return None if value is None else self.text(value, where)

    def boolean(self, value: Any, where: str) -> bool:
        """True or false."""
        if not isinstance(value, bool):
            self.refuse(where, "is true or false", value)
        return value

    def texts(self, value: Any, where: str) -> tuple[str, ...]:
        """A list of texts, as a tuple."""
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.refuse(where, "is a list of texts", value)
        return tuple(value)
