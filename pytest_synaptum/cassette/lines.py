"""The lazy reader: an index of the lines of a cassette in exactly our own layout.

Contract: whatever differs from what `writing` writes raises `NotOurLayoutError`, and the
caller reads the text with the strict loader instead; nothing is guessed. Requests are parsed
at once, since matching needs them; answers when they are asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from pytest_synaptum.cassette.entry import Entry
from pytest_synaptum.cassette.layout import (
    FORMAT_LINE,
    NotOurLayoutError,
    read_flow_map,
    read_flow_pairs,
    read_scalar,
)

__all__ = ["read_lines"]

_HEAD: Final = re.compile(
    re.escape(FORMAT_LINE) + r"recorded: (\{[^\n]*\})\nexchanges:( \[\])?\n", re.ASCII
)
_ENTRY: Final = "- about: "
_REQUEST: Final = "\n  request:\n"
_RESPONSE: Final = "\n  response:"
_TIMINGS: Final = "\ntimings:"
_FIELD: Final = re.compile(r" {4}([a-z0-9]+): ([^\n]*)\n")
_BLOCK_END: Final = re.compile(r"\n(?! {6}|\n)")


def read_lines(text: str) -> tuple[dict[str, str], list[Entry]]:
    """The `recorded` map and the entries. Raises `NotOurLayoutError`, `FieldError`."""
    head = _HEAD.match(text)
    end = text.rfind(_TIMINGS)
    if head is None or end < 0 or not text.endswith("\n"):
        raise NotOurLayoutError
    recorded = read_flow_map(head.group(1))
    stop = end + 1
    starts = _starts(text, head.end(), stop)
    if bool(starts) == bool(head.group(2)):
        raise NotOurLayoutError
    timings = _timings(text[stop:], len(starts))
    entries: list[Entry] = []
    line, counted = 1, 0
    for index, start in enumerate(starts):
        line += text.count("\n", counted, start)
        counted = start
        finish = starts[index + 1] if index + 1 < len(starts) else stop
        entries.append(_entry(text, start, finish, line, index + 1, timings[index]))
    return recorded, entries


def _starts(text: str, begin: int, stop: int) -> list[int]:
    """Where the entries begin; text inside a block is indented, so no block holds such a line."""
    starts: list[int] = []
    position = begin
    while position < stop:
        if not text.startswith(_ENTRY, position):
            raise NotOurLayoutError
        starts.append(position)
        found = text.find("\n" + _ENTRY, position, stop)
        position = stop if found < 0 else found + 1
    return starts


def _entry(
    text: str, start: int, stop: int, line: int, number: int, timings: list[float | None]
) -> Entry:
    about_end = text.index("\n", start)
    if not text.startswith(_REQUEST, about_end):
        raise NotOurLayoutError
    middle = text.find(_RESPONSE, about_end, stop)
    if middle < 0:
        raise NotOurLayoutError
    request = _fields(text, about_end + len(_REQUEST), middle + 1)
    after = middle + len(_RESPONSE)
    if text.startswith(" null\n", after) and after + 6 == stop:
        return Entry(number, line, request, lambda: None, timings)
    if not text.startswith("\n", after):
        raise NotOurLayoutError

    def response() -> Mapping[str, Any]:
        fields = _fields(text, after + 1, stop)
        if "status" in fields:
            fields["status"] = _json(fields["status"])
        if fields.get("chunks", "").startswith("["):
            fields["chunks"] = _json(fields["chunks"])
        return fields

    return Entry(number, line, request, response, timings)


def _fields(text: str, start: int, stop: int) -> dict[str, Any]:
    """The fields of a section: scalars as texts, `json` parsed, `sse` as a list of lines."""
    fields: dict[str, Any] = {}
    position = start
    while position < stop:
        match = _FIELD.match(text, position, stop)
        if match is None or match.group(1) in fields:
            raise NotOurLayoutError
        name, written = match.groups()
        position = match.end()
        if written in {"|", "|-"}:
            end = _BLOCK_END.search(text, position - 1, stop)
            if end is None or not text.startswith("      ", position):
                raise NotOurLayoutError
            fields[name] = _block(name, text[position : end.start()], written)
            position = end.end()
        elif name == "headers":
            fields[name] = read_flow_pairs(written)
        elif name in {"status", "chunks"} and written != "events":
            fields[name] = written
        elif name in {"json", "sse"}:
            raise NotOurLayoutError
        else:
            fields[name] = read_scalar(written)
    return fields


def _block(name: str, inner: str, sign: str) -> Any:
    if name == "json":
        # White space between tokens does not count, and no JSON string holds a line break.
        return _json(inner)
    plain = inner[6:].replace("\n      ", "\n")
    if name == "sse":
        return plain.split("\n")
    return plain + ("\n" if sign == "|" else "")


def _timings(text: str, count: int) -> list[list[float | None]]:
    if text == "timings: []\n":
        return [[] for _ in range(count)]
    first, *lines = text[:-1].split("\n")
    if first != "timings:" or len(lines) != count:
        raise NotOurLayoutError
    result: list[list[float | None]] = []
    for line in lines:
        numbers = _json(line[2:]) if line.startswith("- [") else None
        if not isinstance(numbers, list) or not all(n is None or type(n) is int for n in numbers):
            raise NotOurLayoutError
        result.append(numbers)
    return result


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotOurLayoutError from None
