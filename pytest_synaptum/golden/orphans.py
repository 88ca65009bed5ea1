"""Goldens and cassettes whose test is gone; only a complete collection can tell.

A run is complete where nothing was deselected and no single test was named. A module's folder
is judged where tests of the module were collected, a folder without a module where its whole
directory was; a module that is there but gave no tests (ignored, skipped as a whole) leaves its
folder alone. Skipped tests have their files: nothing here depends on what ran.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_synaptum.marker import named_cassette
from pytest_synaptum.naming import CASSETTES, GOLDENS, file_for, safe_name
from pytest_synaptum.session import session_of

__all__ = ["is_complete", "orphan_cassettes", "orphan_goldens", "unreadable"]


def is_complete(session: pytest.Session) -> bool:
    """Whether every test of the named files and folders was collected and kept."""
    option = session.config.option
    selected = (
        option.keyword
        or option.markexpr
        or getattr(option, "lf", False)
        or getattr(option, "stepwise", False)
        or option.deselect
        or session_of(session.config).deselected
        or any("::" in argument for argument in session.config.args)
    )
    return not selected and session.testsfailed == 0


def orphan_goldens(session: pytest.Session) -> list[Path]:
    """Golden files beside the collected modules that belong to no collected test."""
    return [path for path in _goldens_without_test(session) if _fault(path) is None]


def orphan_cassettes(session: pytest.Session) -> list[Path]:
    """Cassettes beside the collected modules that belong to no collected test.

    Files of other recorders are theirs. Where a project keeps cassettes by a rule of its own
    (its own `synaptum_cassette_path`), nothing is known of the folder.
    """
    found = _cassettes_without_test(session)
    return [path for path in found if _fault(path) is None and _is_ours(path)]


def unreadable(session: pytest.Session) -> list[tuple[Path, str]]:
    """What lies among them, belongs to no collected test and is no file to read, and why.

    A link to nowhere, a folder: nobody knows whose it is, so it is named and stays.
    """
    found = [*_cassettes_without_test(session), *_goldens_without_test(session)]
    return [(path, fault) for path in found if (fault := _fault(path)) is not None]


def _goldens_without_test(session: pytest.Session) -> list[Path]:
    return _orphans_in(session, GOLDENS, lambda item: file_for(item, GOLDENS))


def _cassettes_without_test(session: pytest.Session) -> list[Path]:
    own = {item.path.parent for item in session.items if _has_own_rule(item)}
    found = _orphans_in(session, CASSETTES, _cassette_of)
    return [path for path in found if path.parents[2] not in own]


def _fault(path: Path) -> str | None:
    """Why it cannot be read, where it cannot."""
    try:
        path.open("rb").close()
    except OSError as error:
        return error.strerror or str(error)
    return None


def _has_own_rule(item: pytest.Item) -> bool:
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return len(known.get("synaptum_cassette_path", ())) > 1


def _cassette_of(item: pytest.Item) -> Path:
    return named_cassette(item) or file_for(item, CASSETTES)


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf").startswith(b"synaptum:")


def _orphans_in(
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
        silent = {safe_name(path.stem) for path in folder.glob("*.py")} - names
        for place in sorted((folder / folder_name).glob("*/")):
            if place.name in names or not (named_files or place.name in silent):
                orphans += [path for path in sorted(place.glob("*.yaml")) if path not in expected]
    return orphans
