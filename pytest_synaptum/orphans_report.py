"""A small pytest plugin: after a complete collection, the cassettes and goldens nobody needs.

`synaptum-corpus prune` runs `pytest --collect-only -p pytest_synaptum.orphans_report` with the
variable `SYNAPTUM_ORPHANS` naming the JSON file to write. Without a complete collection no file
is written, and so nothing is known.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest

from pytest_synaptum.golden.orphans import is_complete, orphan_cassettes, orphan_goldens, unreadable

__all__ = ["VARIABLE", "pytest_collection_finish"]

VARIABLE: Final = "SYNAPTUM_ORPHANS"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the paths, if every test was collected."""
    if not is_complete(session):
        return
    found = [*orphan_cassettes(session), *orphan_goldens(session)]
    value = {
        "unused": [str(path) for path in found],
        "unreadable": {str(path): fault for path, fault in unreadable(session)},
    }
    Path(os.environ[VARIABLE]).write_text(json.dumps(value), "utf-8")
