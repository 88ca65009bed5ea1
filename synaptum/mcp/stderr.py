"""What a server writes on its standard error: kept in a file, its end shown in errors."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Final, TextIO

__all__ = ["ErrorTail"]

#: How much of what a server last wrote goes into an error, in characters.
_STDERR_TAIL: Final = 500


class ErrorTail:
    """The end of what one server wrote, with the values it was given in confidence left out."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._secrets = tuple(secret for secret in secrets if len(secret) >= 6)
        self._file: TextIO | None = None
        self._last = ""

    @contextlib.contextmanager
    def opened(self) -> Iterator[TextIO]:
        """The file that the child process writes to, for as long as it lives."""
        with tempfile.TemporaryFile("a+", encoding="utf-8") as file:
            self._file = file
            try:
                yield file
            finally:
                self._last = self.tail()
                self._file = None

    def tail(self) -> str:
        """The last characters written, or "" where there were none."""
        if self._file is None:
            return self._last
        # pread: the child shares this file's position, which must stay where it writes.
        descriptor = self._file.fileno()
        size = os.fstat(descriptor).st_size
        start = max(0, size - 8 * _STDERR_TAIL)
        text = os.pread(descriptor, size - start, start).decode("utf-8", "replace").strip()
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text[-_STDERR_TAIL:]
