"""What a recording wrote, in a line: how much, and what is not as it was in the old cassette.

Ids, times and timings change with every recording and are no change here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final

from pytest_synaptum.cassette.bodies import parse_sse
from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.errors import PluginError
from pytest_synaptum.exchange import Exchange
from synaptum import canonical
from synaptum.errors import EncodingError

__all__ = ["Before", "read_before", "wrote"]

#: Fields at the top of an answer or of an event that are new every time.
_PASSING: Final = frozenset({"id", "created", "system_fingerprint", "timings"})

#: The exchanges that stood there and the size of their file, in bytes.
Before = tuple[Sequence[Exchange], int]


def read_before(path: Path) -> Before | None:
    """What stands at `path` before it is written; None where nothing does, or nothing readable."""
    try:
        return load_cassette(path).exchanges(), path.stat().st_size
    except (OSError, PluginError):
        return None


def wrote(where: str, exchanges: Sequence[Exchange], size: int, before: Before | None) -> str:
    """The line: `x.yaml: 2 exchanges, 4,213 bytes (were 4,101); 1 answer differs`."""
    line = f"{where}: {_count(len(exchanges), 'exchange')}, {size:,} bytes"
    if before is None:
        return f"{line}, new"
    old, old_size = before
    if old_size != size:
        line += f" (were {old_size:,})"
    return f"{line}; {', '.join(_changes(old, exchanges)) or 'nothing else changed'}"


def _changes(old: Sequence[Exchange], new: Sequence[Exchange]) -> list[str]:
    left, right = [_asked(one) for one in old], [_asked(one) for one in new]
    differ = gone = more = asked = 0
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs = zip(old[a:b], new[c:d], strict=True)
            differ += sum(_answered(one) != _answered(other) for one, other in pairs)
            continue
        both = min(b - a, d - c)
        asked += both
        gone += b - a - both
        more += d - c - both
    told = [
        (asked, f"{_count(asked, 'request')} changed"),
        (differ, f"{_count(differ, 'answer')} {'differs' if differ == 1 else 'differ'}"),
        (gone, f"{_count(gone, 'exchange')} gone"),
        (more, f"{_count(more, 'exchange')} more"),
    ]
    return [text for number, text in told if number]


def _asked(exchange: Exchange) -> str:
    request = exchange.request
    return f"{request.method} {request.path} {_text(_value(request.body))}"


def _answered(exchange: Exchange) -> tuple[int, str] | None:
    response = exchange.response
    if response is None:
        return None
    try:
        stream = parse_sse(response.body.decode("utf-8"))
    except UnicodeDecodeError:
        stream = None
    pieces = [response.body] if stream is None else [one.encode() for one in stream.events]
    return response.status, _text([_lasting(_value(piece)) for piece in pieces])


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _value(body: bytes) -> Any:
    try:
        return canonical.loads(body)
    except EncodingError:
        return body.decode("utf-8", "backslashreplace")


def _lasting(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: inner for key, inner in value.items() if key not in _PASSING}


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
