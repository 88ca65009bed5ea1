"""Token counts, from every place servers put them.

Counts are read, never computed: a total that is not the sum of its parts (xAI and Gemini
leave reasoning out of `completion_tokens`, Mistral leaves audio out of `prompt_tokens`;
seen in recorded exchanges) is left as it is. The same count under several names is one
count; where the names disagree the largest stands, for a default 0 in one must not hide
the number in another. What no field mentions is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from synaptum.vocabulary import Usage

__all__ = ["read_usage"]

_Path = tuple[str, ...]

_INPUT: Final[tuple[_Path, ...]] = (("prompt_tokens",), ("input_tokens",))
_OUTPUT: Final[tuple[_Path, ...]] = (("completion_tokens",), ("output_tokens",))
_REASONING: Final[tuple[_Path, ...]] = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("reasoning_tokens",),  # Copilot
)
_CACHE_READ: Final[tuple[_Path, ...]] = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("cached_tokens",),  # Together, the Hugging Face router
    ("prompt_cache_hit_tokens",),  # DeepSeek
    ("cache_read_input_tokens",),  # Databricks, Venice, Doubleword
    ("num_cached_tokens",),  # Mistral
)
_CACHE_WRITE: Final[tuple[_Path, ...]] = (
    ("prompt_tokens_details", "cache_write_tokens"),  # OpenRouter
    ("prompt_tokens_details", "cache_creation_tokens"),  # LiteLLM
    ("cache_creation_input_tokens",),  # Databricks, Vercel, Doubleword
)


def read_usage(usage: Any, timings: Any) -> Usage:
    """The counts in a `usage` object, completed from llama.cpp's `timings`.

    Without usage, llama.cpp's timings give the counts: input is `prompt_n` (evaluated now)
    plus `cache_n` (from cache), marked `estimated`. Beside a usage that does not mention
    the cache (older builds), `cache_n` is the server's own count of it.
    """
    timed = timings if isinstance(timings, Mapping) else {}
    cached = _count(timed.get("cache_n"))
    if not isinstance(usage, Mapping) or not usage:
        evaluated = _count(timed.get("prompt_n"))
        output = _count(timed.get("predicted_n"))
        if evaluated is None and output is None:
            return Usage()
        total = None if evaluated is None or cached is None else evaluated + cached
        return Usage(input=total, output=output, cache_read=cached, estimated=True)
    cache_read = _largest(usage, _CACHE_READ)
    return Usage(
        input=_first(usage, _INPUT),
        output=_first(usage, _OUTPUT),
        reasoning=_largest(usage, _REASONING),
        cache_read=cached if cache_read is None else cache_read,
        cache_write=_largest(usage, _CACHE_WRITE),
    )


def _at(usage: Mapping[str, Any], path: _Path) -> int | None:
    value: Any = usage
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return _count(value)


def _count(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def _first(usage: Mapping[str, Any], paths: tuple[_Path, ...]) -> int | None:
    for path in paths:
        count = _at(usage, path)
        if count is not None:
            return count
    return None


def _largest(usage: Mapping[str, Any], paths: tuple[_Path, ...]) -> int | None:
    counts = [count for count in (_at(usage, path) for path in paths) if count is not None]
    return max(counts, default=None)
