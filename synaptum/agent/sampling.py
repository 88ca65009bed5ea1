"""How the model is to sample: the part of a request that is neither prompt nor catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synaptum.errors import ConfigurationError
from synaptum.vocabulary import ToolChoice

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
        ConfigurationError: `stop` is a set, which has another order in every process.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    stop: Sequence[str] = ()
    tool_choice: ToolChoice | None = None
    provider_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.stop, set | frozenset):
            msg = "Sampling.stop is a set, which has no order of its own; give a list or a tuple."
            raise ConfigurationError(msg)
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)
        object.__setattr__(self, "stop", stop)
