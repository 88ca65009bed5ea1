"""A file of goldens: named entries, read once, written whole or not at all.

One test, one file (`goldens/<module>/<test>.yaml`), so that workers of xdist never meet in
one. Nothing is created by reading; `write` touches only the entries it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette.writing import write_atomically
from pytest_synaptum.errors import FileFormatError, PluginError
from pytest_synaptum.golden.compare import Expected, same

__all__ = ["GOLDEN_FORMAT", "GoldenFile"]

GOLDEN_FORMAT: Final = "golden/1"


class GoldenFile:
    """The goldens of one test.

    Attributes:
        exists: whether the file is there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.exists = path.is_file()
        self._entries = {name: Expected(value) for name, value in _read(path).items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the entries, in the file's order."""
        return tuple(self._entries)

    def get(self, name: str) -> Expected | None:
        """The expected value of that name, or None where there is none."""
        return self._entries.get(name)

    def write(self, values: Mapping[str, Any]) -> bool:
        """Put these entries into the file, leaving the others; whether the file changed.

        Raises:
            PluginError: the file cannot be written; says why and that nothing was.
        """
        entries = {name: expected.value for name, expected in self._entries.items()}
        fresh = {**entries, **values}
        if self.exists and same(entries, fresh):
            return False
        text = strict_yaml.dump({"synaptum": GOLDEN_FORMAT, "entries": fresh})
        try:
            write_atomically(self.path, text)
        except OSError as error:
            msg = (
                f"The golden {self.path} cannot be written ({error.strerror}); the old one is as it"
                " was. Make its folder writable and run again."
            )
            raise PluginError(msg) from None
        self._entries = {name: Expected(value) for name, value in fresh.items()}
        self.exists = True
        return True


def _read(path: Path) -> dict[str, Any]:
    try:
        value = strict_yaml.load_file(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        msg = (
            f"The golden {path} cannot be read ({error.strerror}); check what stands there and its"
            " permissions."
        )
        raise PluginError(msg) from None
    word = value.get("synaptum") if isinstance(value, dict) else None
    if isinstance(word, str) and word.startswith("golden/") and word != GOLDEN_FORMAT:
        msg = (
            f"{path} is of the format {word}, and this version reads {GOLDEN_FORMAT}; install a"
            " newer pytest-synaptum."
        )
        raise FileFormatError(msg)
    if word != GOLDEN_FORMAT or set(value) != {"synaptum", "entries"}:
        msg = (
            f"{path}: a golden file has the keys `synaptum: {GOLDEN_FORMAT}` and `entries` and no"
            " other; restore it from version control, or delete it and run with"
            " --synaptum-update."
        )
        raise FileFormatError(msg)
    entries = value["entries"]
    if not isinstance(entries, dict):
        msg = f"{path}: `entries` is a mapping from names to values."
        raise FileFormatError(msg)
    return entries
