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
            raise PluginError(str(error)) from None
    module, _, name = spec.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # it is somebody else's, and may raise anything
        told = error if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        msg = (
            f"--synaptum-provider {spec}: {module!r} cannot be imported ({told}); correct the name,"
            " or install what is missing."
        )
        raise PluginError(msg) from error
    for part in name.split("."):
        if not hasattr(found, part):
            msg = f"--synaptum-provider {spec}: {module!r} has no {name!r}; correct the name."
            raise PluginError(msg)
        found = getattr(found, part)
    if isinstance(found, type) or (callable(found) and not hasattr(found, "to_wire")):
        try:
            found = found()
        except Exception as error:  # it is somebody else's, and may raise anything
            msg = (
                f"--synaptum-provider {spec} cannot be made ({type(error).__name__}: {error}); name"
                " something that needs no arguments, such as a function that makes it."
            )
            raise PluginError(msg) from error
    return found


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
