"""Paths into JSON values: `choices.*.message.content`, `choices[0].id`, `["a.b"].c`.

`*` is any key or any index. A leading `$` is allowed and means nothing.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from pytest_synaptum.errors import PluginError

__all__ = ["PathSyntaxError", "parse_path", "places", "show_path"]

_STEP: Final = re.compile(r'\.?([^.\[\]"\s]+)|\[(\d+|\*)\]|\[("(?:[^"\\]|\\.)*")\]')
#: Not the beginning of a key such as `$defs`.
_ROOT: Final = re.compile(r"\$(?=[.\[]|\Z)")
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][\w-]*\Z")


class PathSyntaxError(PluginError):
    """A path cannot be read."""


@functools.lru_cache(maxsize=512)
def parse_path(text: str) -> tuple[str, ...]:
    """The steps of a path; indexes are digits, `*` is any.

    Raises:
        PathSyntaxError: the text is no path; the message shows the forms there are.
    """
    rest = _ROOT.sub("", text.strip())
    steps: list[str] = []
    position = 0
    while position < len(rest):
        match = _STEP.match(rest, position)
        if match is None:
            break
        name, index, quoted = match.groups()
        steps.append(json.loads(quoted) if quoted else index or name)
        position = match.end()
    if not steps or position < len(rest):
        msg = f'The path {text!r} is not readable; write it as choices.*.id, a[0].b or ["a.b"].c.'
        raise PathSyntaxError(msg)
    return tuple(steps)


def places(value: Any, steps: tuple[str, ...]) -> Iterator[tuple[Any, str | int]]:
    """Every place that a path names in `value`, as (container, key or index), in order."""
    if not steps:
        return
    step, rest = steps[0], steps[1:]
    keys: list[str | int]
    if isinstance(value, dict):
        keys = list(value) if step == "*" else [step] if step in value else []
    elif isinstance(value, list):
        if step == "*":
            keys = list(range(len(value)))
        else:
            keys = [int(step)] if step.isdecimal() and int(step) < len(value) else []
    else:
        return
    for key in keys:
        if rest:
            yield from places(value[key], rest)
        else:
            yield value, key


def show_path(steps: tuple[str | int, ...]) -> str:
    """A path as it is printed and may be typed back as a mask: `choices[0].id`."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.match(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text or "$"
