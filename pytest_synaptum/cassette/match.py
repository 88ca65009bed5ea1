"""When two requests are the same one: method, path and the JSON of the body.

JSON is compared as its values are: 1, 1.0, true, null, "" and an absent key all differ, the
order of keys does not count. A body that is not JSON is compared byte for byte. Host and
headers do not count.

A *mask* names a place by path (`messages.*.tool_call_id`, `*` for any key or index, or as a
mismatch prints it, `$.messages[2].content`) whose value does not count; that something stands
there does. Where a path goes on below a string
that is JSON (a tool's arguments, a tool's result), it goes on inside that JSON.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

from pytest_synaptum.cassette.entry import Entry
from pytest_synaptum.golden.paths import parse_path
from pytest_synaptum.marker import MATCH_PARTS
from synaptum.canonical import decode
from synaptum.errors import EncodingError

__all__ = ["ABSENT", "Matcher", "differences", "embedded_json"]

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_MASKED: Final = "(ignored)"


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


#: Stands for a value that is not there, in differences.
ABSENT: Final = _Absent()


class Matcher:
    """Turns requests into keys: equal keys, equal requests.

    Args:
        parts: what counts, of `method`, `path`, `query`, `body`.
        masks: paths in bodies that do not count.

    Attributes:
        matched: the masks that found something in some request that was asked.

    Raises:
        PathSyntaxError: a mask is no path.
    """

    def __init__(self, parts: Sequence[str] = MATCH_PARTS, masks: Iterable[str] = ()) -> None:
        self._parts = frozenset(parts)
        self._masks = [(mask, parse_path(mask)) for mask in dict.fromkeys(masks)]
        self.matched: set[str] = set()

    def key(self, method: str, path: str, body: Any) -> Hashable:
        """The key of a request; `body` is what `body_value` gave."""
        bare, _, query = path.partition("?")
        return (
            method if "method" in self._parts else "",
            bare if "path" in self._parts else "",
            query if "query" in self._parts else "",
            self._body_key(self.masked(body)) if "body" in self._parts else "",
        )

    def entry_key(self, entry: Entry) -> Hashable:
        """The key of a recorded request."""
        return self.key(entry.method, entry.path, entry_value(entry))

    def masked(self, body: Any, *, note: bool = False) -> Any:
        """`body` with its masked places replaced by one mark; the value given is not changed."""
        for mask, steps in self._masks:
            body, hit = _mask(body, steps)
            if hit and note:
                self.matched.add(mask)
        return body

    @staticmethod
    def _body_key(body: Any) -> Hashable:
        return body if isinstance(body, bytes) else _CANONICAL.encode(body)


def body_value(body: bytes) -> Any:
    """The JSON value of a body, or the bytes where it is none that we read exactly."""
    if not body:
        return b""
    try:
        return decode(body)
    except EncodingError:
        return body


def entry_value(entry: Entry) -> Any:
    """The JSON value of a recorded request's body, or its bytes."""
    return entry.body.value if entry.body.kind == "json" else body_value(entry.request_bytes())


def embedded_json(text: str) -> Any:
    """The object or array that a string holds as JSON, or `ABSENT`."""
    if not text.lstrip().startswith(("{", "[")):
        return ABSENT
    try:
        return decode(text)
    except EncodingError:
        return ABSENT


def _mask(value: Any, steps: tuple[str, ...]) -> tuple[Any, bool]:
    if not steps:
        return _MASKED, True
    step, rest = steps[0], steps[1:]
    if isinstance(value, str):
        inner = embedded_json(value)
        if inner is ABSENT:
            return value, False
        masked, hit = _mask(inner, steps)
        return (_CANONICAL.encode(masked), True) if hit else (value, False)
    if isinstance(value, dict):
        chosen: list[Any] = list(value) if step == "*" else [step] if step in value else []
        copy: Any = dict(value)
    elif isinstance(value, list):
        if step == "*":
            chosen = list(range(len(value)))
        else:
            chosen = [int(step)] if step.isdecimal() and int(step) < len(value) else []
        copy = list(value)
    else:
        return value, False
    hits = False
    for place in chosen:
        copy[place], hit = _mask(value[place], rest)
        hits = hits or hit
    return (copy, True) if hits else (value, False)


def differences(recorded: Any, asked: Any, path: str = "$") -> list[tuple[str, Any, Any]]:
    """Where two JSON values differ: path, recorded, asked; `ABSENT` for what is not there."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        result = []
        for key in [*recorded, *(key for key in asked if key not in recorded)]:
            place = f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]"
            result += differences(recorded.get(key, ABSENT), asked.get(key, ABSENT), place)
        return result
    if isinstance(recorded, list) and isinstance(asked, list):
        result = []
        for index in range(max(len(recorded), len(asked))):
            a = recorded[index] if index < len(recorded) else ABSENT
            b = asked[index] if index < len(asked) else ABSENT
            result += differences(a, b, f"{path}[{index}]")
        return result
    if type(recorded) is type(asked) and recorded == asked:
        return []
    if isinstance(recorded, str) and isinstance(asked, str):
        inner = embedded_json(recorded), embedded_json(asked)
        if ABSENT not in inner:
            below = differences(*inner, path)
            if below:
                return below
    return [(path, recorded, asked)]
