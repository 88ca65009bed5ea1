"""What bounds a run, checked when it is written down and not when it is reached."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from synaptum.errors import ConfigurationError
from synaptum.tools.result_cap import MIN_TOOL_CHARS

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a run.

    Attributes:
        max_steps: steps of a run (model, tool, delegate and approval alike; the final one
            is not counted, nor are the calls of a script, which `code_tool` bounds). A run
            that needs one more raises `LimitExceeded`.
        max_retries: repetitions after a first try: two retries are three attempts. Counts
            for failed calls and, apart from those, for answers that do not fit `output=`.
        retry_base: seconds of the first wait; each further one is twice as long, before
            jitter.
        max_retry_wait: seconds; no wait is longer, whatever the other side asks for.
        max_tool_chars: characters of a tool's result that enter the context; None turns the
            cap off. The journal always holds the whole result.
        max_delegation_depth: how deep sub-agents may nest; 0 forbids them.
        invalid_calls: what arguments that do not fit a tool's signature do: `raise` ends the
            run (schema and function disagree), `to_model` tells the model.

    Raises:
        ConfigurationError: a value is out of its range; names it.
    """

    max_steps: int = 50
    max_retries: int = 2
    retry_base: float = 0.5
    max_retry_wait: float = 30.0
    max_tool_chars: int | None = 16_000
    max_delegation_depth: int = 3
    invalid_calls: Literal["raise", "to_model"] = "raise"

    def __post_init__(self) -> None:
        _whole("max_steps", self.max_steps, 1)
        _whole("max_retries", self.max_retries, 0)
        _whole("max_delegation_depth", self.max_delegation_depth, 0)
        if self.max_tool_chars is not None:
            _whole("max_tool_chars", self.max_tool_chars, MIN_TOOL_CHARS)
        _seconds("retry_base", self.retry_base)
        _seconds("max_retry_wait", self.max_retry_wait)
        if self.invalid_calls not in ("raise", "to_model"):
            msg = f"Limits(invalid_calls={self.invalid_calls!r}): use 'raise' or 'to_model'."
            raise ConfigurationError(msg)


def _whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        msg = f"Limits({name}={value!r}): a whole number of at least {least} is needed."
        raise ConfigurationError(msg)


def _seconds(name: str, value: object) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0:  # type: ignore[arg-type, operator]
        msg = f"Limits({name}={value!r}): seconds, finite and not negative, are needed."
        raise ConfigurationError(msg)
