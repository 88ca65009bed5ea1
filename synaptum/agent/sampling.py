"""How the model is to sample: the part of a request that is neither prompt nor catalogue."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synaptum import canonical
from synaptum.errors import ConfigurationError, EncodingError
from synaptum.vocabulary import ToolChoice
from synaptum.vocabulary.codec import to_json

__all__ = ["Sampling"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Settings that travel in every request of a run; what is None is not sent.

    Attributes:
        temperature, top_p: how the model samples, in the server's own ranges.
        max_output_tokens: upper bound of generated tokens of one answer.
        stop: texts that end an answer.
        tool_choice: whether the model may, must or must not call tools.
        provider_options: body fields of the dialect that have no neutral name.

    Raises:
        ConfigurationError: a number that is none or not finite, no list of texts to stop at,
            or an option without a JSON form.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    stop: Sequence[str] = ()
    tool_choice: ToolChoice | None = None
    provider_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("temperature", "top_p"):
            _check_number(name, getattr(self, name))
        most: object = self.max_output_tokens
        if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
            msg = f"Sampling(max_output_tokens={most!r}): a whole number of at least 1 is needed."
            raise ConfigurationError(msg)
        if isinstance(self.stop, set | frozenset):
            msg = "Sampling.stop is a set, which has no order of its own; give a list or a tuple."
            raise ConfigurationError(msg)
        stop: tuple[object, ...] = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)
        if not all(isinstance(text, str) for text in stop):
            msg = f"Sampling(stop={self.stop!r}): give the texts that end an answer."
            raise ConfigurationError(msg)
        object.__setattr__(self, "stop", stop)
        try:
            canonical.encode(to_json(self.provider_options))
        except EncodingError as error:
            msg = f"Sampling(provider_options=...) is no JSON object: {error}"
            raise ConfigurationError(msg) from None


def _check_number(name: str, value: object) -> None:
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value):  # type: ignore[arg-type]
        msg = f"Sampling({name}={value!r}): a finite number is needed."
        raise ConfigurationError(msg)
