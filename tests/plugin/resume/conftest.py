"""Agents to check, made by factories: each run of a check starts anew."""

from __future__ import annotations

import pytest
from support.recorded_suite import RecordedSuite


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> RecordedSuite:
    return RecordedSuite(pytester, monkeypatch)
