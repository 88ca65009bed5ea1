"""pytest-synaptum: record LLM exchanges once, replay them for ever, hold them to goldens.

Names are imported when they are asked for: pytest loads this package at every start.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_synaptum.contracts.checkpointer import CheckpointerContract
    from pytest_synaptum.contracts.gateway import GatewayContract
    from pytest_synaptum.contracts.provider import ProviderContract
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
    from pytest_synaptum.resume.fixture import check_resume
    from pytest_synaptum.resume.protocol import AnyAgent, Probe
    from pytest_synaptum.resume.report import ResumeReport
    from pytest_synaptum.resume.stops import Stop
    from pytest_synaptum.trajectories import trajectory

_HOMES = {
    "AnyAgent": "resume.protocol",
    "CheckpointerContract": "contracts.checkpointer",
    "GatewayContract": "contracts.gateway",
    "ModelDouble": "doubles",
    "Probe": "resume.protocol",
    "ProviderContract": "contracts.provider",
    "ResumeReport": "resume.report",
    "Stop": "resume.stops",
    "breaks": "doubles",
    "calls": "doubles",
    "check_resume": "resume.fixture",
    "cut": "doubles",
    "denies": "doubles",
    "drops": "doubles",
    "fails": "doubles",
    "filtered": "doubles",
    "refuses": "doubles",
    "says": "doubles",
    "slow": "doubles",
    "thinks": "doubles",
    "trajectory": "trajectories",
}

__all__ = [
    "AnyAgent",
    "CheckpointerContract",
    "GatewayContract",
    "ModelDouble",
    "Probe",
    "ProviderContract",
    "ResumeReport",
    "Stop",
    "breaks",
    "calls",
    "check_resume",
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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(f"pytest_synaptum.{_HOMES[name]}"), name)
