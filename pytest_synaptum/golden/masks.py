"""Masks: places whose value changes from run to run, of which presence and type still count.

A mask is `PATH: <TYPE>`, such as `choices.*.id: <str>`. Types: `str int float number bool
null list dict any`, several with `|` (`<str|null>`), and `id`: a text, replaced by a number
that counts the different ids in order of appearance. So `<id 1>` twice in a golden says "the
same id as before", whatever it was.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from pytest_synaptum.errors import PluginError
from pytest_synaptum.golden.paths import parse_path, places

__all__ = ["Mask", "MaskError", "apply_masks", "parse_mask"]

_MASK: Final = re.compile(r"(?P<path>.+?):\s*<(?P<types>[a-z|]+)>\s*\Z", re.DOTALL)
_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: type(value) is int,
    "float": lambda value: type(value) is float,
    "number": lambda value: type(value) in (int, float),
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "list": lambda value: isinstance(value, list),
    "dict": lambda value: isinstance(value, dict),
    "any": lambda value: True,
    "id": lambda value: isinstance(value, str) and value != "",
}


class MaskError(PluginError, AssertionError):
    """A mask cannot be read, matches nothing, or stands over a value of another type."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One mask; `text` is how it was written."""

    text: str
    steps: tuple[str, ...]
    types: tuple[str, ...]


@functools.lru_cache(maxsize=512)
def parse_mask(text: str) -> Mask:
    """Read `PATH: <TYPE>`. Raises `MaskError` with the forms there are."""
    __tracebackhide__ = True
    match = _MASK.match(text)
    types = tuple(match["types"].split("|")) if match else ()
    if match is None or not all(name in _TYPES for name in types):
        msg = (
            f"The mask {text!r} is not readable; write `PATH: <TYPE>`, such as"
            f" `choices.*.id: <str>`, with a type of {', '.join(_TYPES)}."
        )
        raise MaskError(msg)
    return Mask(text, parse_path(match["path"]), types)


def apply_masks(value: Any, masks: Iterable[str]) -> Any:
    """A copy of a plain JSON value with its masked places replaced by `<TYPE>`.

    Raises:
        MaskError: a mask matches nothing, or a value that is not of its type.
    """
    __tracebackhide__ = True
    parsed = [parse_mask(text) for text in masks]
    if not parsed:
        return value
    masked = copy.deepcopy(value)
    ids: dict[str, int] = {}
    for mask in parsed:
        found = list(places(masked, mask.steps))
        if not found:
            msg = (
                f"The mask {mask.text!r} matches nothing; correct its path or remove it."
                f"{_hint(masked, mask.steps)}"
            )
            raise MaskError(msg)
        for container, key in found:
            container[key] = _placeholder(mask, container[key], ids)
    return masked


def _placeholder(mask: Mask, value: Any, ids: dict[str, int]) -> str:
    __tracebackhide__ = True
    if not any(_TYPES[name](value) for name in mask.types):
        msg = (
            f"The mask {mask.text!r} stands over a value of type {_json_type(value)}; the value"
            " changed its type, or the mask should name this one too (`<str|null>`)."
        )
        raise MaskError(msg)
    if isinstance(value, str) and "id" in mask.types:
        return f"<id {ids.setdefault(value, len(ids) + 1)}>"
    return f"<{'|'.join(mask.types)}>"


def _hint(value: Any, steps: tuple[str, ...]) -> str:
    """What there is at the last step that matched."""
    known: Any = value
    for index in range(1, len(steps)):
        found = next(places(value, steps[:index]), None)
        if found is None:
            break
        known = found[0][found[1]]
    if isinstance(known, dict) and known:
        return f" There are: {', '.join(map(repr, list(known)[:8]))}."
    if isinstance(known, list):
        return f" There is a list of {len(known)}."
    return ""


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "null" if value is None else type(value).__name__
