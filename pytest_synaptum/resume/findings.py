"""Findings made of what is at hand: two values that differ, or a stop that was none."""

from __future__ import annotations

import signal
import traceback
from dataclasses import replace
from typing import Any, Final

from pytest_synaptum.golden.paths import show_path
from pytest_synaptum.resume.boundaries import Cell
from pytest_synaptum.resume.causes import cause_of
from pytest_synaptum.resume.passage import End
from pytest_synaptum.resume.report import Finding
from pytest_synaptum.resume.stops import KILLS
from pytest_synaptum.resume.world import World

__all__ = [
    "at",
    "difference",
    "hung",
    "killed_elsewhere",
    "not_killed",
    "not_stopped",
    "raised",
    "store_failed",
]

STATE_LOST: Final = (
    "a tool that keeps in memory what must outlive the process: keep it outside of it"
)


def difference(
    check: str, message: str, where: str, recorded: Any, came: Any, **facts: Any
) -> Finding:
    """A finding from two JSON values that differ.

    In: besides the fields of `Finding`, `tool` and `ran_again` for the cause.
    """
    from pytest_synaptum.golden.describe import describe, differences

    known = {name: facts.pop(name) for name in ("tool", "ran_again") if name in facts}
    cause = facts.pop("cause", None)
    found = differences(recorded, came)
    if not found:  # equal as JSON: it is the order of keys that differs
        return Finding(
            check=check,
            message=message,
            where=where,
            cause="the order of keys in a mapping: build it in a fixed order",
            **facts,
        )
    lines = describe(recorded, came)
    first = found[0]
    path = show_path(first.path)
    return Finding(
        check=check,
        message=message,
        where=where,
        path=path,
        recorded=lines[1].strip().removeprefix("expected").strip(),
        came=lines[2].strip().removeprefix("actual").strip(),
        cause=cause or cause_of(first.expected, first.actual, path, **known),
        lines=tuple(lines),
        **facts,
    )


def not_stopped(where: str, world: World, end: End) -> Finding:
    """A run that was to be stopped did not come to the boundary, or went on behind it."""
    return Finding(
        check="end",
        message="the run was stopped here, and went on or ended otherwise",
        where=where,
        recorded="a run that stops where its store fails or its task is cancelled",
        came=world.names(str(end)),
        cause="the agent or the gateway swallows the error of the store, or the cancellation",
    )


def not_killed(where: str, status: int, told: str, patience_s: float) -> Finding:
    """A child was to die at the boundary, and did not come to it.

    In: its exit code, its traceback if it left one, and how long it was waited for.
    """
    lines = told.strip().splitlines()
    last = lines[-1] if lines else f"exit code {status}"
    if status == -signal.SIGALRM:
        last = _no_end(patience_s)
    return Finding(
        check="end",
        message="the run did not come to this boundary in a process of its own",
        where=where,
        recorded="killed by SIGKILL at the boundary",
        came=last,
        cause="something that does not work in a forked process, or a run that takes another way",
        lines=tuple(lines) if len(lines) > 1 else (),
    )


def killed_elsewhere(where: str) -> Finding:
    """A child was killed, but not by the check."""
    return Finding(
        check="end",
        message="the process was killed before it came to this boundary",
        where=where,
        recorded="killed by SIGKILL at the boundary",
        came="killed by SIGKILL elsewhere",
        cause="something else killed it: a lack of memory, or the agent itself",
    )


def raised(where: str, error: Exception) -> Finding:
    """A run raised what is no end of a run; the straight one did not."""
    return Finding(
        check="end",
        message="the run raises what the straight run did not",
        where=where,
        recorded="a run that ends as the straight one",
        came=_named(error),
        cause="changed code or hidden state: what this run began with was another thing",
        lines=tuple(_told(error)),
    )


def hung(where: str, patience_s: float) -> Finding:
    """A run did not come to its end."""
    return Finding(
        check="end",
        message="the run hangs",
        where=where,
        recorded="a run that ends as the straight one",
        came=_no_end(patience_s),
        cause="something that is waited for and does not come after the stop: a lock that nobody"
        " lets go of, an answer that is not asked for again",
    )


def _no_end(patience_s: float) -> str:
    return f"no end after {patience_s:.0f} seconds"


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _told(error: Exception) -> list[str]:
    return "".join(traceback.format_exception(error)).splitlines()


def store_failed(where: str, error: Exception) -> Finding:
    """The store cannot be used after the stop."""
    return Finding(
        check="store",
        message="the store cannot be read or written after the stop",
        where=where,
        recorded="a journal that can be loaded",
        came=_named(error),
        cause="the store: what it leaves behind when a run is stopped here",
        lines=tuple(_told(error)),
    )


def at(finding: Finding, cell: Cell) -> Finding:
    """The finding with the stopped run it belongs to."""
    if cell.stop in KILLS and finding.check == "journal" and "-tool" in finding.step:
        cause = f"{finding.cause}; or {STATE_LOST}"
        return replace(finding, cell=cell, cause=cause)
    return replace(finding, cell=cell)
