"""docs/architecture.md names what there is."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

import pytest_synaptum
import synaptum

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def table_after(heading: str) -> list[list[str]]:
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def words_in_code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_the_layers_are_those_that_are_checked() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"][0]
    checked = [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]
    # A layer in brackets may be absent.
    there = [[name for name in layer if not name.startswith("(")] for layer in checked]

    told = [words_in_code(names) for names, _ in table_after("The layers of synaptum")]

    assert [sorted(layer) for layer in told] == [sorted(layer) for layer in there]


def test_every_layer_is_a_module() -> None:
    for names, _ in table_after("The layers of synaptum"):
        for name in words_in_code(names):
            assert importlib.util.find_spec(f"synaptum.{name}"), name


def test_everything_stands_where_the_table_says() -> None:
    missing = [
        path
        for _, where in table_after("Where does it live?")
        for path in words_in_code(where)
        if not (ROOT / path).exists()
    ]

    assert missing == []


def test_the_parts_of_the_plugin_are_modules() -> None:
    section = PAGE.split("## The parts of pytest_synaptum\n", 1)[1].split("\n## ", 1)[0]
    named = [word for word in words_in_code(section) if word.isidentifier()]

    assert len(named) > 8
    for name in named:
        assert importlib.util.find_spec(f"pytest_synaptum.{name}") or hasattr(synaptum, name), name


@pytest.mark.parametrize("package", [synaptum, pytest_synaptum])
def test_every_public_name_can_be_imported(package: object) -> None:
    names: list[str] = package.__all__  # type: ignore[attr-defined]

    assert sorted(set(names)) == sorted(names)
    assert [name for name in names if getattr(package, name, None) is None] == []
