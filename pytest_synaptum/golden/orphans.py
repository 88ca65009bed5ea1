"""Goldens and cassettes whose test is gone; only a complete collection can tell.

A run is complete where nothing was deselected and no single test was named. A module's folder
is judged where the module was collected, a folder without a module where its whole directory
was. Skipped tests have goldens: nothing here depends on what ran.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_synaptum.golden.fixture import GOLDENS
from pytest_synaptum.naming import file_for, safe_name

__all__ = ["is_complete", "orphan_goldens", "orphans_in"]


def is_complete(session: pytest.Session) -> bool:
    """Whether every test of the named files and folders was collected and kept."""
    option = session.config.option
    selected = (
        option.keyword
        or option.markexpr
        or getattr(option, "lf", False)
        or getattr(option, "stepwise", False)
        or option.deselect
        or any("::" in argument for argument in session.config.args)
    )
    return not selected and session.testsfailed == 0


def orphan_goldens(session: pytest.Session) -> list[Path]:
    """Golden files beside the collected modules that belong to no collected test."""
    return orphans_in(session, GOLDENS, lambda item: file_for(item, GOLDENS))


def orphans_in(
    session: pytest.Session, folder_name: str, file_of: Callable[[pytest.Item], Path]
) -> list[Path]:
    """Files of `folder_name` beside the collected modules that belong to no collected test.

    Args:
        session: after its collection.
        folder_name: such as `goldens`.
        file_of: the file of a test.
    """
    expected: set[Path] = set()
    modules: dict[Path, set[str]] = {}
    for item in session.items:
        expected.add(file_of(item))
        modules.setdefault(item.path.parent, set()).add(safe_name(item.path.stem))
    named_files = any(Path(argument).is_file() for argument in session.config.args)
    orphans: list[Path] = []
    for folder, names in modules.items():
        for place in sorted((folder / folder_name).glob("*/")):
            if place.name in names or not named_files:
                orphans += [path for path in sorted(place.glob("*.yaml")) if path not in expected]
    return orphans
