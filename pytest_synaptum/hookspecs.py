"""Hooks that users of the plugin may implement in a conftest or a plugin of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

__all__ = ["pytest_synaptum_redact", "pytest_synaptum_volatile"]


@pytest.hookspec
def pytest_synaptum_redact(config: pytest.Config) -> Iterable[str | re.Pattern[str]]:  # type: ignore[empty-body]
    """Name more secrets: exact texts, or patterns, to be replaced in everything written.

    They are replaced in paths, kept headers and bodies wherever they stand, split over
    chunks too; a write that still holds one is refused. A pattern should match characters
    that need no escape in JSON.
    """


@pytest.hookspec
def pytest_synaptum_volatile(config: pytest.Config) -> Iterable[str]:  # type: ignore[empty-body]
    """Name places in request bodies that change from run to run, for every test.

    Each is a path such as `messages.*.tool_call_id`, as in the marker's `ignore=` and the ini
    setting `synaptum_ignore`, to which these are added: a plugin that puts ids or times into
    requests can say so itself.
    """
