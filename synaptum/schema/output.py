"""What an agent's answer must be: a dataclass, a TypedDict, a Pydantic model, or a JSON Schema.

One value holds both directions: the schema that is asked for, and the reading of an answer
back into the type. A raw schema gives plain JSON, checked by `synaptum.schema.validate`.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Mapping
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import ConfigurationError, EncodingError
from synaptum.schema.annotations import schema_of_shape
from synaptum.schema.coerce import coerce
from synaptum.schema.dump import to_plain
from synaptum.schema.foreign import is_foreign_model
from synaptum.schema.problems import mismatch
from synaptum.schema.reader import local_names, shape_of
from synaptum.schema.shapes import Shape, UntranslatableTypeError
from synaptum.schema.validate import check_schema, validate
from synaptum.vocabulary import ResponseFormat

__all__ = ["OutputType", "output_type"]

_ROOT: Final = "$"

#: A fence around the whole answer. Anchored at both ends: backticks inside a string stay.
_FENCE: Final = re.compile(r"\s*```(?:json|JSON)?\s*(.*)```\s*", re.DOTALL)


@dataclasses.dataclass(frozen=True, slots=True)
class OutputType:
    """A type of answer.

    Attributes:
        name: how the dialect calls the schema.
        schema: the JSON Schema that is asked for.
        shape: what the answer is read into; None for a raw schema.
    """

    name: str
    schema: Mapping[str, Any]
    shape: Shape | None

    @property
    def response_format(self) -> ResponseFormat:
        """The form to ask a model for."""
        return ResponseFormat("json_schema", schema=self.schema, name=self.name)

    def read_text(self, text: str) -> Any:
        """The object an answer holds: JSON, alone or in one fence around all of it.

        Raises:
            SchemaProblemError: no JSON, or not of this type; `.problem` says where and why.
        """
        try:
            plain = canonical.decode(text)
        except EncodingError as error:
            fenced = _FENCE.fullmatch(text)
            if fenced is None:
                raise mismatch(_ROOT, "not_json", reason=str(error)) from None
            try:
                plain = canonical.decode(fenced.group(1))
            except EncodingError as inner:
                raise mismatch(_ROOT, "not_json", reason=str(inner)) from None
        return self.read(plain)

    def read(self, plain: Any) -> Any:
        """The object that plain JSON stands for, such as a journalled output.

        Raises:
            SchemaProblemError: it is not of this type.
        """
        if self.shape is None:
            validate(self.schema, plain)
            return plain
        return coerce(self.shape, plain)

    def dump(self, value: Any) -> Any:
        """Plain JSON of an object of this type; `read(dump(x)) == x`. Raises `EncodingError`."""
        return to_plain(value, sets=True)


def output_type(output: Any) -> OutputType:
    """The type of answer that `Agent(output=...)` was given.

    Raises:
        ConfigurationError: neither a dataclass, a TypedDict, a Pydantic model nor a JSON
            Schema, or one that has no JSON form; the message says which part.
    """
    if isinstance(output, Mapping):
        check_schema(output, "output=")
        title = output.get("title")
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", title) if isinstance(title, str) else ""
        return OutputType(name[:64] or "output", dict(output), None)
    if not (
        isinstance(output, type)
        and (
            dataclasses.is_dataclass(output)
            or typing.is_typeddict(output)
            or is_foreign_model(output)
        )
    ):
        msg = (
            f"output={output!r} is no type of answer: give a dataclass, a TypedDict, a Pydantic"
            " model or a JSON Schema."
        )
        raise ConfigurationError(msg)
    try:
        shape = shape_of(output, local_names())
    except UntranslatableTypeError as error:
        msg = f"output={output.__name__}: {error}."
        raise ConfigurationError(msg) from None
    return OutputType(output.__name__, schema_of_shape(shape), shape)
