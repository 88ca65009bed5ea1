"""Somebody else's adapter on our corpus: what it reads right, and what the corpus finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_synaptum.corpus.case import load_case
from pytest_synaptum.corpus.checking import CaseFailure, check_case
from pytest_synaptum.corpus.flags import find_flags

pytest.importorskip("openai", reason="the openai SDK is not installed (group `bench`)")

from support.sdk_adapter import OpenAISdk

from synaptum.models.dialect import Dialect

CORPUS = Path(__file__).parents[3] / "corpus" / "openai_chat"
DERIVED = CORPUS / "derived"


def rules_broken_by_the_sdk(name):
    path = (CORPUS if "/" in name else DERIVED) / name / "case.yaml"
    flags = find_flags(path)
    case = load_case(path, flags)
    try:
        check_case(case, flags, "sdk", Dialect(OpenAISdk()), update=False)
    except CaseFailure as failure:
        return set(re.findall(r"^rule `([a-z-]+)`", str(failure), re.MULTILINE))
    return set()


@pytest.mark.parametrize(
    "name",
    [
        "content-null-beside-call",
        "content-empty-alone",
        "leading-white-space-kept",
        "tool-calls-null",
        "usage-details",
        "stream-usage-in-last-chunk",
        "error-429-retry-after",
        "arguments-big-number",
    ],
)
def test_the_openai_sdk_reads_what_openai_sends(name):
    assert rules_broken_by_the_sdk(name) == set()


def test_masks_over_the_reference_adapters_own_fields_do_not_bind_others():
    # The SDK's adapter keeps no `provider_metadata`, where the case masks `created` and `id`.
    name = "llama.cpp/two-user-turns"
    masks = (CORPUS / name / "case.yaml").read_text(encoding="utf-8")

    assert "response.provider_metadata.created: <int>" in masks
    assert rules_broken_by_the_sdk(name) == set()


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("content-empty-beside-call", {"golden"}),
        ("arguments-empty-string", {"errors"}),
        ("arguments-cut-by-length", {"errors"}),
        ("finish-unknown-word", {"errors"}),
        ("finish-stop-with-call", {"golden"}),
        ("reasoning-content", {"golden"}),
        ("usage-cached-at-top", {"golden"}),
        ("error-object-in-200", {"golden"}),
    ],
)
def test_the_corpus_finds_what_the_openai_sdk_does_not_read(name, rules):
    assert rules_broken_by_the_sdk(name) == rules
