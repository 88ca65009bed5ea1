"""Doubles that live with the library: a scripted model and a clock that waits for nothing."""

from synaptum.testing.fake_clock import FakeClock
from synaptum.testing.scripted import (
    ScriptedModel,
    ScriptError,
    Turn,
    breaks,
    calls,
    cut,
    denies,
    drops,
    fails,
    filtered,
    refuses,
    says,
    thinks,
)

__all__ = [
    "FakeClock",
    "ScriptError",
    "ScriptedModel",
    "Turn",
    "breaks",
    "calls",
    "cut",
    "denies",
    "drops",
    "fails",
    "filtered",
    "refuses",
    "says",
    "thinks",
]
