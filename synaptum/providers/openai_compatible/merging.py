"""Fields we have no name for, put together over the chunks of a stream.

A whole body is a stream of one chunk, so `combine(name, [value])` is the value itself and
both ways of answering keep the same. Values are only collected while the stream runs;
they are combined once at its end, so that a long stream costs linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from synaptum import canonical
from synaptum.errors import EncodingError
from synaptum.providers.openai_compatible.vocabulary import JOINED_FIELDS, WORD_FIELDS

__all__ = ["combine", "joined", "json_text", "update"]


def update(kept: dict[str, Any], name: str, value: Any) -> None:
    """Let a field that speaks of the whole answer stand again: what says more wins.

    None and `""` never replace a value; objects are merged; else the later value stands.
    """
    old = kept.get(name)
    if isinstance(old, dict) and isinstance(value, Mapping):
        merged = dict(old)
        for inner, item in value.items():
            update(merged, inner, item)
        kept[name] = merged
    elif name not in kept or (value is not None and (value != "" or old is None)):
        kept[name] = value


def combine(name: str, values: list[Any]) -> Any:
    """One value of the fragments (no None among them) that a stream gave of field `name`.

    Objects are combined key by key, lists joined, texts joined where they are fragments; a
    text that every chunk repeats stands once; of anything else the last stands.
    """
    if not values:
        return None
    if len(values) == 1:
        return values[0]
    if all(isinstance(value, Mapping) for value in values):
        return _combine_objects(values)
    if all(isinstance(value, list) for value in values):
        return _combine_items([item for value in values for item in value])
    if all(isinstance(value, str) for value in values):
        if name in JOINED_FIELDS:
            return joined(values)
        said = [value for value in values if value]
        if name in WORD_FIELDS or len(set(said)) <= 1:
            return said[-1] if said else ""
        return joined(values)
    return values[-1]


def joined(fragments: Iterable[str]) -> str:
    """The fragments as one text; a character cut into its two surrogates is whole again."""
    text = "".join(fragments)
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


def json_text(value: Any) -> str:
    """The text of a value that stands where the dialect has text; never raises."""
    try:
        return canonical.wire_text(value)
    except EncodingError:
        return str(value)


def _combine_objects(values: list[Any]) -> dict[str, Any]:
    collected: dict[str, list[Any]] = {}
    for value in values:
        for name, item in value.items():
            into = collected.setdefault(name, [])
            if item is not None:
                into.append(item)
    return {name: combine(name, items) for name, items in collected.items()}


def _combine_items(items: list[Any]) -> list[Any]:
    """Items that carry an `index` are fragments of the item with that index (and type)."""
    result: list[Any] = []
    groups: dict[tuple[Any, Any], list[Any]] = {}
    for item in items:
        index = item.get("index") if isinstance(item, Mapping) else None
        kind = item.get("type") if isinstance(item, Mapping) else None
        if not isinstance(index, int) or (isinstance(kind, str) and "encrypted" in kind):
            # An encrypted item is opaque and whole (`reasoning.encrypted`): never a fragment.
            result.append(item)
            continue
        key = (kind if isinstance(kind, str) else None, index)
        if key not in groups:
            groups[key] = []
            result.append(groups[key])
        groups[key].append(item)
    known = {id(group) for group in groups.values()}
    return [
        (item[0] if len(item) == 1 else _combine_objects(item)) if id(item) in known else item
        for item in result
    ]
