"""The suite under test of this folder."""

import pytest
from support.recorded_suite import RecordedSuite


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> RecordedSuite:
    return RecordedSuite(pytester, monkeypatch)
