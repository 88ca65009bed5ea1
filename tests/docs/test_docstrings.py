"""Public docstrings say what a caller needs: shapes, errors, and what each field is."""

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any

import pytest

import pytest_synaptum
import synaptum

ROOT = Path(__file__).parents[2]
#: Of the plugin only what has public names or is a fixture's: the rest is called by ourselves.
MODULES = sorted(
    [
        *(ROOT / "synaptum").rglob("*.py"),
        *(ROOT / "pytest_synaptum").glob("*.py"),
        ROOT / "pytest_synaptum" / "golden" / "fixture.py",
    ]
)
PUBLIC = [
    (f"{package.__name__}.{name}", getattr(package, name))
    for package in (synaptum, pytest_synaptum)
    for name in package.__all__
]
#: Values and unions: what they are stands at the class they are made of.
DOCUMENTED = [(name, it) for name, it in PUBLIC if inspect.isclass(it) or inspect.isroutine(it)]


def docs_of(it: Any) -> str:
    """The docstring, and those of the classes it inherits fields from."""
    classes = it.__mro__ if inspect.isclass(it) else ()
    inherited = [cls.__doc__ or "" for cls in classes if dataclasses.is_dataclass(cls)]
    return "\n".join([inspect.getdoc(it) or "", *inherited])


def names_to_explain(it: Any) -> list[str]:
    if getattr(it, "_is_protocol", False):
        return []  # each of its methods has a docstring of its own
    if dataclasses.is_dataclass(it):
        return [field.name for field in dataclasses.fields(it)]
    if inspect.isclass(it):
        own = vars(it).get("__init__")
        names = [] if own is None else list(inspect.signature(own).parameters)[1:]
        # What an error is called with is its sentence first.
        return [name for name in names if not (name == "message" and issubclass(it, Exception))]
    return list(inspect.signature(it).parameters)


def says(name: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text) is not None


def test_every_public_name_is_a_class_a_function_or_a_value_of_one() -> None:
    others = [name for name, it in PUBLIC if not (inspect.isclass(it) or inspect.isroutine(it))]

    for name in others:
        value = getattr(synaptum, name.removeprefix("synaptum."))
        assert isinstance(value, UnionType) or type(value).__doc__, name


@pytest.mark.parametrize(("name", "it"), DOCUMENTED, ids=[name for name, _ in DOCUMENTED])
def test_a_public_docstring_explains_every_field_and_parameter(name: str, it: Any) -> None:
    text = docs_of(it)

    assert text.split("\n", 1)[0].endswith("."), "the first line is no sentence"
    missing = [one for one in names_to_explain(it) if one != "_" and not says(one, text)]
    assert missing == [], f"{name} does not explain {missing}"


@pytest.mark.parametrize(("name", "it"), DOCUMENTED, ids=[name for name, _ in DOCUMENTED])
def test_every_public_method_has_a_docstring(name: str, it: Any) -> None:
    bare = [
        member
        for member, value in (vars(it).items() if inspect.isclass(it) else ())
        if not member.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, property | classmethod))
        and not inspect.getdoc(value)
    ]

    assert bare == [], name


def public_functions(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every public function and method, with the docstrings it is read under."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node, inside + (ast.get_docstring(node) or ""))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(
            "_"
        ):
            yield inside + (ast.get_docstring(node) or ""), node


def raised_in(function: ast.AST) -> set[str]:
    """Classes of errors that the function's own body raises."""
    raised: set[str] = set()
    stack = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            called = node.exc.func
            if isinstance(called, ast.Name) and called.id[0].isupper():
                raised.add(called.id)
        stack.extend(ast.iter_child_nodes(node))
    return raised - {"AssertionError"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_public_docstring_names_every_error_that_its_function_raises(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))

    silent = [
        f"{function.name}: {error}"  # type: ignore[attr-defined]
        for text, function in public_functions(tree)
        for error in sorted(raised_in(function))
        if error not in text
    ]
    assert silent == []
