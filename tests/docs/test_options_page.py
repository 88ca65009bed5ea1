"""docs/options.md names every option, setting, fixture, marker argument and command there is."""

import ast
import re
from pathlib import Path

from pytest_synaptum.cli import COMMANDS
from pytest_synaptum.marker import MARKER_HELP

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
DOORS = (ROOT / "pytest_synaptum" / "fixtures.py").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


def fixtures_of_the_plugin() -> set[str]:
    return {
        node.name
        for node in ast.parse(DOORS).body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(one) == "pytest.fixture" for one in node.decorator_list)
    }


def test_every_option_and_setting_is_on_the_page(pytester) -> None:
    helped = pytester.runpytest("--help").stdout.str()
    options = set(re.findall(r"^\s+(--synaptum-[a-z-]+)", helped, re.MULTILINE))
    settings = set(re.findall(r"^\s+(synaptum_[a-z_]+) \(", helped, re.MULTILINE))

    told = first_cells(section("Options"))
    assert len(options) > 10
    assert {name for name in told if name.startswith("--")} == options
    assert settings == set(re.findall(r"\| `(synaptum_[a-z_]+)` \|", section("Options")))


def test_every_fixture_is_on_the_page() -> None:
    assert set(first_cells(section("Fixtures"))) == fixtures_of_the_plugin()


def test_every_argument_of_the_marker_is_on_the_page() -> None:
    known = re.findall(r"(\w+)=", MARKER_HELP.partition(":")[0])

    assert known
    assert [name for name in known if f"    {name}=" not in section("The marker")] == []


def test_every_command_is_on_the_page() -> None:
    told = [line.split()[1] for line in first_cells(section("Commands"))]

    assert told == list(COMMANDS)
