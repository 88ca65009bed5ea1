"""docs/adapters.md: the commands work in a project of one's own, with the plugin and no more."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.markdown import blocks_of

ROOT = Path(__file__).parents[2]
BLOCKS = blocks_of(ROOT / "docs" / "adapters.md")
(INI,) = [block for block in BLOCKS if block.language == "ini"]
(COMMANDS,) = [block for block in BLOCKS if block.language == "sh"]
CASE = Path("openai_chat", "llama.cpp", "tool-call")

ADAPTER = """
from synaptum.providers.openai_compatible import OpenAICompatible

class MyAdapter(OpenAICompatible):
    name = "mine"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project as the page says; the submodule has our configuration, tests and two cases."""
    clone = tmp_path / "pytest-synaptum"
    for name in (CASE, CASE.with_name("plain-text")):
        shutil.copytree(ROOT / "corpus" / name, clone / "corpus" / name)
    shutil.copy(ROOT / "corpus" / "flags.yaml", clone / "corpus")
    shutil.copy(ROOT / "pyproject.toml", clone)
    for folder in ("tests", "suites"):
        (clone / folder).mkdir()
        (clone / folder / "test_ours.py").write_text("import what_only_we_have\n", "utf-8")
    (tmp_path / "pytest.ini").write_text(INI.text, encoding="utf-8")
    (tmp_path / "mypackage").mkdir()
    (tmp_path / "mypackage" / "adapter.py").write_text(ADAPTER, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_mine.py").write_text("def test_mine(): ...\n", encoding="utf-8")
    return tmp_path


def run(folder: Path, *args: str) -> str:
    """The output of pytest with the plugin alone, as in an environment with nothing else."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "pytest_synaptum.plugin", *args],
        cwd=folder,
        env={**kept, "CI": "true", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return f"{done.stdout}{done.stderr}\nexit status {done.returncode}"


def test_the_commands_of_the_page_hold_the_adapter_to_the_corpus(project: Path) -> None:
    all_of_it, some = [shlex.split(line)[1:] for line in COMMANDS.text.splitlines()]

    told = run(project, *all_of_it)
    assert "3 passed" in told and "exit status 0" in told, told
    told = run(project, *some)
    assert "1 passed, 1 deselected" in told and "exit status 0" in told, told
    assert "mypackage.adapter:MyAdapter" in run(project, *some, "-v")


def test_the_option_stands_for_the_setting_in_the_commands_of_the_page(project: Path) -> None:
    (project / "pytest.ini").write_text(INI.text.replace("MyAdapter", "Nothing"), "utf-8")
    some = shlex.split(COMMANDS.text.splitlines()[1])[1:]

    told = run(project, *some, "--synaptum-provider", "mypackage.adapter:MyAdapter")

    assert "1 passed, 1 deselected" in told, told


def test_the_corpus_copied_alone_is_named_without_more(project: Path) -> None:
    shutil.move(project / "pytest-synaptum" / "corpus", project / "corpus")
    shutil.rmtree(project / "pytest-synaptum")
    text = INI.text.replace("pytest-synaptum/", "")
    (project / "pytest.ini").write_text(text, encoding="utf-8")

    assert "2 passed" in run(project, "corpus")
    assert "3 passed" in run(project)
