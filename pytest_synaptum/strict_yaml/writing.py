"""Writing: one layout for every file, exact for any text that Python can hold."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from pytest_synaptum.strict_yaml.reading import MAX_DEPTH
from synaptum.errors import EncodingError

__all__ = ["dump", "flow", "scalar"]

#: What must not stand as itself in a quoted scalar: controls, line breaks of YAML 1.1, the
#: byte order mark, what YAML calls not printable, and lone surrogates.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
#: The same for a block, where only \n and \t of the controls may stand.
_NOT_IN_BLOCK: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"
)
#: Text that no reader takes for anything else, outside and inside of flow collections.
_PLAIN: Final = re.compile(
    r"[A-Za-z_/$(<][\w$./()+*@%=<>~^;!?&|'-]*(?:[: ]+[\w$./()+*@%=<>~^;!?&|'-]+)*\Z", re.ASCII
)
_PLAIN_BREAKS: Final = re.compile(r": ")
#: Words some YAML reader takes for a boolean or null.
_RESERVED: Final = frozenset(
    "y n yes no on off true false null none <<".split()  # noqa: SIM905 - reads better than a list
)
#: libyaml and PyYAML take `key:` only within 1,024 characters; longer ones need `? key`.
_LONGEST_KEY: Final = 900


def dump(value: Any) -> str:
    """The text of a plain JSON value (tuples count as arrays), ending in a line break.

    Raises:
        EncodingError: NaN or Infinity, a key that is no string, a type JSON does not have,
            or nesting beyond `MAX_DEPTH`; names the path.
    """
    lines: list[str] = []
    _write(value, 0, "", lines, "$", MAX_DEPTH)
    return "\n".join(lines) + "\n"


def scalar(value: str | int | float | bool | None, *, in_flow: bool = False) -> str:
    """One scalar on one line, quoted where it could be read as something else."""
    return _text(value, in_flow) if isinstance(value, str) else _atom(value, "$")


def flow(value: Any) -> str:
    """A value on one line, such as `{content-type: text/event-stream}`."""
    return _flow(value, "$", MAX_DEPTH)


def _flow(value: Any, path: str, depth: int) -> str:
    if depth < 0:
        raise _too_deep(path)
    if isinstance(value, dict):
        pairs = []
        for key, item in value.items():
            start = _key(key, path, in_flow=True)
            start = f"? {start} " if len(start) > _LONGEST_KEY else start
            pairs.append(f"{start}: {_flow(item, f'{path}.{key}', depth - 1)}")
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item, f"{path}[]", depth - 1) for item in value) + "]"
    return _text(value, in_flow=True) if isinstance(value, str) else _atom(value, path)


def _write(value: Any, indent: int, lead: str, lines: list[str], path: str, depth: int) -> None:
    """Append the lines of `value`; `lead` is what stands before it on its first line.

    `indent` is the column of the collection's own entries.
    """
    if depth < 0:
        raise _too_deep(path)
    if isinstance(value, dict) and value:
        for key, item in value.items():
            start = _key(key, path)
            if len(start) > _LONGEST_KEY:
                lines.append(f"{lead}? {start}")
                start = ""
                lead = " " * indent
            _entry(item, indent, f"{lead}{start}:", lines, f"{path}.{key}", depth)
            lead = " " * indent
    elif isinstance(value, list | tuple) and value:
        for index, item in enumerate(value):
            where = f"{path}[{index}]"
            if isinstance(item, dict | list | tuple) and item:
                _write(item, indent + 2, f"{lead}- ", lines, where, depth - 1)
            else:
                lines.append(_leaf(item, indent, f"{lead}-", where))
            lead = " " * indent
    else:
        lines.append(_leaf(value, 0, "", path)[1:])


def _entry(item: Any, indent: int, lead: str, lines: list[str], path: str, depth: int) -> None:
    if isinstance(item, dict) and item:
        lines.append(lead)
        _write(item, indent + 2, " " * (indent + 2), lines, path, depth - 1)
    elif isinstance(item, list | tuple) and item:
        lines.append(lead)
        _write(item, indent, " " * indent, lines, path, depth - 1)
    else:
        lines.append(_leaf(item, indent, lead, path))


def _leaf(value: Any, indent: int, lead: str, path: str) -> str:
    if isinstance(value, str):
        if "\n" in value:
            block = _block(value, indent + 2)
            if block is not None:
                return f"{lead} {block}"
        return f"{lead} {_text(value, in_flow=False)}"
    if isinstance(value, dict):
        return f"{lead} {{}}"
    if isinstance(value, list | tuple):
        return f"{lead} []"
    return f"{lead} {_atom(value, path)}"


def _block(text: str, indent: int) -> str | None:
    """A literal block, or None where it would not be exact."""
    if _NOT_IN_BLOCK.search(text) or not text.strip("\n\t "):
        return None
    first = text.lstrip("\n")[:1]
    if first == "\t" or text.endswith((" ", "\t", "\n ", "\n\t")):
        return None
    indicator = "2" if text[0] in " \n" or first == " " else ""
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    chomp = "-" if trailing == 0 else "" if trailing == 1 else "+"
    if body.endswith((" ", "\t")):
        return None
    margin = " " * indent
    lines = [margin + line if line else "" for line in body.split("\n")]
    return "\n".join([f"|{indicator}{chomp}", *lines, *[""] * (trailing - 1)])


def _text(text: str, in_flow: bool) -> str:
    if (
        len(text) < 200
        and _PLAIN.match(text)
        and not _PLAIN_BREAKS.search(text)
        and text.lower() not in _RESERVED
        and not (in_flow and (":" in text or "?" in text))
    ):
        return text
    if (
        ('"' in text or "\\" in text)
        and "'" not in text
        and not _NOT_IN_BLOCK.search(text)
        and "\n" not in text
        and "\t" not in text
    ):
        return f"'{text}'"
    quoted = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def _key(key: Any, path: str, *, in_flow: bool = False) -> str:
    if not isinstance(key, str):
        msg = f"The key {key!r} at {path} is a {type(key).__name__}; keys in our files are text."
        raise EncodingError(msg)
    return _text(key, in_flow or ":" in key)


def _atom(value: Any, path: str) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        try:
            return int.__repr__(value)
        except ValueError:
            msg = f"The number at {path} has more digits than Python writes."
            raise EncodingError(msg) from None
    if isinstance(value, float):
        if not math.isfinite(value):
            msg = f"The number at {path} is {value!r}, which JSON has no form for."
            raise EncodingError(msg)
        text = float.__repr__(value)
        mantissa, sign, exponent = text.partition("e")
        # PyYAML takes an exponent for a number only behind a point.
        return f"{mantissa}.0e{exponent}" if sign and "." not in mantissa else text
    msg = f"The value at {path} is a {type(value).__name__}, which JSON has no form for."
    raise EncodingError(msg)


def _too_deep(path: str) -> EncodingError:
    return EncodingError(f"The value is nested deeper than {MAX_DEPTH} levels at {path[:60]}….")
