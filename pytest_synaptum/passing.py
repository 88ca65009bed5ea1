"""Answers about the moment, not about the question: "not now", inside a good status."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_synaptum.exchange import RecordedResponse
from synaptum.canonical import loads
from synaptum.errors import EncodingError, ProviderError
from synaptum.providers.openai_compatible.failures import error_in
from synaptum.transport.sse import SseParser, looks_like_sse

__all__ = ["passing_error"]


def passing_error(response: RecordedResponse) -> ProviderError | None:
    """The error in an answer of a good status that another attempt may mend, if there is one.

    Servers tell it in the body, in an event of a stream, or in a choice: by a status (429, 5xx)
    or by a word (`overloaded` ...).
    """
    if response.status >= 400 or b'"' not in response.body:
        return None
    for value in _values(response.body):
        if not isinstance(value, dict):
            continue
        choices = value.get("choices")
        listed = choices if isinstance(choices, list) else []
        inner = [one for one in listed if isinstance(one, dict)]
        for error in (error_in(value), *(error_in({"error": one.get("error")}) for one in inner)):
            if error is not None and error.retryable:
                return error
    return None


def _values(body: bytes) -> Iterator[Any]:
    """The JSON values of an answer: its own, or those of its events."""
    texts: list[str] | list[bytes] = [body]
    if looks_like_sse(body):
        texts = SseParser().feed(body + b"\n\n")  # the last event may have broken off
    for text in texts:
        try:
            value = loads(text)
        except EncodingError:
            continue
        yield from value if isinstance(value, list) else [value]
