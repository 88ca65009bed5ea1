"""How a cassette is laid out: the names of its keys, and scalars that YAML cannot misread.

The writer and the lazy reader share this; anything that is valid YAML but not exactly this
layout is read by the strict loader instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pytest_synaptum.cassette.bodies import UNSAFE

__all__ = [
    "FORMAT",
    "FORMAT_LINE",
    "NotOurLayoutError",
    "as_pairs",
    "block",
    "flow_map",
    "flow_pairs",
    "quoted",
    "read_flow_map",
    "read_flow_pairs",
    "read_scalar",
    "scalar",
]

FORMAT: Final = "cassette/1"
FORMAT_LINE: Final = f"synaptum: {FORMAT}\n"

_PLAIN = re.compile(r"[A-Za-z/](?:[A-Za-z0-9 ._/?&=%+~;,()-]*[A-Za-z0-9._/?&=%+~;()-])?")
_PLAIN_IN_FLOW = re.compile(r"[A-Za-z/](?:[A-Za-z0-9 ._/=+;()-]*[A-Za-z0-9._/=+;()-])?")
#: Words that some YAML reader takes for a boolean or a null.
_WORDS = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n"])
_QUOTED = r'"(?:[^"\\]|\\.)*"'
#: Where a line with text begins; blank lines carry no indentation.
_LINE_END = re.compile(r"\n(?!\n)")
_PAIR = re.compile(rf'({_QUOTED}|[A-Za-z0-9_-]+): ({_QUOTED}|[^,{{}}\[\]"]+)(?:, |$)')


class NotOurLayoutError(Exception):
    """The text may be a cassette, but not one as we lay it out."""


def quoted(text: str) -> str:
    """A double-quoted scalar, the same in JSON and in YAML."""
    written = json.dumps(text, ensure_ascii=False)
    return UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", written)


def scalar(text: str, plain: re.Pattern[str] = _PLAIN) -> str:
    """`text` as it is where every YAML reader takes it for that very text, else quoted."""
    if plain.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return quoted(text)


def read_scalar(written: str) -> str:
    """The inverse of `scalar`. Raises `NotOurLayoutError`."""
    if not written.startswith('"'):
        if _PLAIN.fullmatch(written) and written.lower() not in _WORDS:
            return written
        raise NotOurLayoutError
    return _json_text(written)


def flow_map(items: Iterable[tuple[str, str]]) -> str:
    """`{a: b, c: d}` on one line."""
    return "{" + ", ".join(f"{_flow(key)}: {_flow(value)}" for key, value in items) + "}"


def read_flow_map(written: str) -> dict[str, str]:
    """The inverse of `flow_map`. Raises `NotOurLayoutError`."""
    if not (written.startswith("{") and written.endswith("}")):
        raise NotOurLayoutError
    inner = written[1:-1]
    result: dict[str, str] = {}
    position = 0
    while position < len(inner):
        match = _PAIR.match(inner, position)
        if match is None:
            raise NotOurLayoutError
        key, value = (read_scalar(part) for part in match.groups())
        if key in result:
            raise NotOurLayoutError
        result[key] = value
        position = match.end()
    return result


def flow_pairs(items: tuple[tuple[str, str], ...]) -> str:
    """Header fields: a map, or a list of pairs where a name stands more than once."""
    if len({name for name, _ in items}) == len(items):
        return flow_map(items)
    return "[" + ", ".join(f"[{quoted(a)}, {quoted(b)}]" for a, b in items) + "]"


def read_flow_pairs(written: str) -> tuple[tuple[str, str], ...]:
    """The inverse of `flow_pairs`. Raises `NotOurLayoutError`."""
    if written.startswith("{"):
        return tuple(read_flow_map(written).items())
    try:
        pairs = json.loads(written)
    except ValueError:
        raise NotOurLayoutError from None
    return as_pairs(pairs)


def as_pairs(value: Any) -> tuple[tuple[str, str], ...]:
    """Header fields from a map or a list of pairs. Raises `NotOurLayoutError`."""
    items = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(items, list):
        raise NotOurLayoutError
    for item in items:
        fits = isinstance(item, list | tuple) and len(item) == 2
        if not fits or not all(isinstance(part, str) for part in item):
            raise NotOurLayoutError
    return tuple((name, text) for name, text in items)


def block(key: str, text: str, indent: str) -> str:
    """`key` with `text` as a literal block where YAML keeps it as it is, else quoted."""
    first = text[:1]
    if not text or first in " \t\n" or text.endswith("\n\n") or UNSAFE.search(text):
        return f"{indent}{key}: {quoted(text)}\n"
    sign, body = ("|", text[:-1]) if text.endswith("\n") else ("|-", text)
    inner = f"\n{indent}  "
    lines = _LINE_END.sub(inner, body)
    return f"{indent}{key}: {sign}{inner}{lines}\n"


def _flow(text: str) -> str:
    return scalar(text, _PLAIN_IN_FLOW)


def _json_text(written: str) -> str:
    try:
        text = json.loads(written)
    except ValueError:
        raise NotOurLayoutError from None
    if not isinstance(text, str):
        raise NotOurLayoutError
    return text
