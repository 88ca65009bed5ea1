"""Secrets out of what pytest says about a failed test.

A traceback shows arguments, with `--showlocals` every local variable, and captured logs show
URLs: a client's frames hold the key. What is known to be a secret (the key variables, what the
project's hooks name, the credentials that were sent) is replaced in the report before anybody
prints it, sends it from a worker, or writes it to a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from pytest_synaptum.redact import Redactor
from pytest_synaptum.secrets import spellings

__all__ = ["clean_report"]

#: How pytest breaks a long text over lines, between any two characters of it.
_BREAK = r"""(?:['"]\n[\sE|]*[bru]*['"])?"""


def clean_report(report: pytest.TestReport, redactor: Redactor) -> None:
    """Replace known secrets in everything that `report` shows."""
    if report.longrepr is None and not report.sections:
        return
    redactor.refresh()
    pattern = _pattern(redactor.known())
    if pattern is None:
        return
    report.sections = [(name, pattern.sub(_NEW, text)) for name, text in report.sections]
    report.longrepr = _cleaned(report.longrepr, pattern, set())


_NEW = "REDACTED-KEY"


def _pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    ways = {_BREAK.join(re.escape(letter) for letter in way) for way in _spelled(secrets)}
    ordered = sorted(ways, key=lambda way: (-len(way), way))
    return re.compile("|".join(ordered), re.IGNORECASE) if ways else None


def _spelled(secrets: Iterable[str]) -> Iterator[str]:
    for secret in secrets:
        yield repr(secret)[1:-1]
        yield from (way.decode("utf-8", "replace") for way in spellings(secret))


def _cleaned(value: Any, pattern: re.Pattern[str], seen: set[int]) -> Any:
    """`value` with its texts cleaned; objects, such as pytest's reprs, are changed in place."""
    if isinstance(value, str):
        return pattern.sub(_NEW, value)
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return pattern.sub(_NEW, "\n".join(value)).split("\n") if value else value
    if isinstance(value, list):
        return [_cleaned(one, pattern, seen) for one in value]
    if isinstance(value, tuple):
        parts = [_cleaned(one, pattern, seen) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if hasattr(value, "__dict__") and id(value) not in seen:
        seen.add(id(value))
        for name, inner in vars(value).items():
            object.__setattr__(value, name, _cleaned(inner, pattern, seen))
    return value
