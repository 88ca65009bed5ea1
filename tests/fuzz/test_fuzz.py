"""A short run of the fuzzer; `python tests/fuzz/fuzz_bodies.py` is the long one."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


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
