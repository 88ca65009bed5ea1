"""What a gateway hands back, checked before it is recorded.

Models, tools and gateways are other people's code. A value of theirs that is not what its type
says would be written down as it is, and the journal could never be read again; so it is
refused while only this answer is lost, and not the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from synaptum.errors import AbortError, ConfigurationError, EncodingError
from synaptum.tools.base import is_own_cancellation, unwritable
from synaptum.vocabulary import FinishReason, Response, ToolCall, ToolResult, Usage
from synaptum.vocabulary.codec import from_json, to_json
from synaptum.wording import Wording

__all__ = ["cancellation_told", "checked_response", "checked_result", "unusable_result"]


def checked_response(response: object) -> Response:
    """The answer of a model, once it is one.

    Raises:
        ConfigurationError: it is no `Response`, or holds what its types do not allow; names it.
    """
    if not isinstance(response, Response):
        msg = f"The model answered a {type(response).__name__}; it returns a Response."
        raise ConfigurationError(msg)
    # Words and mappings that would pass for these once they are JSON.
    for name, kind in (("finish_reason", FinishReason), ("usage", Usage)):
        value = getattr(response, name)
        if not isinstance(value, kind):
            msg = f"The {name} of the model's answer is {value!r}, which is no {kind.__name__}."
            raise ConfigurationError(msg)
    try:
        # Unknown fields may hold anything that JSON can; the store says if they do not.
        from_json(Response, to_json(replace(response, provider_metadata={})))
    except EncodingError as error:
        msg = f"The model's answer is no Response that can be read back. {error}"
        raise ConfigurationError(msg) from None
    return response


def checked_result(call: ToolCall, result: object, wording: Wording) -> ToolResult:
    """What a tool gave, as the result of `call`; an error result where it is none.

    The tool has run, so this raises nothing: the call must not stay open.
    """
    if not isinstance(result, ToolResult):
        return unusable_result(call, type(result).__name__, wording)
    result = replace(result, call_id=call.id)
    try:
        # `structured` is any JSON; the store says if it is none.
        from_json(ToolResult, to_json(replace(result, structured=None)))
    except EncodingError as error:
        return unusable_result(call, type(result).__name__, wording, unwritable(error, wording))
    return result


@contextmanager
def cancellation_told(what: str) -> Iterator[None]:
    """A block in which a gateway's own `CancelledError` becomes an `AbortError`.

    Passed on as it is, it would tell whoever runs the agent that they were cancelled, and a
    task group would take it for an end that was asked for. `what` names what was going on.
    """
    try:
        yield
    except asyncio.CancelledError as error:
        if not is_own_cancellation():
            raise
        msg = (
            f"{what} was cancelled by the gateway, and the run was not: look at what the gateway,"
            " its model or its policy waited for, then resume the run."
        )
        raise AbortError(msg) from error


def unusable_result(
    call: ToolCall, type_name: str, wording: Wording, detail: str = ""
) -> ToolResult:
    """What the model is told of a tool that ran, and whose value nobody can keep."""
    text = wording.tool_returned_unusable.format(name=call.name, type=type_name)
    return ToolResult.of(call.id, f"{text} {detail}".rstrip(), is_error=True)
