"""examples/adapter: an adapter of one's own, held to the corpus as its README says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def pytest_in(folder: Path) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"],
        cwd=folder,
        env={**kept, "CI": "true"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return f"{done.stdout}\nexit status {done.returncode}"


def a_copy_of_the_project(tmp_path: Path) -> Path:
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    project = tmp_path / "projects" / "adapter"
    shutil.copytree(ROOT / "examples" / "adapter", project)
    return project


def test_the_adapter_holds_in_what_it_claims(tmp_path: Path) -> None:
    told = pytest_in(a_copy_of_the_project(tmp_path))

    assert "exit status 0" in told, told
    found = re.search(r"(\d+) passed, (\d+) skipped", told)
    assert found, told
    assert int(found[1]) > 70


def test_a_mistake_in_the_adapter_is_found_by_the_corpus(tmp_path: Path) -> None:
    project = a_copy_of_the_project(tmp_path)
    adapter = project / "pocket_adapter.py"
    right = 'known = calls.get(piece["index"])'
    text = adapter.read_text(encoding="utf-8")
    assert right in text
    # Every fragment is taken for the first call's: wrong where a turn makes two.
    adapter.write_text(text.replace(right, "known = calls.get(0)"), encoding="utf-8")

    told = pytest_in(project)

    assert "exit status 1" in told
    assert "openai_chat/llama.cpp/tool-call-parallel under pocket_adapter:PocketAdapter" in told
    assert "flag `tool-call-parallel`:" in told
