"""What of Pydantic may stand in an annotation: told without importing it, read by itself.

Pydantic is an extra: whoever wrote such an annotation has it.
"""

from __future__ import annotations

from typing import Any, Final

from synaptum.schema.shapes import (
    CheckedShape,
    ForeignShape,
    Shape,
    UntranslatableTypeError,
    label_of,
)

__all__ = ["checked_shape", "foreign_shape", "is_foreign_model", "is_from_pydantic"]

#: What a Pydantic constraint adds to a schema; the type and the rest are ours to write.
_CONSTRAINTS: Final = frozenset(
    [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ]
)


def is_foreign_model(annotation: Any) -> bool:
    """Whether this is a Pydantic model class, told without importing Pydantic."""
    return (
        isinstance(annotation, type)
        and callable(getattr(annotation, "model_json_schema", None))
        and callable(getattr(annotation, "model_validate", None))
    )


def is_from_pydantic(value: Any) -> bool:
    """Whether this is a constraint, a validator or a `Field` of Pydantic's, by its module."""
    return type(value).__module__.partition(".")[0] in ("pydantic", "annotated_types")


def checked_shape(inner: Shape, annotation: Any) -> CheckedShape:
    """What an `Annotated` with constraints or validators of Pydantic's stands for.

    In: `inner` is the shape of the type that it annotates.

    Raises:
        UntranslatableTypeError: Pydantic does not take it.
    """
    from pydantic import TypeAdapter  # whoever wrote the annotation has it

    try:
        adapter: Any = TypeAdapter(annotation)
        schema = adapter.json_schema()
    except Exception as error:
        msg = (
            f"{label_of(annotation)} is none that Pydantic takes ({type(error).__name__}: {error})"
        )
        raise UntranslatableTypeError(msg) from None
    keywords = {name: value for name, value in schema.items() if name in _CONSTRAINTS}
    return CheckedShape(inner, adapter.validate_python, keywords)


def foreign_shape(model: Any) -> ForeignShape:
    """What a Pydantic model stands for.

    Raises:
        UntranslatableTypeError: it gives no JSON Schema.
    """
    try:
        model.model_json_schema()
    except Exception as error:  # a member of it that Pydantic has no schema for
        msg = f"{label_of(model)} gives no JSON Schema ({type(error).__name__}: {error})"
        raise UntranslatableTypeError(msg) from None
    return ForeignShape(model)
