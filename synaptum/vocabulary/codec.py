"""Vocabulary values to plain JSON and back, exactly: `from_json(type, to_json(x)) == x`.

The type drives reading, never the data: a tool argument that happens to hold a key `kind`
stays the dict it is. Where a field allows several vocabulary types, the tag `kind` tells
them apart. Every field is written, in declared order. Reading takes a missing field as its
default (old journals) and refuses an unknown one (a newer version wrote it).
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

from synaptum import canonical
from synaptum.errors import EncodingError

__all__ = ["are_identical", "decode", "encode", "from_json", "to_json"]

_Reader = Callable[[Any, str], Any]

#: Types whose values are their own JSON, and equal only to the same JSON of the same type.
_ATOMS: Final = frozenset({str, int, bool, types.NoneType})

_SCALARS: Final = (str, int, float)


def encode(value: Any) -> str:
    """Canonical JSON text of a vocabulary value. Raises `EncodingError`."""
    try:
        return canonical.encode(to_json(value))
    except RecursionError:
        msg = f"The value is nested deeper than {canonical.MAX_DEPTH} levels, or holds itself."
        raise EncodingError(msg) from None


def decode(expected: Any, text: str | bytes) -> Any:
    """Read a vocabulary value of type `expected` from its canonical text.

    Raises:
        EncodingError: not our JSON, or not a value of that type; names the path.
    """
    return from_json(expected, canonical.decode(text))


def to_json(value: Any) -> Any:
    """Plain JSON of a vocabulary value: dicts in declared order, enums as their words.

    Raises:
        EncodingError: something in it is no value of the vocabulary.
    """
    # What most values are comes first, told by identity: `isinstance` with an abstract class
    # is the slowest thing here.
    cls: Any = type(value)
    if cls in _ATOMS or isinstance(value, _SCALARS):
        return value
    if cls is dict:
        return {key: to_json(inner) for key, inner in value.items()}
    if cls is tuple or cls is list:
        return [to_json(inner) for inner in value]
    if isinstance(value, Enum):
        return value.value
    names = _field_names(cls)
    if names is not None:
        result: dict[str, Any] = {}
        kind = getattr(value, "kind", None)
        if isinstance(kind, str) and "kind" not in names:
            result["kind"] = kind
        for name in names:
            result[name] = to_json(getattr(value, name))
        return result
    if isinstance(value, Mapping):
        return {key: to_json(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [to_json(inner) for inner in value]
    kind = type(value).__name__
    msg = f"A {kind} is no vocabulary value and has no JSON form."
    raise EncodingError(msg, "value", type=kind)


def from_json(expected: Any, value: Any) -> Any:
    """A vocabulary value of type `expected` (a class or a union) from plain JSON.

    Raises:
        EncodingError: the JSON is not of that type; the message names the path.
    """
    return _reader(expected)(value, "$")


def are_identical(one: Any, other: Any) -> bool:
    """Whether two vocabulary values have the same JSON, down to the order of keys.

    True is certain. False means "not as far as can be told without writing it": a list and a
    tuple, for one, are the same array.
    """
    if one is other:
        return True
    cls: Any = type(one)
    if cls is not type(other):
        return False
    if cls in _ATOMS:
        return bool(one == other)
    if cls is float:
        return repr(one) == repr(other)  # 0.0 and -0.0 are equal, and two numbers
    if cls is dict:
        return (
            len(one) == len(other)
            and all(type(key) is str for key in one)
            and list(one) == list(other)
            and all(map(are_identical, one.values(), other.values()))
        )
    if cls is tuple or cls is list:
        return len(one) == len(other) and all(map(are_identical, one, other))
    if isinstance(one, Enum):
        return False  # members are one object each
    names = _field_names(cast("Hashable", cls))
    return names is not None and all(
        are_identical(getattr(one, name), getattr(other, name)) for name in names
    )


@cache
def _field_names(cls: Hashable) -> tuple[str, ...] | None:
    if not dataclasses.is_dataclass(cls):
        return None
    return tuple(field.name for field in dataclasses.fields(cls))


def _wrong(path: str, expected: str, value: Any) -> EncodingError:
    return EncodingError(f"At {path}: expected {expected}, found {type(value).__name__}.")


@cache
def _reader(expected: Any) -> _Reader:  # a class, a union, or another annotation
    if expected is Any:
        return lambda value, path: value
    if dataclasses.is_dataclass(expected):
        return _dataclass_reader(cast("type", expected))
    origin = get_origin(expected)
    if origin in (Union, types.UnionType):
        return _union_reader(get_args(expected))
    if origin is tuple:
        return _tuple_reader(_reader(get_args(expected)[0]))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return _scalar_reader(dict, "an object")
    if origin is not None and isinstance(origin, type) and issubclass(origin, Sequence):
        return _tuple_reader(_reader(get_args(expected)[0]))
    if origin is not None:  # Literal: the class itself refuses wrong words
        return lambda value, path: value
    if isinstance(expected, type) and issubclass(expected, Enum):
        return _enum_reader(expected)
    if expected is float:
        return _number
    return _scalar_reader(expected, f"{expected.__name__}")


def _scalar_reader(expected: type, words: str) -> _Reader:
    def read(value: Any, path: str) -> Any:
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise _wrong(path, words, value)
        return value

    return read


def _number(value: Any, path: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(path, "a number", value)
    return value


def _enum_reader(expected: type[Enum]) -> _Reader:
    words = {member.value: member for member in expected}

    def read(value: Any, path: str) -> Any:
        if not isinstance(value, str) or value not in words:
            msg = f"At {path}: {value!r} is no {expected.__name__} ({', '.join(words)})."
            raise EncodingError(msg)
        return words[value]

    return read


def _tuple_reader(inner: _Reader) -> _Reader:
    def read(value: Any, path: str) -> Any:
        if not isinstance(value, list):
            raise _wrong(path, "an array", value)
        return tuple(inner(item, f"{path}[{index}]") for index, item in enumerate(value))

    return read


def _tag_of(member: Any) -> str | None:
    # A class whose instances have a field `kind` (ResponseFormat) is not tagged by it.
    tag = getattr(member, "kind", None)
    return tag if isinstance(tag, str) else None


def _union_reader(members: tuple[Any, ...]) -> _Reader:
    tagged = {tag: _reader(member) for member in members if (tag := _tag_of(member)) is not None}
    others = [
        _reader(member)
        for member in members
        if member is not types.NoneType and _tag_of(member) is None
    ]
    nullable = types.NoneType in members

    def read(value: Any, path: str) -> Any:
        if value is None and nullable:
            return None
        if tagged and isinstance(value, dict):
            kind = value.get("kind")
            if kind not in tagged:
                msg = f"At {path}: the kind {kind!r} is none of {', '.join(sorted(tagged))}."
                raise EncodingError(msg)
            return tagged[kind](value, path)
        if len(others) == 1:
            return others[0](value, path)
        for candidate in others:
            try:
                return candidate(value, path)
            except EncodingError:
                continue
        raise _wrong(path, "another kind of value", value)

    return read


def _dataclass_reader(expected: type) -> _Reader:
    hints = get_type_hints(expected)
    fields = dataclasses.fields(expected)
    names = {field.name for field in fields}
    required = {
        field.name
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    tag = None if "kind" in names else getattr(expected, "kind", None)
    readers: dict[str, _Reader] = {}

    def read(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(path, f"an object ({expected.__name__})", value)
        arguments: dict[str, Any] = {}
        for name, inner in value.items():
            if name == "kind" and tag is not None:
                if inner != tag:
                    msg = f"At {path}: expected the kind {tag!r}, found {inner!r}."
                    raise EncodingError(msg)
                continue
            if name not in names:
                msg = (
                    f"At {path}: {expected.__name__} has no field {name!r}; a newer version of"
                    " synaptum wrote this, read it with that one."
                )
                raise EncodingError(msg)
            if name not in readers:
                readers[name] = _reader(hints[name])
            arguments[name] = readers[name](inner, f"{path}.{name}")
        missing = required - arguments.keys()
        if missing:
            msg = f"At {path}: {expected.__name__} lacks {', '.join(sorted(missing))}."
            raise EncodingError(msg)
        try:
            return expected(**arguments)
        except ValueError as error:
            msg = f"At {path}: {error}"
            raise EncodingError(msg) from None

    return read
