"""pytest-synaptum: record LLM exchanges once, replay them for ever, hold them to goldens.

Names are imported when they are asked for: pytest loads this package at every start.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_synaptum.doubles import (
        ModelDouble,
        breaks,
        calls,
        cut,
        denies,
        drops,
        fails,
        filtered,
        refuses,
        says,
        slow,
        thinks,
    )
    from pytest_synaptum.trajectories import trajectory

__all__ = [
    "ModelDouble",
    "breaks",
    "calls",
    "cut",
    "denies",
    "drops",
    "fails",
    "filtered",
    "refuses",
    "says",
    "slow",
    "thinks",
    "trajectory",
]

_HOMES = dict.fromkeys(__all__, "pytest_synaptum.doubles") | {
    "trajectory": "pytest_synaptum.trajectories"
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(_HOMES[name]), name)
