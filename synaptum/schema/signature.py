"""A function's signature as the members of a JSON object.

Everything is read at decoration, so that what cannot work fails there, naming the parameter.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from synaptum.errors import ConfigurationError
from synaptum.schema.foreign import is_from_pydantic
from synaptum.schema.reader import ShapeReader
from synaptum.schema.shapes import FieldShape, UntranslatableTypeError

__all__ = ["Signature", "function_behind", "signature_of"]


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, in order.

    `receiver` is the name of the first parameter of a method that is not bound yet, or None.
    """

    fields: tuple[FieldShape, ...]
    receiver: str | None = None


def function_behind(target: Any) -> Any:
    """The plain function behind partials, bound methods, wrappers and callable objects."""
    while True:
        if isinstance(target, functools.partial):
            target = target.func
        elif inspect.ismethod(target):
            target = target.__func__
        elif hasattr(target, "__wrapped__"):
            target = target.__wrapped__
        elif not inspect.isroutine(target) and not isinstance(target, type):
            call = type(target).__call__ if callable(target) else None
            if call is None or not inspect.isfunction(call):
                return target
            target = call
        else:
            return target


def signature_of(function: Callable[..., Any], names: Mapping[str, Any]) -> Signature:
    """Read the signature; `names` resolves string annotations beyond the function's module.

    Raises:
        ConfigurationError: a parameter cannot be told to a model; the message names it.
    """
    label = getattr(function_behind(function), "__qualname__", repr(function))
    try:
        parameters = dict(inspect.signature(function).parameters)
    except (TypeError, ValueError) as error:
        msg = f"{label} has no signature that can be read ({error}); wrap it in a function."
        raise ConfigurationError(msg) from None
    receiver = _receiver(function, parameters)
    if receiver is not None:
        del parameters[receiver]
    for name in _bound_keywords(function):
        parameters.pop(name, None)  # a bound value is no business of the model's
    reader = ShapeReader(names)
    space = getattr(function_behind(function), "__globals__", {})
    return Signature(
        tuple(_field(reader, space, label, parameter) for parameter in parameters.values()),
        receiver,
    )


def _receiver(function: Any, parameters: Mapping[str, inspect.Parameter]) -> str | None:
    """`self` of a method decorated inside its class: no annotation, first, and qualified."""
    if not inspect.isfunction(function) or not parameters:
        return None
    scope = function.__qualname__.rpartition(".")[0]
    first = next(iter(parameters.values()))
    inside_class = bool(scope) and not scope.endswith("<locals>")
    if inside_class and first.name == "self" and first.annotation is inspect.Parameter.empty:
        return first.name
    return None


def _bound_keywords(function: Any) -> set[str]:
    names: set[str] = set()
    while isinstance(function, functools.partial):
        names |= function.keywords.keys()
        function = function.func
    return names


def _field(
    reader: ShapeReader, space: Mapping[str, Any], label: str, parameter: inspect.Parameter
) -> FieldShape:
    name = parameter.name
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        msg = (
            f"Parameter {name!r} of {label} is positional-only, and a model gives names: move it"
            " behind the '/'."
        )
        raise ConfigurationError(msg)
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        star = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
        msg = (
            f"Parameter {star}{name} of {label} has no fixed names to tell a model: write the"
            " parameters out, or take one list or dict."
        )
        raise ConfigurationError(msg)
    if parameter.annotation is inspect.Parameter.empty:
        msg = f"Parameter {name!r} of {label} has no annotation: the schema is made from it."
        raise ConfigurationError(msg)
    try:
        shape = reader.read(reader.resolve(parameter.annotation, space))
    except UntranslatableTypeError as error:
        msg = f"Parameter {name!r} of {label}: {error}."
        raise ConfigurationError(msg) from None
    if is_from_pydantic(parameter.default):
        msg = (
            f"Parameter {name!r} of {label} has a Pydantic object as its default, which the"
            " function would be given: put it inside Annotated[...]."
        )
        raise ConfigurationError(msg)
    # By identity: a default may be an array, whose == is no bool.
    required = parameter.default is inspect.Parameter.empty
    return FieldShape(
        name,
        shape,
        required,
        None if required else parameter.default,
        has_default=not required,
    )
