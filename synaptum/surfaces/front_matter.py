"""The flat front matter of a `SKILL.md`: strict, so that what it says is what is read.

    ---
    name: deploy
    description: Deploy the application to production
    argument-hint: "[environment]"
    ---

One `key: value` a line. A value is a plain text, or stands in quotes. Everything else that YAML
has (lists, nesting, blocks, anchors, comments) is an error that names the line: a reader that
guesses would give a model other instructions than those that were written. Values are text as
written; `true` is the text "true".
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Final

from synaptum.errors import ConfigurationError

__all__ = ["read_front_matter"]

_FENCE: Final = "---"
_LINE: Final = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(?: +(.*))?")
#: Controls, lone surrogates, line and paragraph separators: with a line end a description could
#: pose as another skill's, and a lone surrogate is no text that can be sent.
_HIDDEN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
#: What begins something else than a plain text in YAML.
_INDICATORS: Final = frozenset("[]{}&*!|>%@`#,?-")


def read_front_matter(text: str, label: str) -> tuple[dict[str, str], str]:
    """The keys, in order, and the text below them. `label` names the file in errors.

    Raises:
        ConfigurationError: no front matter, or a line that is none; names the line.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[0] != _FENCE:
        raise _wrong(label, 1, f"the file begins with a line of {_FENCE}")
    keys: dict[str, str] = {}
    for number, line in enumerate(lines[1:], start=2):
        if line == _FENCE:
            return keys, "\n".join(lines[number:]).strip("\n")
        found = _LINE.fullmatch(line)
        if found is None:
            raise _wrong(label, number, "a line is `key: value`, without indentation or comment")
        key, value = found[1], (found[2] or "").strip()
        if key in keys:
            raise _wrong(label, number, f"{key!r} stands twice")
        keys[key] = _value(value, label, number)
        if any(unicodedata.category(c) in _HIDDEN for c in keys[key]):
            raise _wrong(label, number, "a value is one line, without control characters")
    raise _wrong(label, len(lines), f"the front matter is never closed by a line of {_FENCE}")


def _value(value: str, label: str, number: int) -> str:
    if not value:
        raise _wrong(label, number, "the value is missing, and lists or nesting have no place here")
    if value[0] == '"':
        try:
            read = json.loads(value)
        except ValueError:
            read = None
        if not isinstance(read, str):
            raise _wrong(label, number, "the quoted value does not end where the line does")
        return read
    if value[0] == "'":
        if len(value) < 2 or not re.fullmatch(r"'(?:[^']|'')*'", value):
            raise _wrong(label, number, "the quoted value does not end where the line does")
        return value[1:-1].replace("''", "'")
    if value[0] in _INDICATORS:
        raise _wrong(label, number, f"a value that begins with {value[0]!r} stands in quotes")
    if ": " in value or value.endswith(":") or " #" in value or "\t" in value:
        raise _wrong(label, number, "a value with ': ', ' #' or a tab stands in quotes")
    return value


def _wrong(label: str, number: int, what: str) -> ConfigurationError:
    return ConfigurationError(f"{label}, line {number}: {what}.")
