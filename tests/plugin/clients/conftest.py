"""The suite under test of this folder."""

import httpcore
import httpcore2
import httpx
import httpx2
import openai
import pytest
from support.recorded_suite import RecordedSuite

#: Loaded here, so that pytester, which forgets what an inner run imported, keeps them: a
#: library that is half forgotten does not know its own exceptions.
LOADED = (httpcore, httpcore2, httpx, httpx2, openai.resources.chat)


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> RecordedSuite:
    return RecordedSuite(pytester, monkeypatch)
