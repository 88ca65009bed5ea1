"""Where the stores of a check lie: in memory where the system has such a folder, else on disk.

A check opens a store hundreds of times and lets each write reach the disk. Nothing of that is
looked at by killing a process: what it wrote, the system has. So no disk is waited for.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["workplace"]

#: Linux keeps this folder in memory.
_IN_MEMORY: Final = Path("/dev/shm")
#: Bytes that must be free there; a container may have no more than 64 MB in all.
_ROOM: Final = 256 * 2**20


@contextmanager
def workplace() -> Iterator[Path]:
    """An empty folder, which is removed afterwards. TMPDIR, where it is set, says where."""
    with tempfile.TemporaryDirectory(prefix="synaptum-resume-", dir=_parent()) as name:
        yield Path(name)


def _parent() -> Path | None:
    if any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")):
        return None
    try:
        has_room = shutil.disk_usage(_IN_MEMORY).free >= _ROOM
    except OSError:
        return None
    return _IN_MEMORY if has_room and os.access(_IN_MEMORY, os.W_OK | os.X_OK) else None
