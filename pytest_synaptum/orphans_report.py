"""A small pytest plugin: after a complete collection, the cassettes and goldens nobody needs.

`synaptum-corpus prune` runs `pytest --collect-only -p pytest_synaptum.orphans_report` with the
variable `SYNAPTUM_ORPHANS` naming the JSON file to write. Without a complete collection no file
is written, and so nothing is known. Files of other recorders in the same folders are theirs.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest

from pytest_synaptum.golden.orphans import is_complete, orphan_goldens, orphans_in
from pytest_synaptum.marker import marker_of
from pytest_synaptum.naming import file_for, inside

__all__ = ["VARIABLE", "pytest_collection_finish"]

VARIABLE: Final = "SYNAPTUM_ORPHANS"
_CASSETTES: Final = "cassettes"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the paths, if every test was collected."""
    if not is_complete(session):
        return
    found = [*orphans_in(session, _CASSETTES, _cassette_of), *orphan_goldens(session)]
    ours = [str(path) for path in dict.fromkeys(found) if _is_ours(path)]
    Path(os.environ[VARIABLE]).write_text(json.dumps(ours), encoding="utf-8")


def _cassette_of(item: pytest.Item) -> Path:
    name = marker_of(item).cassette
    named = None if name is None else inside(item.path.parent / _CASSETTES, name)
    return named or file_for(item, _CASSETTES)


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf").startswith(b"synaptum:")
