"""docs/rules.md is true: what it names exists, and nothing it should name is left out."""

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest
from support.seeds import SEEDS, seed_lines

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "rules.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if re.match(r"\| [SD]\d?-\d\d ", line)
]
IDS = [row[0] for row in ROWS]


def in_code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def shown_by(row: list[str]) -> list[str]:
    return in_code(row[-1])


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, functions) and node.name.startswith("test_")
    )


def numbers(text: str) -> set[int]:
    found: set[int] = set()
    for part in re.findall(r"\d+(?:-\d+)?", text):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def test_every_rule_has_an_id_of_its_own_and_a_test() -> None:
    assert len(ROWS) > 70
    assert len(set(IDS)) == len(IDS)
    assert [row[0] for row in ROWS if not shown_by(row)] == []


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_module_of_a_rule_exists(row: list[str]) -> None:
    modules = in_code(row[-2])

    assert modules
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_tests_of_a_rule_exist(row: list[str]) -> None:
    for test in shown_by(row):
        path, _, name = test.partition("::")
        assert (TESTS / path).is_file(), test
        assert name in names_in(TESTS / path), test


def test_every_test_of_the_founding_documents_stands_on_the_page() -> None:
    named = {test for row in ROWS for test in shown_by(row)}
    about_the_blocks = {  # on the documents as files, and not on a rule
        "test_no_line_of_code_stands_outside_of_the_blocks",
        "test_every_name_that_the_blocks_import_is_public",
    }

    missing = [
        f"seeds/{path.name}::{name}"
        for path in sorted((TESTS / "seeds").glob("test_*.py"))
        for name in sorted(names_in(path) - about_the_blocks)
        if f"seeds/{path.name}::{name}" not in named
    ]
    assert missing == []


@pytest.mark.parametrize("number", ["000", "001"])
def test_every_line_of_a_founding_document_is_behind_a_rule(number: str) -> None:
    if number not in SEEDS:
        pytest.skip("the founding documents are not beside this checkout (../shared/seeds)")
    prefix = f"S{int(number)}-"
    told: set[int] = set()
    for row in ROWS:
        if row[0].startswith(prefix):
            told |= numbers(row[1])
    listed = re.search(rf"^- `{number}`: (.+)$", PAGE, re.MULTILINE)
    assert listed is not None
    without_rule = numbers(listed[1])

    written = {place for place, line in enumerate(seed_lines(number), 1) if line.strip()}
    assert written - told - without_rule == set(), "lines that no rule tells"
    assert (told | without_rule) - written - told == set(), "listed, and not written"
    assert told & without_rule == set(), "behind a rule and listed as without"
