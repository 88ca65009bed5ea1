"""Files written whole or not at all: one, or several together."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["write_atomically", "write_together"]


def write_atomically(path: Path, text: str) -> None:
    """Put `text` at `path` so that at any moment the old or the new file stands there whole."""
    _put(path, text.encode("utf-8"))


def write_together(files: Sequence[tuple[Path, str]]) -> None:
    """Write all of these files, each atomically, or leave all of them as they were.

    A process killed between two of them leaves both kinds, each whole.

    Raises:
        OSError: one cannot be written; its `filename` is the path that was given.
    """
    staged: list[tuple[Path, Path]] = []
    put: list[tuple[Path, bytes | None]] = []
    path = Path()
    try:
        for path, text in files:
            staged.append((_staged(path, text.encode("utf-8")), path))
        while staged:
            temporary, path = staged[0]
            old = path.read_bytes() if path.is_file() else None
            temporary.replace(path)
            put.append((path, old))
            staged.pop(0)
    except BaseException as error:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
        _put_back(put)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        raise


def _staged(path: Path, data: bytes) -> Path:
    """A file beside `path` with its new content, which a rename will put in place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:60]}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes private files; ours are as readable as any file of the project.
        temporary.chmod(0o666 & ~_umask())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _put_back(put: Iterable[tuple[Path, bytes | None]]) -> None:
    for path, old in put:
        if old is None:
            path.unlink(missing_ok=True)
        else:
            _put(path, old)


def _put(path: Path, data: bytes) -> None:
    temporary = _staged(path, data)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
