"""JSON to Python: read a plain JSON value into the type its shape stands for.

Strict, so that a function never sees a guess: a boolean is no integer, `"false"` is no
boolean, `"42"` is no number. Two widenings lose nothing and are allowed: an integer where a
float is wanted, and a float with no fraction (`3.0`, which JSON Schema calls an integer)
where an integer is. In a union an exact fit goes before a widened one, then the order written.

Two errors: `MismatchError` when the shape is wrong, `RefusedValueError` when the shape is
right and the value is refused (a day that does not exist, a `__post_init__` or a Pydantic
validator that raises).
"""

from __future__ import annotations

import datetime
import decimal
import math
import pathlib
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

from synaptum.schema.problems import (
    MismatchError,
    RefusedValueError,
    SchemaProblemError,
    mismatch,
    refusal,
    short,
    type_name,
)
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
)

__all__ = ["coerce", "coerce_fields"]

#: Deepest nesting read; a recursive type meets a value nested without end.
_MAX_DEPTH: Final = 100


def coerce(shape: Shape, value: Any, path: str = "$") -> Any:
    """The Python value of `shape` that a plain JSON value stands for.

    Raises:
        MismatchError: the value does not have the shape.
        RefusedValueError: the shape fits, the value was refused.
    """
    return _read(shape, value, path, 0, exact=False)


def coerce_fields(fields: tuple[FieldShape, ...], value: Any, path: str = "$") -> dict[str, Any]:
    """The members of a JSON object by name, each coerced; those left out are not in the result.

    Raises:
        MismatchError: no object, a required name missing, a name nobody knows, or a member
            that does not fit.
        RefusedValueError: a member's value was refused.
    """
    return _members(fields, value, path, 0, exact=False)


def _read(shape: Shape, value: Any, path: str, depth: int, *, exact: bool) -> Any:
    if depth > _MAX_DEPTH:
        raise mismatch(path[:60] + "…", "too_deep", limit=str(_MAX_DEPTH))
    if isinstance(shape, ScalarShape):
        return _scalar(shape.name, value, path, exact=exact)
    if isinstance(shape, DescribedShape | AliasShape):
        return _read(shape.inner, value, path, depth, exact=exact)
    if isinstance(shape, ChoiceShape):
        return _choice(shape, value, path)
    if isinstance(shape, CheckedShape):
        return _checked(shape, _read(shape.inner, value, path, depth, exact=exact), path)
    if isinstance(shape, FormattedShape):
        if not isinstance(value, str):
            raise _expected(path, "string", value)
        return _formatted(shape.format, value, path)
    if isinstance(shape, ArrayShape):
        return _array(shape, value, path, depth, exact=exact)
    if isinstance(shape, FixedArrayShape):
        if not isinstance(value, list | tuple):
            raise _expected(path, "array", value)
        if len(value) != len(shape.items):
            raise mismatch(path, "length", wanted=str(len(shape.items)), found=str(len(value)))
        return tuple(
            _read(item, inner, f"{path}[{index}]", depth + 1, exact=exact)
            for index, (item, inner) in enumerate(zip(shape.items, value, strict=True))
        )
    if isinstance(shape, MapShape):
        if not isinstance(value, Mapping):
            raise _expected(path, "object", value)
        return {
            name: _read(shape.value, inner, f"{path}.{name}", depth + 1, exact=exact)
            for name, inner in value.items()
        }
    if isinstance(shape, UnionShape):
        return _union(shape, value, path, depth, exact=exact)
    if isinstance(shape, ForeignShape):
        return _foreign(shape, value, path)
    return _record(shape, value, path, depth, exact=exact)


def _scalar(name: str, value: Any, path: str, *, exact: bool) -> Any:
    if name == "":
        return value
    found = type_name(value)
    if found == name:
        return value
    if not exact and name == "number" and found == "integer":
        try:
            widened = float(value)
        except OverflowError:
            raise refusal(path, "too_large", value=short(value, 40)) from None
        if widened != value:
            raise refusal(path, "too_large", value=short(value, 40))
        return widened
    if not exact and name == "integer" and found == "number" and float(value).is_integer():
        return int(value)
    raise _expected(path, name, value)


def _choice(shape: ChoiceShape, value: Any, path: str) -> Any:
    found = type_name(value)
    numeric = found in ("integer", "number")
    for wire, python in shape.choices:
        kind = type_name(wire)
        if (kind == found or (numeric and kind in ("integer", "number"))) and wire == value:
            return python
    words = ", ".join(short(wire) for wire, _ in shape.choices)
    raise mismatch(path, "not_among", value=short(value), choices=words)


def _array(shape: ArrayShape, value: Any, path: str, depth: int, *, exact: bool) -> Any:
    if not isinstance(value, list | tuple):
        raise _expected(path, "array", value)
    items = [
        _read(shape.item, inner, f"{path}[{index}]", depth + 1, exact=exact)
        for index, inner in enumerate(value)
    ]
    if not shape.unique:
        return shape.build(items)
    try:
        built = shape.build(items)
    except TypeError as error:
        raise refusal(path, "refused", reason=str(error)) from None
    if len(built) != len(items):
        raise refusal(path, "not_unique")
    return built


def _union(shape: UnionShape, value: Any, path: str, depth: int, *, exact: bool) -> Any:
    refused: RefusedValueError | None = None
    deepest: MismatchError | None = None
    for strict in (True,) if exact else (True, False):
        for member in shape.members:
            try:
                return _read(member, value, path, depth + 1, exact=strict)
            except RefusedValueError as error:
                refused = refused or error
            except MismatchError as error:
                if deepest is None or len(error.problem.path) > len(deepest.problem.path):
                    deepest = error
    if refused is not None:
        raise refused
    real = [member for member in shape.members if member != ScalarShape("null")]
    if deepest is not None and (len(real) == 1 or deepest.problem.path != path):
        raise deepest  # some member fitted down to there: that place helps more than "none fits"
    names = " | ".join(_shape_name(member) for member in shape.members)
    raise mismatch(path, "expected", expected=names, found=type_name(value))


def _record(shape: RecordShape, value: Any, path: str, depth: int, *, exact: bool) -> Any:
    members = _members(shape.fields, value, path, depth, exact=exact)
    try:
        return shape.build(**members)
    except SchemaProblemError:
        raise
    except Exception as error:  # the type's own validation, whatever it raises
        raise refusal(path, "refused", reason=_reason(error)) from error


def _members(
    fields: tuple[FieldShape, ...], value: Any, path: str, depth: int, *, exact: bool
) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _expected(path, "object", value)
    known = {member.name for member in fields}
    unknown = [name for name in value if name not in known]
    missing = [member.name for member in fields if member.required and member.name not in value]
    if missing:
        raise mismatch(path, "missing", names=", ".join(missing))
    if unknown:
        allowed = ", ".join(member.name for member in fields) or "—"
        names = ", ".join(str(name)[:60] for name in unknown[:5])
        raise mismatch(path, "unknown", names=names, allowed=allowed)
    return {
        member.name: _read(
            member.shape, value[member.name], f"{path}.{member.name}", depth + 1, exact=exact
        )
        for member in fields
        if member.name in value
    }


def _checked(shape: CheckedShape, value: Any, path: str) -> Any:
    try:
        return shape.check(value)
    except Exception as error:
        problem = _foreign_problem(error, path).problem
        raise RefusedValueError(problem.path, problem.code, **problem.facts) from error


def _foreign(shape: ForeignShape, value: Any, path: str) -> Any:
    try:
        return shape.model.model_validate(value, strict=None)
    except Exception as error:  # Pydantic's ValidationError, or a validator's own
        raise _foreign_problem(error, path) from error


#: Pydantic error types that mean another shape; every other one is a value that was refused.
_FOREIGN_MISMATCH: Final = re.compile(r"(_type|_parsing|^missing|^extra_forbidden)$")


def _foreign_problem(error: Exception, path: str) -> SchemaProblemError:
    errors: Callable[..., list[dict[str, Any]]] | None = getattr(error, "errors", None)
    if errors is None:
        return refusal(path, "refused", reason=_reason(error))
    details = errors(include_url=False)
    first = next((item for item in details if _FOREIGN_MISMATCH.search(item["type"])), details[0])
    where = path + "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"]
    )
    kind = mismatch if _FOREIGN_MISMATCH.search(first["type"]) else refusal
    return kind(where, "refused", reason=str(first["msg"]))


_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}.*", re.DOTALL)
_TIME: Final = re.compile(r"\d{2}:\d{2}.*", re.DOTALL)


def _decimal(text: str) -> decimal.Decimal:
    number = decimal.Decimal(text)
    if not number.is_finite():
        msg = text
        raise ValueError(msg)
    return number


def _iso(pattern: re.Pattern[str], read: Callable[[str], Any]) -> Callable[[str], Any]:
    # fromisoformat also takes weeks, and dates for times; the formats do not.
    def parse(text: str) -> Any:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return read(text)

    return parse


_PARSERS: Final[dict[str, tuple[Callable[[str], Any], str]]] = {
    "date-time": (_iso(_DATE_TIME, datetime.datetime.fromisoformat), "2026-03-24T09:30:00Z"),
    "date": (_iso(_DATE, datetime.date.fromisoformat), "2026-03-24"),
    "time": (_iso(_TIME, datetime.time.fromisoformat), "09:30:00"),
    "uuid": (uuid.UUID, "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"),
    "decimal": (_decimal, "12.50"),
    "path": (pathlib.Path, "notes/today.txt"),
}


def _formatted(name: str, text: str, path: str) -> Any:
    parse, example = _PARSERS[name]
    try:
        return parse(text)
    except (ValueError, ArithmeticError):
        raise refusal(path, "format", format=name, value=short(text), example=example) from None


def _expected(path: str, name: str, value: Any) -> MismatchError:
    found = type_name(value)
    if found == "number" and not math.isfinite(value):
        found = str(value)
    if found in ("string", "integer", "number", "boolean"):
        found = f"{found} {short(value)}"
    return mismatch(path, "expected", expected=name, found=found)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _shape_name(shape: Shape) -> str:
    if isinstance(shape, ScalarShape):
        return shape.name or "anything"
    if isinstance(shape, DescribedShape | AliasShape | CheckedShape):
        return _shape_name(shape.inner)
    if isinstance(shape, ChoiceShape):
        return " | ".join(short(wire) for wire, _ in shape.choices)
    if isinstance(shape, FormattedShape):
        return f"string ({shape.format})"
    if isinstance(shape, ArrayShape | FixedArrayShape):
        return "array"
    if isinstance(shape, UnionShape):
        return " | ".join(_shape_name(member) for member in shape.members)
    if isinstance(shape, MapShape):
        return "object"
    return shape.name if isinstance(shape, RecordShape) else str(shape.model.__name__)
