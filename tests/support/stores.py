"""The stores of journals that need nothing but a folder, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from synaptum.journal.jsonl import JsonlCheckpointer
from synaptum.journal.sqlite import SqliteCheckpointer

#: name -> a store over a file in the folder; not durable, since no test cuts the power.
FILE_STORES: dict[str, Callable[[Path], Any]] = {
    "jsonl": lambda folder: JsonlCheckpointer(folder / "journal.jsonl", durable=False),
    "sqlite": lambda folder: SqliteCheckpointer(folder / "journal.sqlite", durable=False),
}
