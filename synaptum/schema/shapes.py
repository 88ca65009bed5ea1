"""What a type means as JSON: one tree that schemas are written and values read from.

`reader.py` turns an annotation into a `Shape`; `annotations.py` writes the JSON Schema of a
shape and `coerce.py` reads JSON into its Python value, so the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from synaptum.errors import ConfigurationError

__all__ = [
    "AliasShape",
    "ArrayShape",
    "CheckedShape",
    "ChoiceShape",
    "DescribedShape",
    "FieldShape",
    "FixedArrayShape",
    "ForeignShape",
    "FormattedShape",
    "MapShape",
    "RecordShape",
    "ScalarShape",
    "Shape",
    "UnionShape",
    "UntranslatableTypeError",
    "label_of",
]


class UntranslatableTypeError(ConfigurationError):
    """An annotation has no JSON form; the message names it and says what to write instead."""


def label_of(annotation: Any) -> str:
    """How an annotation is named in errors."""
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation)


@dataclass(frozen=True, slots=True)
class ScalarShape:
    """`str`, `int`, `float`, `bool`, `None`, or `Any` (`name` is the JSON Schema type, or "")."""

    name: str


@dataclass(frozen=True, slots=True)
class ChoiceShape:
    """A `Literal` or an `Enum`: pairs of the JSON value and the Python value, in order."""

    choices: tuple[tuple[Any, Any], ...]


@dataclass(frozen=True, slots=True)
class FormattedShape:
    """A Python value written as a string of a known format."""

    format: str


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """An array of one item type; `build` makes the Python container of a list."""

    item: Shape
    build: type
    unique: bool


@dataclass(frozen=True, slots=True)
class FixedArrayShape:
    """A tuple of known length."""

    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class MapShape:
    """An object with free names and one value type."""

    value: Shape


@dataclass(frozen=True, slots=True)
class UnionShape:
    """One of several, tried in the order written."""

    members: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class DescribedShape:
    """A shape with a sentence for the model."""

    inner: Shape
    description: str


@dataclass(frozen=True, slots=True, eq=False)
class CheckedShape:
    """A shape whose value passes a Pydantic check afterwards, with the keywords that tell it."""

    inner: Shape
    check: Callable[[Any], Any]
    keywords: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FieldShape:
    """A named member of a record. `default` is what the schema shows, where `has_default`."""

    name: str
    shape: Shape
    required: bool
    default: Any = None
    has_default: bool = False


@dataclass(slots=True, eq=False)
class RecordShape:
    """A dataclass or TypedDict; `fields` is filled after creation, so that it may recur."""

    name: str
    build: Any
    description: str = ""
    fields: tuple[FieldShape, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignShape:
    """A Pydantic model (anything with `model_json_schema` and `model_validate`)."""

    model: Any


@dataclass(slots=True, eq=False)
class AliasShape:
    """A named alias (`type X = ...`); `inner` is filled after creation, so that it may recur."""

    name: str
    inner: Shape = field(default_factory=lambda: ScalarShape(""))


Shape = (
    ScalarShape
    | ChoiceShape
    | FormattedShape
    | ArrayShape
    | FixedArrayShape
    | MapShape
    | UnionShape
    | DescribedShape
    | CheckedShape
    | RecordShape
    | ForeignShape
    | AliasShape
)
