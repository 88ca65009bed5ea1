"""A file of goldens: named entries, read once, and the text that an update makes of them.

One test, one file (`goldens/<module>/<test>.yaml`), so that workers of xdist never meet in
one. Nothing is created by reading; an update touches only the entries it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pytest_synaptum import strict_yaml
from pytest_synaptum.errors import FileFormatError, PluginError
from pytest_synaptum.golden.compare import Expected, same

__all__ = ["GOLDEN_FORMAT", "GoldenFile"]

GOLDEN_FORMAT: Final = "golden/1"


class GoldenFile:
    """The goldens of one test.

    Args:
        path: the file.
        where: how messages name it; the path by default.

    Attributes:
        exists: whether the file is there.

    Raises:
        PluginError: it cannot be read, or is no golden file.
    """

    def __init__(self, path: Path, where: str | None = None) -> None:
        self.path = path
        self.where = where or str(path)
        self.exists = path.is_file()
        entries = _read(path, self.where)
        self._entries = {name: Expected(value) for name, value in entries.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the entries, in the file's order."""
        return tuple(self._entries)

    def get(self, name: str) -> Expected | None:
        """The expected value of that name, or None where there is none."""
        return self._entries.get(name)

    def text_with(self, values: Mapping[str, Any]) -> str | None:
        """The file's text with these entries, the others as they are; None where nothing moves."""
        entries = {name: expected.value for name, expected in self._entries.items()}
        fresh = {**entries, **values}
        if self.exists and same(entries, fresh):
            return None
        return strict_yaml.dump({"synaptum": GOLDEN_FORMAT, "entries": fresh})


def _read(path: Path, where: str) -> dict[str, Any]:
    try:
        value = strict_yaml.load_file(path, where)
    except FileNotFoundError:
        return {}
    except OSError as error:
        msg = (
            f"The golden {where} cannot be read ({error.strerror}); check what stands there and its"
            " permissions."
        )
        raise PluginError(msg) from None
    word = value.get("synaptum") if isinstance(value, dict) else None
    if isinstance(word, str) and word.startswith("golden/") and word != GOLDEN_FORMAT:
        msg = (
            f"{where} is of the format {word}, and this version reads {GOLDEN_FORMAT}; install a"
            " newer pytest-synaptum."
        )
        raise FileFormatError(msg)
    if word != GOLDEN_FORMAT or set(value) != {"synaptum", "entries"}:
        msg = (
            f"{where}: a golden file has the keys `synaptum: {GOLDEN_FORMAT}` and `entries` and no"
            " other; restore it from version control, or delete it and run with"
            " --synaptum-update."
        )
        raise FileFormatError(msg)
    entries = value["entries"]
    if not isinstance(entries, dict):
        msg = f"{where}: `entries` is a mapping from names to values."
        raise FileFormatError(msg)
    return entries
