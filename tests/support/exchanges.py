"""The recorded public exchanges of some forty servers, which lie beside the project if anywhere.

They are other people's data and no part of the project: a module that asks for them is skipped
where they are not there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["exchange_files"]


def exchange_files() -> list[Path]:
    """The files, one an exchange. Skips the module that asks, where there are none."""
    here = Path(__file__).resolve().parents[2]
    folder = Path(
        os.environ.get("SYNAPTUM_EXCHANGES") or here.parent / "shared" / "exchanges" / "dev"
    )
    files = sorted(folder.glob("*.json"))
    if not files:
        pytest.skip(
            "the recorded public exchanges are not here: set SYNAPTUM_EXCHANGES to their folder",
            allow_module_level=True,
        )
    return files
