r"""Bodies as text that people can review, and back to the same bytes.

Contract: `join_body(split_body(body)) == body` for any bytes. A body is `json` only where
some writing style of a JSON encoder gives the very bytes back (checked, never assumed),
`sse` only where every event is one `data:` line; else it is `text`, else `base64`.

The JSON in a file is indented for people; the style says how the wire had it: separators,
indent, escapes (`-ascii`), and Go's `\u003c` (`+go`) or PHP's `\/` (`+php`).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from synaptum.canonical import decode
from synaptum.errors import EncodingError

__all__ = [
    "DEFAULT_STYLE",
    "UNSAFE",
    "Body",
    "join_body",
    "parse_sse",
    "pretty",
    "split_body",
    "write_style",
]

Kind = Literal["json", "sse", "text", "base64"]

#: Characters that YAML does not keep as they are in a block: controls, line breaks other
#: than LF, the byte order mark, and code points that are no characters.
UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)

DEFAULT_STYLE: Final = "compact"
DEFAULT_PREFIX: Final = "data: "

_ENCODERS: Final[dict[str, json.JSONEncoder]] = {
    "compact": json.JSONEncoder(separators=(",", ":"), ensure_ascii=False),
    "spaced": json.JSONEncoder(separators=(", ", ": "), ensure_ascii=False),
    "compact-ascii": json.JSONEncoder(separators=(",", ":")),
    "spaced-ascii": json.JSONEncoder(separators=(", ", ": ")),
    "indent-2": json.JSONEncoder(indent=2, ensure_ascii=False),
    "indent-4": json.JSONEncoder(indent=4, ensure_ascii=False),
    "indent-1": json.JSONEncoder(indent=1, ensure_ascii=False),
    "indent-tab": json.JSONEncoder(indent="\t", ensure_ascii=False),
    "indent-2-ascii": json.JSONEncoder(indent=2),
    "indent-4-ascii": json.JSONEncoder(indent=4),
}


def _go(text: str) -> str:
    for raw, escaped in (
        ("&", "\\u0026"),
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(raw, escaped)
    return text


def _php(text: str) -> str:
    return text.replace("/", "\\/")


_ESCAPES: Final[dict[str, Callable[[str], str]]] = {"": str, "+go": _go, "+php": _php}

_SPACE: Final = " \t\r\n"
_PRETTY = json.JSONEncoder(separators=(", ", ": "), ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A body as it stands in a file.

    Attributes:
        value: for `json` the JSON value, for `text` and `base64` the text.
        events: for `sse`, what follows each prefix.
        style: for `json`, how the wire wrote it.
        before: white space ahead of the JSON.
        after: white space behind the JSON, or the torn piece behind the last whole event.
        prefix: for `sse`, what stands ahead of each event, `data: ` or `data:`.
        newline: for `sse`, the line end.
    """

    kind: Kind
    value: Any = None
    events: tuple[str, ...] = ()
    style: str = DEFAULT_STYLE
    before: str = ""
    after: str = ""
    prefix: str = DEFAULT_PREFIX
    newline: str = "\n"

    @property
    def event_sizes(self) -> tuple[int, ...]:
        """Bytes of each event with its blank line, the torn piece last."""
        around = len(self.prefix) + 2 * len(self.newline)
        sizes = [around + len(event.encode("utf-8")) for event in self.events]
        if self.after:
            sizes.append(len(self.after.encode("utf-8")))
        return tuple(sizes)


def split_body(body: bytes, *, stream: bool = False) -> Body:
    """The most readable form of `body` that gives its bytes back.

    Args:
        body: any bytes.
        stream: whether to look for server-sent events before JSON.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return Body(kind="base64", value=base64.b64encode(body).decode("ascii"))
    return (
        (parse_sse(text) if stream else None) or _split_json(text) or Body(kind="text", value=text)
    )


def join_body(body: Body) -> bytes:
    """The bytes that `split_body` was given. Raises `ValueError` where the form is broken."""
    if body.kind == "base64":
        try:
            return base64.b64decode(body.value, validate=True)
        except binascii.Error as error:
            raise ValueError(str(error)) from None
    if body.kind == "text":
        return str(body.value).encode("utf-8")
    if body.kind == "sse":
        ends = body.newline * 2
        written = "".join(f"{body.prefix}{event}{ends}" for event in body.events)
        return (written + body.after).encode("utf-8")
    return (body.before + write_style(body.value, body.style) + body.after).encode("utf-8")


def write_style(value: Any, style: str) -> str:
    """JSON text of `value` as `style` writes it. Raises `ValueError` for an unknown style."""
    name, plus, escapes = style.partition("+")
    if name not in _ENCODERS or (plus + escapes) not in _ESCAPES:
        msg = f"unknown JSON style {style!r}"
        raise ValueError(msg)
    return _ESCAPES[plus + escapes](_ENCODERS[name].encode(value))


def parse_sse(text: str) -> Body | None:
    """`text` as server-sent events of one `data:` line each, or None where it is not just that."""
    newline = "\r\n" if "\r\n\r\n" in text else "\n"
    prefix = DEFAULT_PREFIX if text.startswith(DEFAULT_PREFIX) else "data:"
    *whole, after = text.split(newline * 2)
    if not whole:
        return None
    events = []
    for piece in whole:
        event = piece[len(prefix) :]
        if not piece.startswith(prefix) or "\n" in event or UNSAFE.search(event):
            return None
        # A blank first character would belong to the prefix, or to a block's indentation.
        if not event or event[0] in " \t":
            return None
        events.append(event)
    return Body(
        kind="sse",
        events=tuple(events),
        prefix=prefix,
        newline=newline,
        after=after,
    )


def pretty(value: Any, width: int = 96) -> str:
    """JSON for people: containers that fit stand on one line; safe inside a YAML block."""
    text = _pretty(value, "", width)
    return UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _pretty(value: Any, indent: str, width: int) -> str:
    line = _PRETTY.encode(value)
    if not isinstance(value, dict | list) or not value or len(indent) + len(line) <= width:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{_PRETTY.encode(k)}: {_pretty(v, inner, width)}" for k, v in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [_pretty(item, inner, width) for item in value]
        opening, closing = "[", "]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{closing}"


def _split_json(text: str) -> Body | None:
    core = text.strip(_SPACE)
    if not core.startswith(("{", "[")):
        return None
    try:
        value = decode(core)
    except EncodingError:
        return None
    start = text.index(core[0])
    before, after = text[:start], text[start + len(core) :]
    for name, encoder in _ENCODERS.items():
        written = encoder.encode(value)
        for suffix, escape in _ESCAPES.items():
            if escape(written) == core:
                return Body(
                    kind="json", value=value, style=name + suffix, before=before, after=after
                )
    return None
