"""Annotations read as shapes: whatever a signature, a dataclass or a TypedDict may say.

String annotations are resolved here, names local to a function included. An annotation that
has no JSON form raises `UntranslatableTypeError` at once: at decoration, not at the first call.
"""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import datetime
import decimal
import enum
import inspect
import pathlib
import sys
import types
import typing
import uuid
from collections.abc import Mapping
from typing import Any, Final

from synaptum.schema.foreign import (
    checked_shape,
    foreign_shape,
    is_foreign_model,
    is_from_pydantic,
)
from synaptum.schema.shapes import (
    AliasShape,
    ArrayShape,
    ChoiceShape,
    DescribedShape,
    FieldShape,
    FixedArrayShape,
    FormattedShape,
    MapShape,
    RecordShape,
    ScalarShape,
    Shape,
    UnionShape,
    UntranslatableTypeError,
    label_of,
)

__all__ = [
    "ShapeReader",
    "first_line",
    "local_names",
    "shape_of",
]


_SCALARS: Final[dict[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    None: "null",
    types.NoneType: "null",
    Any: "",
}

#: Python type -> JSON Schema `format`. The last two are ours, not of the specification.
_FORMATS: Final[dict[Any, str]] = {
    datetime.datetime: "date-time",
    datetime.date: "date",
    datetime.time: "time",
    uuid.UUID: "uuid",
    decimal.Decimal: "decimal",
    pathlib.Path: "path",
}

_ARRAYS: Final[dict[Any, tuple[type, bool]]] = {
    list: (list, False),
    collections.abc.Sequence: (list, False),
    collections.abc.MutableSequence: (list, False),
    collections.abc.Collection: (list, False),
    collections.abc.Iterable: (list, False),
    set: (set, True),
    collections.abc.MutableSet: (set, True),
    frozenset: (frozenset, True),
    collections.abc.Set: (frozenset, True),
}

_MAPS: Final = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def shape_of(annotation: Any, names: Mapping[str, Any] | None = None) -> Shape:
    """The shape of one annotation. `names` resolves the string annotations inside it.

    Raises:
        UntranslatableTypeError: the annotation, or one inside it, has no JSON form.
    """
    return ShapeReader(names or {}).read(annotation)


def local_names(function: Any = None) -> dict[str, Any]:
    """Names that string annotations of `function` may use beyond its module's own.

    They are its closure, and the locals of the functions being executed in its module: those
    in which it is being defined. Without a function, of the module that is asking.
    """
    names: dict[str, Any] = {}
    space = getattr(function, "__globals__", None)
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if space is None and not frame.f_globals.get("__name__", "").startswith("synaptum."):
            space = frame.f_globals
        if frame.f_globals is space and frame.f_locals is not space:
            names = {**frame.f_locals, **names}  # the nearest frame wins
        frame = frame.f_back
    if function is None:  # a bare type has no module of its own to look names up in
        return {**(space or {}), **names}
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None)
    if code is not None and cells:
        for name, cell in zip(code.co_freevars, cells, strict=True):
            with contextlib.suppress(ValueError):  # not bound yet
                names[name] = cell.cell_contents
    return names


def first_line(documentation: str | None) -> str:
    """The first line of a docstring that says something, or ""."""
    lines = (documentation or "").strip().splitlines()
    return lines[0].strip() if lines else ""


class ShapeReader:
    """Reads the annotations of one schema; a record met twice is the same shape."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = dict(names)
        self._known: dict[Any, RecordShape | AliasShape] = {}

    def resolve(self, annotation: Any, space: Mapping[str, Any]) -> Any:
        """An annotation with its strings evaluated, in `space` and the local names.

        Raises:
            UntranslatableTypeError: a string in it names what is not there, or is no type.
        """
        holder = types.SimpleNamespace(__annotations__={"it": annotation})
        try:
            hints = typing.get_type_hints(
                holder, globalns=dict(space), localns=self._names, include_extras=True
            )
        except NameError as error:
            msg = f"{annotation!r} is not known where the annotation stands ({error})"
            raise UntranslatableTypeError(msg) from None
        except Exception as error:  # whatever evaluating somebody's text raises
            msg = f"{annotation!r} cannot be evaluated ({type(error).__name__}: {error})"
            raise UntranslatableTypeError(msg) from None
        return hints["it"]

    def read(self, annotation: Any) -> Shape:
        """The shape of an annotation that has been resolved."""
        if isinstance(annotation, str | typing.ForwardRef):
            annotation = self.resolve(annotation, {})
        if isinstance(annotation, typing.NewType):
            return self.read(annotation.__supertype__)
        if hasattr(annotation, "__value__") and hasattr(annotation, "__type_params__"):
            return self._alias(annotation)
        origin = typing.get_origin(annotation)
        # Before any lookup: an Annotated hashes what it carries, which may have no hash.
        if origin is not None and annotation is not typing.Tuple:  # noqa: UP006
            return self._generic(annotation, origin, typing.get_args(annotation))
        if not isinstance(annotation, typing.Hashable):
            raise _untranslatable(annotation)
        if annotation in _SCALARS:
            return ScalarShape(_SCALARS[annotation])
        if annotation in _FORMATS:
            return FormattedShape(_FORMATS[annotation])
        if annotation in _ARRAYS:
            return self._generic(annotation, annotation, ())
        if annotation in (tuple, typing.Tuple):  # noqa: UP006
            return ArrayShape(ScalarShape(""), tuple, unique=False)
        if annotation in _MAPS:
            return self._generic(annotation, annotation, ())
        if is_foreign_model(annotation):
            return foreign_shape(annotation)
        if isinstance(annotation, type):
            return self._class(annotation)
        raise _untranslatable(annotation)

    def _generic(self, annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> Shape:
        if origin is typing.Annotated:
            return self._annotated(annotation, arguments)
        if origin is typing.Literal:
            return _choices([(_literal(word), word) for word in arguments], annotation)
        if origin in (typing.Union, types.UnionType):
            return UnionShape(tuple(self.read(member) for member in arguments))
        if origin is tuple:
            if len(arguments) == 2 and arguments[1] is Ellipsis:
                return ArrayShape(self.read(arguments[0]), tuple, unique=False)
            return FixedArrayShape(tuple(self.read(item) for item in arguments))
        if origin in _ARRAYS:
            build, unique = _ARRAYS[origin]
            return ArrayShape(self.read(arguments[0] if arguments else Any), build, unique)
        if origin in _MAPS:
            arguments = arguments or (str, Any)
            if arguments[0] not in (str, Any):
                msg = f"{label_of(annotation)}: JSON names are strings, so the keys must be str"
                raise UntranslatableTypeError(msg)
            return MapShape(self.read(arguments[1]))
        if origin in (typing.Required, typing.NotRequired) or _is_read_only(origin):
            return self.read(arguments[0])
        raise _untranslatable(annotation)

    def _annotated(self, annotation: Any, arguments: tuple[Any, ...]) -> Shape:
        inner = self.read(arguments[0])
        if any(is_from_pydantic(extra) for extra in arguments[1:]):
            inner = checked_shape(inner, annotation)
        for extra in arguments[1:]:
            text = extra if isinstance(extra, str) else getattr(extra, "description", None)
            if isinstance(text, str) and text:
                return DescribedShape(inner, text)
        return inner

    def _alias(self, annotation: Any) -> Shape:
        if annotation not in self._known:
            alias = AliasShape(annotation.__name__)
            self._known[annotation] = alias
            alias.inner = self.read(annotation.__value__)
        return self._known[annotation]

    def _class(self, cls: type) -> Shape:
        if issubclass(cls, enum.Flag):
            msg = f"{label_of(cls)} is a Flag, whose combinations have no fixed list; use an Enum"
            raise UntranslatableTypeError(msg)
        if issubclass(cls, enum.Enum):
            return _choices([(member.value, member) for member in cls], cls)
        if typing.is_typeddict(cls):
            return self._record(cls, self._typed_dict_fields)
        if dataclasses.is_dataclass(cls):
            return self._record(cls, self._dataclass_fields)
        raise _untranslatable(cls)

    def _record(self, cls: type, read: Any) -> Shape:
        if cls not in self._known:
            documentation = first_line(cls.__doc__)
            if documentation.startswith(f"{cls.__name__}("):  # written by @dataclass itself
                documentation = ""
            record = RecordShape(cls.__name__, cls, documentation)
            self._known[cls] = record
            record.fields = read(cls)
        return self._known[cls]

    def _hints(self, cls: type) -> dict[str, Any]:
        names = {**self._names, cls.__name__: cls}
        try:
            return typing.get_type_hints(cls, localns=names, include_extras=True)
        except NameError as error:
            msg = f"{label_of(cls)} has an annotation that is not known here ({error})"
            raise UntranslatableTypeError(msg) from None

    def _typed_dict_fields(self, cls: Any) -> tuple[FieldShape, ...]:
        fields = []
        for name, hint in self._hints(cls).items():
            # With string annotations the class itself cannot tell these two apart.
            origin = typing.get_origin(hint)
            required = name in cls.__required_keys__
            if origin in (typing.Required, typing.NotRequired):
                required = origin is typing.Required
            fields.append(FieldShape(name, self._member(cls, name, hint), required))
        return tuple(fields)

    def _dataclass_fields(self, cls: Any) -> tuple[FieldShape, ...]:
        hints = self._hints(cls)
        accepted = inspect.signature(cls).parameters  # InitVars included, init=False left out
        fields = []
        for name, parameter in accepted.items():
            if parameter.kind not in (
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                inspect.Parameter.KEYWORD_ONLY,
            ):
                msg = f"{label_of(cls)}.{name}: its constructor takes more than its fields"
                raise UntranslatableTypeError(msg)
            hint = hints.get(name, parameter.annotation)
            if isinstance(hint, dataclasses.InitVar):
                hint = hint.type
            shape = self._member(cls, name, hint)
            declared = cls.__dataclass_fields__.get(name)
            note = declared.metadata.get("description") if declared is not None else None
            if isinstance(note, str) and not isinstance(shape, DescribedShape):
                shape = DescribedShape(shape, note)
            required = parameter.default is inspect.Parameter.empty
            made = declared is not None and declared.default_factory is not dataclasses.MISSING
            fields.append(
                FieldShape(
                    name,
                    shape,
                    required,
                    None if required or made else parameter.default,
                    has_default=not required and not made,
                )
            )
        return tuple(fields)

    def _member(self, cls: type, name: str, hint: Any) -> Shape:
        try:
            return self.read(hint)
        except UntranslatableTypeError as error:
            msg = f"{label_of(cls)}.{name}: {error}"
            raise UntranslatableTypeError(msg) from None


def _literal(word: Any) -> Any:
    return word.value if isinstance(word, enum.Enum) else word


def _choices(pairs: list[tuple[Any, Any]], annotation: Any) -> ChoiceShape:
    seen: set[tuple[type, Any]] = set()
    kept = []
    for wire, value in pairs:
        if wire is not None and not isinstance(wire, str | int | float):
            msg = (
                f"{label_of(annotation)}: {wire!r} is a {type(wire).__name__}; the values of an"
                " Enum or Literal must be strings, numbers, booleans or None"
            )
            raise UntranslatableTypeError(msg)
        if isinstance(wire, str) and type(wire) is not str:
            wire = str.__str__(wire)
        kind = bool if isinstance(wire, bool) else float if isinstance(wire, int | float) else str
        if (kind, wire) in seen:
            msg = f"{label_of(annotation)}: {wire!r} stands for two members once it is JSON"
            raise UntranslatableTypeError(msg)
        seen.add((kind, wire))
        kept.append((wire, value))
    if not kept:
        msg = f"{label_of(annotation)} has no members"
        raise UntranslatableTypeError(msg)
    return ChoiceShape(tuple(kept))


def _is_read_only(origin: Any) -> bool:
    read_only = getattr(typing, "ReadOnly", None)  # Python 3.13
    return read_only is not None and origin is read_only


def _untranslatable(annotation: Any) -> UntranslatableTypeError:
    msg = (
        f"{label_of(annotation)} has no JSON form; use str, int, float, bool, None, Literal, Enum,"
        " list, tuple, set, dict with str keys, a dataclass, a TypedDict, a Pydantic model,"
        " datetime, date, time, UUID, Decimal, Path, or a union of these"
    )
    return UntranslatableTypeError(msg)
