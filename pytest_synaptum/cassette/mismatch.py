"""The message for a request that a cassette does not hold: what is nearest, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from pytest_synaptum.cassette.entry import Entry
from pytest_synaptum.cassette.match import ABSENT, Matcher, differences, entry_value

__all__ = ["Asked", "describe"]

#: Differences shown; the first ones say what happened.
_SHOWN: Final = 5
#: Characters shown of a value, around the first place where the two differ.
_WIDTH: Final = 76

_VOLATILE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{1,2}:\d{2}(?::\d{2})?|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
    r"|\b(?=[0-9a-zA-Z_-]*\d)[0-9a-zA-Z_-]{4,}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The request that found no answer; `body` a JSON value or bytes, redacted and masked."""

    method: str
    path: str
    body: Any


def describe(
    asked: Asked,
    entries: list[Entry],
    used: set[int],
    matcher: Matcher,
    *,
    test: str,
    where: str,
    command: str,
) -> str:
    """Say what was asked, what is nearest, where they differ, why, and the command to type."""
    lines = [
        f"{test} asked for something that its cassette does not hold: {asked.method} {asked.path}",
        f"  cassette: {where}",
    ]
    if not entries:
        lines.append("  nearest:  none, the cassette holds no exchange")
    else:
        entry, found = min(
            ((entry, _differences(entry, asked, matcher)) for entry in entries),
            key=lambda pair: (_distance(pair[1]), pair[0].number in used),
        )
        lines += _nearest(entry, found, entry.number in used)
    lines.append(f"  to record it again: {command}")
    return "\n".join(lines)


def _nearest(entry: Entry, found: list[tuple[str, Any, Any]], used: bool) -> Iterable[str]:
    state = "already answered" if used else "not answered yet"
    yield f"  nearest:  {entry.name}, {entry.method} {entry.path}, {state}"
    if not found:
        yield "  differs:  in nothing: this request matches, but it was recorded fewer times"
        yield "            than it is asked now (another turn, a retry, or a second call)"
        return
    for place, recorded, asked in found[:_SHOWN]:
        old, new = _window(recorded, asked)
        yield f"  differs:  at {place}"
        yield f"              recorded: {old}"
        yield f"              asked:    {new}"
    if len(found) > _SHOWN:
        yield f"            and at {len(found) - _SHOWN} more places"
    cause = _cause(found)
    if cause:
        yield f"  likely:   {cause}"


def _differences(entry: Entry, asked: Asked, matcher: Matcher) -> list[tuple[str, Any, Any]]:
    found: list[tuple[str, Any, Any]] = []
    if entry.method != asked.method:
        found.append(("the method", entry.method, asked.method))
    if entry.path != asked.path:
        found.append(("the path", entry.path, asked.path))
    return found + differences(matcher.masked(entry_value(entry)), asked.body)


def _distance(found: list[tuple[str, Any, Any]]) -> int:
    # Another method or path is farther away than any difference in the body.
    return sum(1000 if place.startswith("the ") else 1 for place, _, _ in found)


def _window(recorded: Any, asked: Any) -> tuple[str, str]:
    old, new = _shown(recorded), _shown(asked)
    if max(len(old), len(new)) <= _WIDTH:
        return old, new
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    start = max(0, same - _WIDTH // 3)
    return _clipped(old, start), _clipped(new, start)


def _clipped(text: str, start: int) -> str:
    piece = text[start : start + _WIDTH]
    return ("…" if start else "") + piece + ("…" if start + _WIDTH < len(text) else "")


def _shown(value: Any) -> str:
    if value is ABSENT:
        return repr(value)
    if isinstance(value, bytes):
        return repr(value[: 4 * _WIDTH])
    return json.dumps(value, ensure_ascii=False)


def _cause(found: list[tuple[str, Any, Any]]) -> str | None:
    """The likely cause, where the differences tell it."""
    places = [place for place, _, _ in found]
    if places == ["$.model"]:
        return "another model is asked than was recorded: give the recorded one, or record again."
    tools = [pair for pair in found if pair[0].startswith("$.tools")]
    if tools and len(tools) == len(found):
        return (
            "the tools changed, or come in another order (a set or a dict built differently):"
            " offer them in a fixed order."
        )
    if all(isinstance(a, str) and isinstance(b, str) for _, a, b in found) and all(
        _VOLATILE.sub("~", a) == _VOLATILE.sub("~", b) for _, a, b in found
    ):
        mask = re.sub(r"\[\d+\]", ".*", places[0].removeprefix("$.")).replace("..", ".")
        return (
            "a date, a time or an id that changes from run to run: take it from a fixed clock,"
            f' or name its place, @pytest.mark.synaptum(ignore=["{mask}"]).'
        )
    return None
