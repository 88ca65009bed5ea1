"""A test that stops in its middle says nothing of the values it did not come to."""

from __future__ import annotations

import pytest

SOURCE = """
import os
import pytest

def test_x(synaptum_golden):
    synaptum_golden.check(1, name="first")
    if "STOP" in os.environ:
        pytest.{how}("not here")
    synaptum_golden.check(2, name="second")
"""


@pytest.mark.parametrize("how", ["skip", "xfail"], ids=["skipped", "expected to fail"])
def test_values_that_a_stopped_test_did_not_come_to_stay(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(test_it=SOURCE.replace("{how}", how))
    pytester.runpytest("--synaptum-update").assert_outcomes(passed=1)
    golden = pytester.path / "goldens" / "test_it" / "test_x.yaml"
    before = golden.read_bytes()
    monkeypatch.setenv("STOP", "1")

    for flag in ("--synaptum-strict", "--synaptum-update"):
        result = pytester.runpytest(flag)

        assert result.ret == 0
        result.stdout.no_fnmatch_line("*unused*")
        assert golden.read_bytes() == before
