"""Tracing without OpenTelemetry installed."""

from __future__ import annotations

import sys

import pytest
from support.runs import conversation

from synaptum.errors import ConfigurationError
from synaptum.telemetry import traced


async def steps():
    for step in conversation(1):
        yield step


def test_tracing_without_opentelemetry_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ConfigurationError, match=r"pytest-synaptum\[otel\]"):
        traced(steps())
