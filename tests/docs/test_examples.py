"""Every example in the documentation runs.

A page is a folder. A block with a file name after its language (```python test_x.py) is that
file; a Python block without one is a script of its own; a YAML block without one must be
readable. ```sh run is executed in the folder, in the page's order. After the last block
the folder's own tests must pass. Other shell blocks are for a machine we do not have
(they fetch or record): the options and commands they name must exist.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.markdown import Block, blocks_of

from pytest_synaptum import strict_yaml

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

#: Languages that are prose to us: pictures, output, fragments of a test file or of JSON.
NOT_RUN = {"text", "toml", "ini", "diff", "json", "markdown", "jinja", "mermaid"}


EXAMPLES: dict[str, list[Path]] = {}
for example in sorted((ROOT / "examples").rglob("test_*.py")):
    EXAMPLES.setdefault(example.name, []).append(example)


def environment(home: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith("PYTEST_")}
    return {**kept, "PATH": path, "HOME": str(home), "PYTHONPATH": ""}


def run(command: list[str], folder: Path, where: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{where}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def bring_recordings(target: Path) -> None:
    """A test that stands among the examples, word for word, brings what was recorded for it."""
    for example in EXAMPLES.get(target.name, ()):
        assert example.read_text(encoding="utf-8") == target.read_text(encoding="utf-8")
        for kind in ("cassettes", "goldens"):
            folder = example.parent / kind / example.stem
            if folder.is_dir():
                shutil.copytree(folder, target.parent / kind / example.stem)


def carry_out(block: Block, folder: Path) -> None:
    named = block.words[0] if block.words else ""
    if block.language in {"python", "yaml"} and named:
        target = folder / named
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8")
        bring_recordings(target)
    elif block.language == "python":
        run([sys.executable, "-W", "error", "-c", block.text], folder, block.where)
    elif block.language == "yaml":
        strict_yaml.load(block.text, source=block.where)
    elif block.language == "sh" and named == "run":
        run(["bash", "-euc", block.text], folder, block.where)
    else:
        assert block.language in {"sh", *NOT_RUN}, f"{block.where}: {block.language}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    for block in blocks_of(page):
        carry_out(block, tmp_path)

    if any(tmp_path.rglob("test_*.py")):
        run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], tmp_path, page.name)


def commands() -> str:
    return "\n".join(b.text for page in PAGES for b in blocks_of(page) if b.language == "sh")


def test_every_option_that_the_pages_name_exists(pytester: pytest.Pytester) -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"--synaptum-[a-z-]+[a-z]", text))

    helped = pytester.runpytest("--help").stdout.str()

    assert {option for option in named if option not in helped} == set()
    assert "--synaptum-record" in named


def test_every_script_that_the_pages_name_exists() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"\b(?:scripts|\.ci)/[a-z_-]+[a-z]", text))

    assert {script for script in named if not (ROOT / script).exists()} == set()
    assert {"scripts/demo", "scripts/test"} <= named


def test_every_subcommand_that_the_pages_name_exists() -> None:
    named = set(re.findall(r"synaptum-corpus ([a-z]+)", commands()))

    helped = run([sys.executable, "-m", "pytest_synaptum", "--help"], ROOT, "--help")

    assert {name for name in named if not re.search(rf"^\s+{name}\b", helped, re.M)} == set()
    assert "model" in named


def test_every_link_inside_the_project_leads_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert broken == []
