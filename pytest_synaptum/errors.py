"""What can be wrong with the files and settings of the plugin, in one sentence each.

A message says what was wrong, where (file and line or path), and what to do. Nothing here
ever quotes a header, or a value that could be a secret.
"""

from __future__ import annotations

__all__ = [
    "CassetteMismatchError",
    "FileFormatError",
    "PluginError",
    "SecretFoundError",
    "WrongUsageError",
]


class PluginError(Exception):
    """Root of the plugin's errors."""


class FileFormatError(PluginError):
    """A cassette, case or golden file is not one we can read."""


class SecretFoundError(PluginError):
    """A write was refused because the text still holds a secret; says where, never which."""


class WrongUsageError(PluginError):
    """A command's arguments cannot be meant so; argparse itself cannot see it."""


class CassetteMismatchError(PluginError):
    """A request was made that the cassette does not hold.

    Not an `OSError`, and not an `httpx` error: clients retry those and swallow their text.
    """
