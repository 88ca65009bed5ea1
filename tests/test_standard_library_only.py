"""synaptum imports the standard library and nothing else: shown, not promised."""

import ast
import subprocess
import sys
from pathlib import Path

import synaptum

PACKAGE = Path(synaptum.__file__).parent

# Runs without site-packages (-S) and without the environment (-I), and refuses by name what
# is neither the standard library nor synaptum, so that it also holds where site-packages are
# reachable some other way.
IMPORT_EVERYTHING = """
import importlib, importlib.abc, pkgutil, sys

class OnlyTheStandardLibrary(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root != "synaptum" and root not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"synaptum asked for {name}")
        return None

sys.meta_path.insert(0, OnlyTheStandardLibrary())
sys.path.insert(0, sys.argv[1])
import synaptum
modules = [m.name for m in pkgutil.walk_packages(synaptum.__path__, "synaptum.")]
for name in modules:
    importlib.import_module(name)
print(len(modules))
"""


def test_every_module_of_synaptum_imports_without_any_other_package() -> None:
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", IMPORT_EVERYTHING, str(PACKAGE.parent)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    files = [p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py"]
    assert int(run.stdout) == len(files)


def test_no_module_of_synaptum_names_another_package_at_its_top() -> None:
    named = [
        f"{path.relative_to(PACKAGE.parent)}:{node.lineno}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        for name in imported_by(node)
        if name not in sys.stdlib_module_names and name != "synaptum"
    ]

    assert named == []


def imported_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        # A relative import stays inside the package.
        return ["synaptum" if node.level else (node.module or "").partition(".")[0]]
    return []
