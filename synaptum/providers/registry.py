"""Which adapters are installed, found by the entry-point group `synaptum.providers`.

The prefix of `"openai-compatible:qwen3-8b"` names who normalises the answer; it is ours and
never travels. The core knows no adapter by name.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final

from synaptum.errors import ConfigurationError
from synaptum.providers.base import Provider

__all__ = ["GROUP", "installed", "provider_for", "resolve", "split_model"]

#: The entry-point group. An entry's object, called without arguments, gives a `Provider`.
GROUP: Final = "synaptum.providers"


def installed() -> tuple[str, ...]:
    """The prefixes of all installed providers, sorted."""
    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


def split_model(model: str) -> tuple[str, str]:
    """Prefix and name: `"openai-compatible:qwen3:8b"` gives `("openai-compatible", "qwen3:8b")`.

    Raises:
        ConfigurationError: there is no prefix, or nothing behind it.
    """
    prefix, colon, name = model.partition(":")
    if not colon or not prefix or not name:
        msg = (
            f"The model {model!r} does not say who normalises its answers: write"
            f" 'prefix:model', with one of {_listed()} as prefix."
        )
        raise ConfigurationError(msg)
    return prefix, name


def provider_for(prefix: str) -> Provider:
    """A new provider of that prefix.

    Raises:
        ConfigurationError: none is installed under it (the message lists those that are),
            or it cannot be loaded.
    """
    for entry in entry_points(group=GROUP):
        if entry.name == prefix:
            try:
                provider: Provider = entry.load()()
            except (ImportError, AttributeError, TypeError) as error:
                msg = f"The provider {prefix!r} ({entry.value}) cannot be loaded: {error}."
                raise ConfigurationError(msg) from error
            return provider
    msg = f"No provider is installed for the prefix {prefix!r}; installed: {_listed()}."
    raise ConfigurationError(msg)


def resolve(model: str) -> tuple[Provider, str]:
    """The provider of `"prefix:model"` and the model's name as it travels."""
    prefix, name = split_model(model)
    return provider_for(prefix), name


def _listed() -> str:
    return ", ".join(installed()) or "none"
