"""The surroundings under which a run is repeated: one thing changes in each."""

from __future__ import annotations

import functools
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Final

from pytest_synaptum.resume.causes import CLOCK, SET_ORDER

__all__ = ["CACHES", "Surroundings", "all_surroundings"]

TIME_ZONE: Final = (
    "the time zone: a local time came in; use UTC, or give the zone to whoever formats"
)
LOCALE: Final = (
    "the locale: a number, a date, an order or an encoding follows the machine; name the encoding"
    " of every file, and format without the locale"
)
FOLDER: Final = "the working folder: a relative path was read; start from the module's own folder"
CACHES: Final = (
    "caches or state of the process: what an earlier run left in memory changed this one, or its"
    " absence did"
)

#: A year, a month, a day, some hours and minutes: every part of a date moves.
_LATER_S: Final = 34_300_000.0 + 12_345.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """One way in which a process is not the test's.

    Attributes:
        name: as the report shows it.
        cause: why a run that differs there does.
        environment: variables that are set.
        is_elsewhere: in an empty working folder.
        later_s: seconds that its clock is ahead.
    """

    name: str
    cause: str
    environment: dict[str, str] = field(default_factory=dict)
    is_elsewhere: bool = False
    later_s: float = 0.0


def all_surroundings() -> list[Surroundings]:
    """All of them; hash seeds come first, so that what they change is not blamed on others."""
    found = [
        Surroundings(
            name=f"PYTHONHASHSEED={seed}", cause=SET_ORDER, environment={"PYTHONHASHSEED": seed}
        )
        for seed in ("1", "2", "3", "4")
    ]
    found += [
        Surroundings(name=f"TZ={zone}", cause=TIME_ZONE, environment={"TZ": zone})
        for zone in ("AHEAD-14", "BEHIND+11")
    ]
    # An ASCII world: without the two other variables Python would not believe in it.
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    found.append(Surroundings(name="LC_ALL=C", cause=LOCALE, environment=ascii_only))
    foreign = _foreign_locale()
    if foreign is not None:
        found.append(
            Surroundings(name=f"LC_ALL={foreign}", cause=LOCALE, environment={"LC_ALL": foreign})
        )
    found.append(Surroundings(name="another working folder", cause=FOLDER, is_elsewhere=True))
    found.append(Surroundings(name="a clock that is ahead", cause=CLOCK, later_s=_LATER_S))
    return found


@functools.cache
def _foreign_locale() -> str | None:
    """A locale of this machine that writes numbers or letters otherwise, if it has one."""
    command = shutil.which("locale")
    if command is None:
        return None
    listed = subprocess.run([command, "-a"], capture_output=True, text=True, check=False).stdout
    wanted = ("tr_TR", "de_DE", "fr_FR", "es_ES", "ru_RU")
    return next((name for name in listed.split() if name.startswith(wanted)), None)
