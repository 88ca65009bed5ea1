"""Adapters under test, by the names that `--synaptum-provider` takes."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any, Final, cast

import pytest

from pytest_synaptum.errors import PluginError
from synaptum.errors import ConfigurationError
from synaptum.models.dialect import Dialect
from synaptum.providers.base import Provider
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.providers.registry import provider_for

__all__ = ["REFERENCE", "check_adapters", "is_reference", "load_adapter"]

#: The adapter whose conclusions the goldens hold.
REFERENCE: Final = OpenAICompatible.name
#: Most names that a message lists of a module.
_SHOWN_NAMES: Final = 8
_FUNCTIONS: Final = ("to_wire", "from_wire", "stream_from_wire")


def is_reference(spec: str) -> bool:
    """Whether a name means the adapter that writes goldens."""
    return spec == REFERENCE


def load_adapter(spec: str, profile: str | None = None) -> Dialect:
    """The adapter of a name, or of `module:object` (a class, a factory or an instance).

    Args:
        spec: as `--synaptum-provider` was given it.
        profile: the case's profile, which only the reference adapter knows.

    Raises:
        PluginError: there is none, or it is no adapter; says what to correct.
    """
    if is_reference(spec):
        return Dialect(OpenAICompatible() if profile is None else OpenAICompatible(profile))
    return Dialect(_checked(_found(spec), spec))


def check_adapters(specs: Iterable[str]) -> None:
    """Refuse the run, before anything is collected, if one of these is no adapter.

    Raises:
        pytest.UsageError: says what cannot be imported, or what it lacks.
    """
    for spec in specs:
        try:
            load_adapter(spec)
        except PluginError as error:
            raise pytest.UsageError(str(error)) from error


def _found(spec: str) -> Any:
    if ":" not in spec:
        try:
            return provider_for(spec)
        except ConfigurationError as error:
            msg = f"--synaptum-provider {spec}: {error}{_dotted(spec)}"
            raise PluginError(msg) from None
        except Exception as error:  # an entry point of somebody else's
            msg = (
                f"--synaptum-provider {spec}: what is installed under this name cannot be loaded"
                f" ({_cause(error)}); correct it."
            )
            raise PluginError(msg) from error
    module, _, name = spec.partition(":")
    found = _imported(module, spec)
    for part in name.split("."):
        if not hasattr(found, part):
            msg = (
                f"--synaptum-provider {spec}: {module} has no {name}{_offers(found)}; correct the"
                " name."
            )
            raise PluginError(msg)
        found = getattr(found, part)
    if isinstance(found, type) or (callable(found) and not hasattr(found, "to_wire")):
        try:
            found = found()
        except Exception as error:  # it is somebody else's, and may raise anything
            msg = (
                f"--synaptum-provider {spec} cannot be made ({_cause(error)}); name something that"
                " needs no arguments, such as a function that makes it."
            )
            raise PluginError(msg) from error
    return found


def _imported(module: str, spec: str) -> Any:
    if module.endswith(".py") or not all(part.isidentifier() for part in module.split(".")):
        msg = (
            f"--synaptum-provider {spec}: {module!r} is no name of a module; write"
            " `module:object`, such as mypackage.adapter:MyAdapter."
        )
        raise PluginError(msg)
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:  # it is somebody else's, and may raise anything
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is None:
            does = "correct the module"
        elif missing == module or module.startswith(f"{missing}."):
            does = "correct the name, install it, or put its folder on pytest's pythonpath"
        else:
            does = f"install {missing}, or put its folder on pytest's pythonpath"
        told = str(error) if missing is not None else _cause(error)
        msg = f"--synaptum-provider {spec}: {module!r} cannot be imported ({told}); {does}."
        raise PluginError(msg) from error


def _cause(error: BaseException) -> str:
    """An error in one line, whatever it says."""
    first = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _offers(found: Any) -> str:
    """What a module (or a class) defines itself that could be meant."""
    home = getattr(found, "__name__", None)
    names = [
        name
        for name, value in vars(found).items()
        if not name.startswith("_")
        and (getattr(value, "__module__", None) == home or hasattr(value, "to_wire"))
    ]
    return f" (it has: {', '.join(names[:_SHOWN_NAMES])})" if names else ""


def _dotted(spec: str) -> str:
    """A hint for `module.Object`, which was meant to be `module:Object`."""
    module, dot, name = spec.rpartition(".")
    return f" Write a module and what is in it with a colon: {module}:{name}." if dot else ""


def _checked(found: Any, spec: str) -> Provider:
    missing = [name for name in _FUNCTIONS if not callable(getattr(found, name, None))]
    if missing or not isinstance(getattr(found, "name", None), str):
        what = ", ".join(missing) or "a name"
        msg = (
            f"--synaptum-provider {spec} is no adapter: it lacks {what}; an adapter has a name and"
            f" the functions {', '.join(_FUNCTIONS)}."
        )
        raise PluginError(msg)
    return cast("Provider", found)
