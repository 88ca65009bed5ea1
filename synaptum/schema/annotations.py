"""Types to JSON Schema (2020-12), with keys in a fixed order.

Records (dataclasses, TypedDicts) and Pydantic models stand under `$defs` and are referred
to, so that they may recur; every object refuses unknown names. A description beside a
`$ref` is allowed since 2019-09.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from synaptum import canonical
from synaptum.errors import ConfigurationError, EncodingError
from synaptum.schema.dump import to_plain
from synaptum.schema.problems import type_name
from synaptum.schema.reader import local_names, shape_of
from synaptum.schema.shapes import (
    AliasShape,
    ArrayShape,
    CheckedShape,
    ChoiceShape,
    DescribedShape,
    FieldShape,
    FixedArrayShape,
    ForeignShape,
    FormattedShape,
    MapShape,
    RecordShape,
    ScalarShape,
    Shape,
    UnionShape,
    UntranslatableTypeError,
)
from synaptum.schema.signature import Signature, function_behind, signature_of

__all__ = ["json_schema_for", "schema_for", "schema_of_fields", "schema_of_shape"]


def schema_for(annotation: Any) -> dict[str, Any]:
    """The JSON Schema of a type: `schema_for(int | None)`, `schema_for(MyDataclass)`.

    In: `annotation`, whatever may stand after the colon of a parameter.
    Out: a schema of its own, with what recurs or stands twice under `$defs`.

    Raises:
        ConfigurationError: the type has no JSON form; the message names it.
    """
    try:
        return schema_of_shape(shape_of(annotation, local_names()))
    except UntranslatableTypeError as error:
        msg = f"No JSON Schema for this type: {error}."
        raise ConfigurationError(msg) from None


def json_schema_for(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of a function's parameters, as a model sees it.

    Out: `{"type": "object", "properties": {...}, "required": [...],
    "additionalProperties": false}`, with `$defs` where a parameter needs them.

    Raises:
        ConfigurationError: a parameter has no annotation or none that JSON can express, or
            is `*args`, `**kwargs` or positional-only; the message names it.
    """
    return schema_of_signature(signature_of(function, local_names(function_behind(function))))


def schema_of_signature(signature: Signature) -> dict[str, Any]:
    """The schema of a signature that was read."""
    return schema_of_fields(signature.fields)


def schema_of_shape(shape: Shape) -> dict[str, Any]:
    """The schema of a shape. A record at the root is written out, not referred to."""
    writer = _Writer()
    if isinstance(shape, RecordShape):
        schema = writer.record(shape)
    elif isinstance(shape, ForeignShape):
        schema = dict(shape.model.model_json_schema())
        writer.adopt(schema.pop("$defs", {}))
    else:
        schema = writer.write(shape)
    return writer.finish(schema)


def schema_of_fields(fields: tuple[FieldShape, ...]) -> dict[str, Any]:
    """The schema of an object with these members."""
    writer = _Writer()
    return writer.finish(writer.members(fields))


class _Writer:
    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._definitions: dict[str, Any] = {}
        self._kept: list[Any] = []  # ids are only good while their objects live

    def finish(self, schema: dict[str, Any]) -> dict[str, Any]:
        if self._definitions:
            schema["$defs"] = dict(sorted(self._definitions.items()))
        return schema

    def write(self, shape: Shape) -> dict[str, Any]:
        if isinstance(shape, ScalarShape):
            return {"type": shape.name} if shape.name else {}
        if isinstance(shape, FormattedShape):
            return {"type": "string", "format": shape.format}
        if isinstance(shape, ChoiceShape):
            return _choice(shape)
        if isinstance(shape, ArrayShape):
            array: dict[str, Any] = {"type": "array", "items": self.write(shape.item)}
            if shape.unique:
                array["uniqueItems"] = True
            return array
        if isinstance(shape, FixedArrayShape):
            count = len(shape.items)
            fixed: dict[str, Any] = {"type": "array"}
            if count:  # an empty prefixItems is not allowed
                fixed["prefixItems"] = [self.write(item) for item in shape.items]
            return {**fixed, "minItems": count, "maxItems": count}
        if isinstance(shape, MapShape):
            return {"type": "object", "additionalProperties": self.write(shape.value)}
        if isinstance(shape, UnionShape):
            return {"anyOf": [self.write(member) for member in shape.members]}
        if isinstance(shape, CheckedShape):
            return {**self.write(shape.inner), **shape.keywords}
        if isinstance(shape, DescribedShape):
            return {**self.write(shape.inner), "description": shape.description}
        return self._reference(shape)

    def members(self, fields: tuple[FieldShape, ...]) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        for member in fields:
            schema = self.write(member.shape)
            if member.has_default:
                plain = _default(member.default)
                if plain is not _NO_DEFAULT:
                    schema["default"] = plain
            properties[member.name] = schema
        return {
            "type": "object",
            "properties": properties,
            "required": [member.name for member in fields if member.required],
            "additionalProperties": False,
        }

    def record(self, shape: RecordShape) -> dict[str, Any]:
        schema = self.members(shape.fields)
        if shape.description:
            schema = {"type": "object", "description": shape.description, **schema}
        return schema

    def adopt(self, definitions: Mapping[str, Any]) -> None:
        """Take in the `$defs` that a Pydantic model brings along."""
        for name, schema in definitions.items():
            if self._definitions.setdefault(name, schema) != schema:
                msg = (
                    f"Two different types are called {name!r} in one schema; rename one of them,"
                    " so that the model can tell them apart."
                )
                raise ConfigurationError(msg)

    def _reference(self, shape: RecordShape | AliasShape | ForeignShape) -> dict[str, Any]:
        subject = shape.model if isinstance(shape, ForeignShape) else shape
        if id(subject) not in self._names:
            self._kept.append(subject)
            name = self._free_name(
                shape.model.__name__ if isinstance(shape, ForeignShape) else shape.name
            )
            self._names[id(subject)] = name
            self._definitions[name] = {}  # holds the place while the type recurs
            if isinstance(shape, ForeignShape):
                schema = dict(shape.model.model_json_schema())
                definitions = dict(schema.pop("$defs", {}))
                if schema.get("$ref") == f"#/$defs/{name}":  # a recursive model refers to itself
                    schema = definitions.pop(name)
                definitions.pop(name, None)
                self._definitions[name] = schema
                self.adopt(definitions)
            else:
                self._definitions[name] = (
                    self.record(shape)
                    if isinstance(shape, RecordShape)
                    else self.write(shape.inner)
                )
        return {"$ref": f"#/$defs/{self._names[id(subject)]}"}

    def _free_name(self, name: str) -> str:
        candidate, number = name, 1
        while candidate in self._definitions:
            number += 1
            candidate = f"{name}_{number}"
        return candidate


def _choice(shape: ChoiceShape) -> dict[str, Any]:
    words = [wire for wire, _ in shape.choices]
    kinds = {type_name(word) for word in words}
    if len(kinds) == 1:
        return {"type": kinds.pop(), "enum": words}
    return {"enum": words}


_NO_DEFAULT = object()


def _default(value: Any) -> Any:
    # A default that JSON cannot express still makes the parameter optional; it is not shown.
    try:
        plain = to_plain(value, sets=True)
        canonical.encode(plain)
    except EncodingError:
        return _NO_DEFAULT
    return plain
