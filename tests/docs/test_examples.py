"""Every example in the documentation runs, or says on the page why it does not.

A page is a folder. A block with a file name after its language (```python test_x.py, ```ini
pytest.ini) is that file. Without a name, Python is a script of its own, and YAML, TOML, ini and
JSON must be readable. ```sh run is executed in the folder, in the page's order; ```sh run corpus
the same, with a copy of the corpus in it. After the last block the folder's own tests must pass.

```sh not run: REASON is for a machine we do not have here (a live server, an index of packages).
Its options, scripts and commands must exist all the same, and its shell must parse. Blocks of
text, differences and output are prose to us.
"""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.markdown import Block, blocks_of

from pytest_synaptum import strict_yaml

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]

#: Languages that are prose to us: pictures, output, templates.
PROSE = {"text", "diff", "markdown", "jinja"}


def parse_ini(text: str) -> None:
    configparser.ConfigParser(interpolation=None).read_string(text)


#: Languages of files; without a name such a block must be readable.
READ_BY = {"ini": parse_ini, "toml": tomllib.loads, "json": json.loads}


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
    if block.language == "sh":
        carry_out_shell(block, folder)
    elif block.language in {"python", "yaml", *READ_BY} and named:
        target = folder / named
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8")
        bring_recordings(target)
    elif block.language == "python":
        run([sys.executable, "-W", "error", "-c", block.text], folder, block.where)
    elif block.language == "yaml":
        strict_yaml.load(block.text, source=block.where)
    elif block.language in READ_BY:
        READ_BY[block.language](block.text)
    else:
        assert block.language in PROSE, f"{block.where}: {block.language}"


def carry_out_shell(block: Block, folder: Path) -> None:
    if block.words[:2] == ("not", "run:"):
        assert len(block.words) > 2, f"{block.where}: not run, and no reason is given"
        run(["bash", "-nc", block.text], folder, block.where)
        return
    assert block.words in {("run",), ("run", "corpus")}, (
        f"{block.where}: say how this shell block is run: `sh run`, `sh run corpus`, or"
        " `sh not run: REASON`"
    )
    if "corpus" in block.words and not (folder / "corpus").exists():
        shutil.copytree(ROOT / "corpus", folder / "corpus")
    run(["bash", "-euc", block.text], folder, block.where)


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
