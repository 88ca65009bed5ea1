"""What a user writes type-checks under mypy --strict, and names everything that is public."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_synaptum
import synaptum
from pytest_synaptum.golden.fixture import Golden
from pytest_synaptum.recorded import RecordedHttp, RecordedProvider
from pytest_synaptum.report.parts import ReportDoor

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("user_code.py")


def imported_from(package: str) -> list[str]:
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    return [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == package
        for alias in node.names
    ]


@pytest.mark.parametrize("package", [synaptum, pytest_synaptum])
def test_every_public_name_stands_in_the_users_file(package):
    imported, public = set(imported_from(package.__name__)), set(package.__all__)

    assert public - imported == set(), f"use them in {FILE.name}"
    assert imported - public == set(), "not public"


def test_every_name_that_is_imported_there_is_used():
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}

    imported = [*imported_from("synaptum"), *imported_from("pytest_synaptum")]
    assert sorted(set(imported) - used) == []


def public_members(kind: type) -> set[str]:
    """What the docstrings and the class itself show, without what makes the fixture."""
    shown = set(re.findall(r"^        (\w+): ", kind.__doc__ or "", re.MULTILINE))
    return shown | {name for name in vars(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("kind", "made_by_us"),
    [
        (RecordedProvider, set()),
        (RecordedHttp, {"capturing"}),
        (Golden, {"finish"}),
        (ReportDoor, set()),
    ],
)
def test_everything_that_a_fixture_offers_stands_in_the_users_file(kind, made_by_us):
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}

    assert public_members(kind) - made_by_us - used == set(), f"use them in {FILE.name}"


@pytest.mark.skipif(
    importlib.util.find_spec("mypy") is None, reason="needs mypy, which scripts/check runs"
)
def test_the_users_file_type_checks_under_strict(tmp_path):
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", str(FILE)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr
