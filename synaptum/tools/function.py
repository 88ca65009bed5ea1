"""`@tool`: a function becomes a tool, its schema read from its signature.

A schema written apart drifts from the function, and the drift shows far from its cause;
so it is derived, and what cannot be derived fails at decoration. Risk and idempotence are
declared, because no annotation can tell that a function moves money.

An `async` function runs on the event loop. A plain function runs in a thread, with the
caller's context variables, so that a blocking one does not freeze the loop; when the run is
cancelled the wait for it ends at once, but Python cannot stop a thread: the function itself
runs to its end and its result is dropped.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

from synaptum import canonical
from synaptum.errors import ConfigurationError, EncodingError, InvalidToolCallError
from synaptum.schema.annotations import schema_of_signature
from synaptum.schema.coerce import coerce_fields
from synaptum.schema.dump import to_plain
from synaptum.schema.problems import MismatchError, RefusedValueError, SchemaProblemError
from synaptum.schema.reader import first_line, local_names
from synaptum.schema.signature import Signature, function_behind, signature_of
from synaptum.schema.validate import check_schema, validate
from synaptum.tools.base import (
    PASSES_THROUGH,
    DefinedTool,
    arguments_schema,
    cancelled_inside,
    is_own_cancellation,
    misfit,
    settle_failure,
)
from synaptum.tools.results import result_of
from synaptum.vocabulary import Risk, ToolDefinition, ToolResult
from synaptum.wording import ENGLISH, current_wording

__all__ = ["FunctionTool", "tool"]

P = ParamSpec("P")
R = TypeVar("R")


class FunctionTool(DefinedTool, Generic[P, R]):
    """A function as a tool; calling it is calling the function.

    Made by `@tool`. On a method, the tool is taken from an instance: `Agent(tools=[desk.open])`.
    """

    def __init__(
        self,
        function: Callable[P, R],
        definition: ToolDefinition,
        signature: Signature | None,
        *,
        receiver: str | None = None,
    ) -> None:
        self._function = function
        self._definition = definition
        self._signature = signature
        self._receiver = receiver
        functools.update_wrapper(self, function_behind(function), updated=())
        self.__wrapped__ = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself."""
        return self._function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> FunctionTool[..., R]:
        if instance is None or self._receiver is None:
            return self
        bound = functools.partial(self._function, instance)
        return FunctionTool(bound, self._definition, self._signature)

    def __repr__(self) -> str:
        return f"<tool {self.name!r} {self._definition.risk.name}>"

    async def invoke(self, call_id: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Check the arguments, run the function, and give its value as a result.

        Raises:
            InvalidToolCallError: the arguments do not fit the signature; names the path.
            ToolExecutionError: the function failed, repeating may help and is safe.
            NeedsHumanError: the function asks for a person.
            ConfigurationError: it is a method, and was taken from its class.
        """
        if self._receiver is not None:
            msg = (
                f"{self.name} is a method without its object: take the tool from an instance,"
                " not from the class."
            )
            raise ConfigurationError(msg)
        try:
            values = self._read(arguments)
        except RefusedValueError as error:
            return _refused_value(call_id, self.name, error)
        except MismatchError as error:
            raise InvalidToolCallError(misfit(self.name, error)) from None
        try:
            value = await self._run(values)
        except PASSES_THROUGH:
            raise
        except asyncio.CancelledError:
            if not is_own_cancellation():
                raise
            return settle_failure(call_id, self._definition, cancelled_inside())
        except Exception as error:
            return settle_failure(call_id, self._definition, error)
        return result_of(call_id, self.name, value)

    def _read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if self._signature is not None:
            return coerce_fields(self._signature.fields, arguments)
        validate(self._definition.parameters, arguments)  # a schema given by hand
        return dict(arguments)

    async def _run(self, values: dict[str, Any]) -> Any:
        if _is_async(self._function):
            return await self._function(**values)  # type: ignore[misc, call-arg]
        outcome = await asyncio.to_thread(_call, self._function, values)
        if isinstance(outcome, _Raised):
            raise outcome.error
        return await outcome if inspect.isawaitable(outcome) else outcome


def _is_async(function: Any) -> bool:
    # Not through __wrapped__: a plain wrapper of an async function may well have awaited it.
    if isinstance(function, functools.partial):
        return _is_async(function.func)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004
    )


class _Raised:
    """An exception carried out of a thread: a future refuses to hold a StopIteration."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _call(function: Callable[..., Any], values: dict[str, Any]) -> Any:
    try:
        return function(**values)
    except StopIteration as error:
        return _Raised(RuntimeError(f"StopIteration: {error}"))
    except SystemExit as error:
        # As everywhere in Python, `sys.exit()` in a thread does not end the process.
        return _Raised(RuntimeError(f"SystemExit: {error}"))
    except (Exception, asyncio.CancelledError) as error:
        return _Raised(error)


def _refused_value(call_id: str, name: str, error: RefusedValueError) -> ToolResult:
    text = f"{misfit(name, error)} {current_wording().tool_value_refused}"
    return ToolResult.of(call_id, text, is_error=True)


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    risk: Risk = ...,
    idempotent: bool = ...,
    name: str | None = ...,
    description: str | None = ...,
    parameters: Mapping[str, Any] | None = ...,
    input_examples: Sequence[Mapping[str, Any]] = ...,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
@overload
def tool(
    function: Callable[P, R],
    /,
    *,
    risk: Risk = ...,
    idempotent: bool = ...,
    name: str | None = ...,
    description: str | None = ...,
    parameters: Mapping[str, Any] | None = ...,
    input_examples: Sequence[Mapping[str, Any]] = ...,
) -> FunctionTool[P, R]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    risk: Risk = Risk.READ,
    idempotent: bool = False,
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    input_examples: Sequence[Mapping[str, Any]] = (),
) -> Any:
    """Make a tool of a function, as `@tool` or `@tool(...)`, or of any callable: `tool(f)`.

    Args:
        function: a function, async or not; a bound method; a `functools.partial`, whose bound
            arguments the model never sees; a callable object (with `name=`).
        risk: what it can do to the world. Silence means harmless, `Risk.READ`.
        idempotent: repeating a call has no further effect; allows retrying and re-running it.
            Silence means False.
        name: instead of the function's own.
        description: instead of the docstring's first line.
        parameters: a JSON Schema by hand, instead of the one from the signature: arguments are
            validated against it and handed over by name as plain JSON.
        input_examples: whole argument objects, checked here and sent as JSON Schema `examples`.

    Raises:
        ConfigurationError: a parameter has no annotation or none that JSON can express, is
            `*args`, `**kwargs` or positional-only, or an example does not fit; names which.
    """

    def make(target: Callable[..., Any]) -> FunctionTool[..., Any]:
        behind = function_behind(target)
        own_name = name or getattr(behind, "__name__", "")
        if not own_name or own_name in ("<lambda>", "__call__"):
            msg = f"{target!r} has no name that a model could use: give it one with name=."
            raise ConfigurationError(msg)
        if inspect.isgeneratorfunction(behind) or inspect.isasyncgenfunction(behind):
            msg = f"{own_name} is a generator, and a tool gives one value: return a list."
            raise ConfigurationError(msg)
        _check_kinds(own_name, risk, idempotent, description, parameters)
        signature: Signature | None = None
        if parameters is None:
            signature = signature_of(target, local_names(behind))
            schema = schema_of_signature(signature)
        else:
            schema = _schema_by_hand(own_name, parameters)
        if input_examples:
            schema["examples"] = _checked_examples(own_name, input_examples, signature, schema)
        text = first_line(getattr(behind, "__doc__", None)) if description is None else description
        definition = ToolDefinition(own_name, text, schema, risk, idempotent)
        receiver = signature.receiver if signature is not None else None
        return FunctionTool(target, definition, signature, receiver=receiver)

    return make if function is None else make(function)


def _check_kinds(
    name: object, risk: object, idempotent: object, description: object, parameters: object
) -> None:
    """Refuse what would pass for something else: a risk in a word, a "no" that is true."""
    for what, value, kind in (
        ("name", name, str),
        ("risk", risk, Risk),
        ("idempotent", idempotent, bool),
        ("description", description or "", str),
        ("parameters", parameters or {}, Mapping),
    ):
        if not isinstance(value, kind):
            msg = f"@tool({what}={value!r}) on {name}: give a {kind.__name__}."
            raise ConfigurationError(msg)


def _schema_by_hand(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    schema = arguments_schema(parameters)
    if schema["type"] != "object":
        msg = f"parameters= of {name} must be a schema of type object, which arguments are."
        raise ConfigurationError(msg)
    check_schema(schema, f"parameters= of {name}")
    return schema


def _checked_examples(
    name: str,
    examples: Sequence[Mapping[str, Any]],
    signature: Signature | None,
    schema: Mapping[str, Any],
) -> list[Any]:
    checked = []
    for index, example in enumerate(examples):
        try:
            plain = to_plain(example)
            canonical.encode(plain)
            if signature is not None:
                coerce_fields(signature.fields, plain)
            else:
                validate(schema, plain)
        except SchemaProblemError as error:
            problem = error.problem.text(ENGLISH.problems)
            msg = f"input_examples[{index}] of {name} does not fit its signature: {problem}"
            raise ConfigurationError(msg) from None
        except EncodingError as error:
            msg = f"input_examples[{index}] of {name} is no JSON: {error}"
            raise ConfigurationError(msg) from None
        checked.append(plain)
    return checked
