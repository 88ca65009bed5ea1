"""Tokens, counted in three states.

A counter is a number, 0 (measured, and it was zero) or None (nobody measured). Taking
None for 0 makes writing a cache look free, so adding propagates None: a sum of only the
known parts would be a lower bound that looks exact. Source: seed 001, "Usage tiene tres
estados".
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Usage"]


def _add(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, or of several added up.

    Attributes:
        input: prompt tokens, those read from cache included.
        output: generated tokens, reasoning included where the server counts it so.
        reasoning: generated tokens that were reasoning.
        cache_read: prompt tokens served from cache; part of `input`.
        cache_write: prompt tokens written to a cache.
        estimated: some count was derived, not reported.
    """

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    estimated: bool = False

    @classmethod
    def zero(cls) -> Usage:
        """Every counter measured and zero: where sums begin."""
        return cls(0, 0, 0, 0, 0)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _add(self.input, other.input),
            _add(self.output, other.output),
            _add(self.reasoning, other.reasoning),
            _add(self.cache_read, other.cache_read),
            _add(self.cache_write, other.cache_write),
            self.estimated or other.estimated,
        )

    @property
    def total(self) -> int | None:
        """Input plus output, or None where one of them is unknown."""
        return _add(self.input, self.output)

    @property
    def cache_hit_ratio(self) -> float | None:
        """Part of the input served from cache, 0.0 to 1.0; None where it was not measured.

        A server may count more tokens as cached than it counts as input (seen on Azure's
        Grok models); that is 1.0.
        """
        if self.input is None or self.cache_read is None or self.input == 0:
            return None
        return min(1.0, self.cache_read / self.input)
