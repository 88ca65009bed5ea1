"""A short run of the fuzzer; `python tests/fuzz/fuzz_bodies.py` is the long one."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from synaptum.providers.openai_compatible import OpenAICompatible


@pytest.fixture
def fuzzer():
    path = Path(__file__).with_name("fuzz_bodies.py")
    spec = importlib.util.spec_from_file_location("fuzz_bodies", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_broken_answers_neither_crash_nor_hang_nor_pass_for_whole(fuzzer):
    ends, faults = fuzzer.fuzz(1500, seed=20261130)

    assert faults == []
    assert ends["cut"] + ends["mutated"] == 1500
    # Some stay readable, and some do not: else nothing was tried.
    assert ends["response"] > 100
    assert ends["ProviderError"] > 100
    assert ends["NetworkError"] > 20


@pytest.mark.parametrize("odd", [1.5, True, "words", {"text": "words"}, [None, 3, [], "x"]])
def test_reasoning_details_of_another_type_are_no_crash(odd):
    """What the long run found once stays found."""
    message = {"role": "assistant", "content": "Thursday.", "reasoning_details": odd}

    response = OpenAICompatible().from_wire(
        {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    )

    assert response.text == "Thursday."
