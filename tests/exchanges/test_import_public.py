"""All recorded public exchanges go through the importer, and the cases run.

The recordings are other people's and no part of this project: without them this is skipped.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_synaptum.cli import main

FOLDER = Path(
    os.environ.get("SYNAPTUM_EXCHANGES")
    or Path(__file__).resolve().parents[2].parent / "shared" / "exchanges" / "dev"
)
FILES = sorted(FOLDER.glob("*.json"))

if not FILES:
    pytest.skip(
        "the recorded public exchanges are not here: set SYNAPTUM_EXCHANGES to their folder",
        allow_module_level=True,
    )


def test_every_one_becomes_a_case_or_is_left_out_with_a_reason_and_the_cases_run(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(FOLDER), "--into", "corpus", "--goldens", "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert len(told["cases"]) + len(told["left_out"]) == len(FILES)
    assert all(one["reason"].startswith("it shows the same as ") for one in told["left_out"])
    assert all(case["licence"] for case in told["cases"])
    assert main(["lint", "--corpus", "corpus", "--quiet"]) == 0
    result = pytester.runpytest("corpus", "-q", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=len(told["cases"]))
