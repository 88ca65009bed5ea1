"""All recorded public exchanges go through the importer, and the cases run.

The recordings are other people's and no part of this project: without them this is skipped.
"""

from __future__ import annotations

import json

import pytest
from support.exchanges import exchange_files

from pytest_synaptum.cli import main

FILES = exchange_files()


def test_every_one_becomes_a_case_or_is_left_out_with_a_reason_and_the_cases_run(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(FILES[0].parent), "--into", "corpus", "--goldens", "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert len(told["cases"]) + len(told["left_out"]) == len(FILES)
    assert all(one["reason"].startswith("it shows the same as ") for one in told["left_out"])
    assert all(case["licence"] for case in told["cases"])
    assert main(["lint", "--corpus", "corpus", "--quiet"]) == 0
    result = pytester.runpytest("corpus", "-q", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=len(told["cases"]))
