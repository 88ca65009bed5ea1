"""What the corpus finds in the adapters of two agent frameworks; docs/corpus-findings.md tells all.

Pinned by case, so that a release of theirs that reads more turns a test red: then the page is to
be written anew (`python tests/frameworks/findings.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("langchain_openai", reason="run scripts/frameworks-suite")
pytest.importorskip("pydantic_ai", reason="run scripts/frameworks-suite")

sys.path.insert(0, str(Path(__file__).parent))

from findings import read
from wrapped import LangChain, PydanticAI

from pytest_synaptum.corpus.tree import case_named

CORPUS = Path(__file__).parents[2] / "corpus"


def found(adapter, name):
    case = case_named(CORPUS, f"openai_chat/{name}")
    return {field for one in read(case, adapter()) for field in one}


@pytest.mark.parametrize("adapter", [LangChain, PydanticAI])
@pytest.mark.parametrize(
    "name",
    [
        "derived/content-absent",
        "derived/stream-calls-interleaved",
        "derived/stream-call-id-empty-later",
        "derived/sse-crlf",
        "litellm/tool-calls-parallel",
        "llama.cpp/plain-text",
    ],
)
def test_both_read_what_most_servers_send(adapter, name):
    assert found(adapter, name) <= {"arguments text", "0 for unknown usage"}


@pytest.mark.parametrize(
    ("adapter", "name", "fields"),
    [
        (LangChain, "derived/stream-call-name-repeated", {"arguments text", "calls"}),
        (LangChain, "derived/stream-usage-running-totals", {"usage"}),
        (LangChain, "derived/reasoning-content", {"reasoning"}),
        (LangChain, "litellm/tool-call-cut-passes", {"calls"}),
        (LangChain, "derived/stream-ends-without-finish", {"success for a failure"}),
        (PydanticAI, "derived/stream-ends-without-finish", {"success for a failure"}),
        (PydanticAI, "derived/stream-usage-running-totals", {"usage"}),
        (PydanticAI, "derived/content-empty-alone", {"text", "0 for unknown usage"}),
    ],
)
def test_what_they_miss_is_found(adapter, name, fields):
    assert found(adapter, name) == fields
