"""The message for a request that a cassette does not hold: what is nearest, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
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
    shared_by: Sequence[str] = (),
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
        lines += [
            f"  likely:   {cause}" for cause in _causes(entry_value(entry), asked.body, found)
        ]
    if len(shared_by) > 1:
        lines += _shared(shared_by)
    lines.append(f"  to record it again: {command}")
    return "\n".join(lines)


def _shared(tests: Sequence[str]) -> Iterable[str]:
    more = len(tests) - _SHOWN
    names = ", ".join(tests[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    yield f"  shared:   by {names}"
    yield "            The first of them that runs records for all, so it has to ask for all; a"
    yield "            test that asks for something of its own needs a cassette of its own."


def _nearest(entry: Entry, found: list[tuple[str, Any, Any]], used: bool) -> Iterable[str]:
    state = "already answered" if used else "not answered yet"
    yield f"  nearest:  {entry.name}, {entry.method} {entry.path}, {state}"
    if not found:
        yield "  differs:  in nothing: this request matches, but it was recorded fewer times"
        yield "            than it is asked now (another turn, a retry, or a second call)"
        return
    for place, recorded, asked in found[:_SHOWN]:
        if _was_replaced(recorded, asked):
            asked = "(the same, with a secret in its place)"
        old, new = _window(recorded, asked)
        yield f"  differs:  at {place}"
        yield f"              recorded: {old}"
        yield f"              asked:    {new}"
    if len(found) > _SHOWN:
        yield f"            and at {len(found) - _SHOWN} more places"


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


def _causes(recorded: Any, asked: Any, found: list[tuple[str, Any, Any]]) -> Iterable[str]:
    """The likely causes, where the differences tell them."""
    places = [place for place, _, _ in found]
    if "$.model" in places:
        yield "another model is asked than was recorded: give the recorded one, or record again."
    if any(place.startswith("$.tools") for place in places):
        yield _about_tools(_tools(recorded), _tools(asked))
    for place, old, new in found:
        if _was_replaced(old, new):
            yield (
                f"at {place}, a secret that was replaced while recording, when an answer or a later"
                " request told it for one: name it in the hook pytest_synaptum_redact."
            )
            return
        if _is_volatile(old, new):
            yield (
                f"at {place}, a date, a time or an id that changes from run to run: take it from a"
                " fixed clock, or name its place,"
                f' @pytest.mark.synaptum(ignore=["{_mask_for(place)}"]).'
            )
            return


def _is_volatile(old: Any, new: Any) -> bool:
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    return old != new and _VOLATILE.sub("~", old) == _VOLATILE.sub("~", new)


def _was_replaced(old: Any, new: Any) -> bool:
    """Whether what is asked is what was recorded, before its secrets were replaced."""
    if not isinstance(old, str) or not isinstance(new, str) or "REDACTED-" not in old:
        return False
    pieces = re.split(r"REDACTED-[A-Z]+", old)
    return re.fullmatch(r"\S{8,}".join(map(re.escape, pieces)), new) is not None


def _mask_for(place: str) -> str:
    # A message's whole content is named by its index: for all of them it would hide too much.
    index = r".\1" if place.endswith(".content") else ".*"
    return re.sub(r"\[(\d+)\]", index, place.removeprefix("$."))


def _tools(body: Any) -> list[tuple[str, str]]:
    """Name and definition of each tool that a request offers."""
    tools = body.get("tools") if isinstance(body, dict) else None
    found = []
    for tool in tools if isinstance(tools, list) else []:
        function = tool.get("function") if isinstance(tool, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        found.append((str(name), json.dumps(tool, sort_keys=True)))
    return found


def _about_tools(recorded: list[tuple[str, str]], asked: list[tuple[str, str]]) -> str:
    if sorted(recorded) == sorted(asked):
        return (
            "the same tools come in another order (from a set, or a dict built differently): offer"
            " them in a fixed order."
        )
    before, now = {name for name, _ in recorded}, {name for name, _ in asked}
    what = [f"{name!r} is new" for name in sorted(now - before)]
    what += [f"{name!r} is gone" for name in sorted(before - now)]
    changed = before & now if before == now else set()
    what += [
        f"{name!r} is defined otherwise"
        for name in sorted(changed)
        if dict(recorded)[name] != dict(asked)[name]
    ]
    return f"the tools changed ({', '.join(what) or 'their number'}): record again."
