"""Without its extra, the bridge says what to install."""

from __future__ import annotations

import sys

import pytest

from synaptum.errors import ConfigurationError
from synaptum.providers.axonium import AxoniumModel


def test_a_missing_sdk_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "axonium", None)

    with pytest.raises(ConfigurationError, match=r"pytest-synaptum\[axonium\]"):
        AxoniumModel()
