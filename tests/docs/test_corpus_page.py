"""docs/corpus.md and README.md: what they say of the corpus is so."""

import re
from collections import Counter
from pathlib import Path

from pytest_synaptum.corpus.tree import cases_below

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "corpus.md").read_text(encoding="utf-8")
CASES = cases_below(ROOT / "corpus")
#: Folders of the corpus, as the README writes their names.
SERVERS = {
    "llama.cpp": "llama.cpp",
    "litellm": "LiteLLM",
    "vllm": "vLLM",
    "transformers": "transformers serve",
}


def test_the_page_counts_the_cases_of_each_folder_and_all_of_them() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (\d+) \|", PAGE, re.MULTILINE)

    assert {folder: int(count) for folder, count in rows} == Counter(
        case.id.split("/")[1] for case in CASES
    )
    assert f"The {len(CASES)} cases come from these servers" in PAGE


def test_the_readme_names_the_servers_that_were_recorded() -> None:
    recorded = {case.id.split("/")[1] for case in CASES if case.kind == "recorded"}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.search(r"what real servers \(([^)]*)\)", readme)

    assert named is not None
    assert set(named[1].split(", ")) == {SERVERS[folder] for folder in recorded}
