"""`flags.yaml`: what a case can show, each with the sentence a failing adapter's author reads."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_synaptum import strict_yaml
from pytest_synaptum.corpus.shape import shown
from pytest_synaptum.errors import FileFormatError

__all__ = ["FLAGS_FILE", "Flags", "find_flags", "load_flags"]

FLAGS_FILE: Final = "flags.yaml"
_FORMAT: Final = "flags/1"
#: A case is three folders below the corpus.
_LEVELS: Final = 4


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of one corpus; `path` is the file, and its folder is the corpus."""

    path: Path
    sentences: Mapping[str, str]

    def near(self, word: str) -> list[str]:
        """Up to three known flags that look like `word`, or the first ones."""
        return (
            difflib.get_close_matches(word, self.sentences, n=3, cutoff=0.3)
            or list(self.sentences)[:3]
        )


def find_flags(start: Path) -> Flags:
    """The flags of the corpus that the file `start` stands in.

    Raises:
        FileFormatError: no `flags.yaml` in the folders above, or not one of ours.
    """
    for folder in list(start.resolve().parents)[: _LEVELS + 1]:
        if (folder / FLAGS_FILE).is_file():
            return load_flags(folder / FLAGS_FILE)
    msg = (
        f"{shown(start)} stands in no corpus: none of the folders above it has a {FLAGS_FILE};"
        f" create it with the line `synaptum: {_FORMAT}` and a mapping `flags` (see FORMAT.md)."
    )
    raise FileFormatError(msg)


@functools.lru_cache(maxsize=16)
def load_flags(path: Path) -> Flags:
    """Read a `flags.yaml`. Raises `FileFormatError`."""
    where = shown(path)
    value = strict_yaml.load_file(path, where)
    if not isinstance(value, dict) or value.get("synaptum") != _FORMAT or len(value) != 2:
        msg = f"{where}: expected the two keys `synaptum: {_FORMAT}` and `flags`; see FORMAT.md."
        raise FileFormatError(msg)
    flags = value.get("flags")
    if not isinstance(flags, dict) or not all(
        isinstance(text, str) and text.strip() for text in flags.values()
    ):
        msg = f"{where}: `flags` maps each flag to the sentence that explains it."
        raise FileFormatError(msg)
    return Flags(path, {name: " ".join(text.split()) for name, text in flags.items()})
