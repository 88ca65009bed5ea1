"""The response parsing of the `openai` SDK as a provider: somebody else's adapter, as it is.

It reads a body with the SDK's own types and folds a stream with the SDK's own accumulator,
then takes from them what a user of the SDK would. Nothing is repaired on the way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from synaptum.errors import NetworkError, ProviderError
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary import (
    FinishReason,
    Message,
    Request,
    Response,
    Role,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    unfold,
)


class OpenAISdk:
    """Reads answers as the SDK does; requests are the reference adapter's."""

    name = "openai-sdk"

    def to_wire(self, request: Request) -> dict[str, Any]:
        return OpenAICompatible().to_wire(request)

    def from_wire(self, body: Mapping[str, Any]) -> Response:
        return _response(ChatCompletion.construct(**body))

    def stream_from_wire(self, chunks: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        state: Any = ChatCompletionStreamState()
        finished = False
        for chunk in chunks:
            if chunk.get("error"):
                msg = "The stream carries an error."
                raise ProviderError(msg)
            read = ChatCompletionChunk.construct(**chunk)
            finished |= any(choice.finish_reason for choice in read.choices)
            state.handle_chunk(read)
        if not finished:
            msg = "The stream ended without a finish."
            raise NetworkError(msg)
        yield from unfold(_response(state.current_completion_snapshot))


def _response(completion: Any) -> Response:
    if not getattr(completion, "choices", None):
        msg = "There are no choices."
        raise ProviderError(msg)
    choice = completion.choices[0]
    parts: list[Any] = []
    if choice.message.content is not None:
        parts.append(Text(choice.message.content))
    for call in choice.message.tool_calls or ():
        text = call.function.arguments
        parts.append(ToolCall(call.id, call.function.name, json.loads(text), arguments_text=text))
    usage = Usage()
    if completion.usage is not None:
        details = completion.usage.prompt_tokens_details
        thought = completion.usage.completion_tokens_details
        usage = Usage(
            input=completion.usage.prompt_tokens,
            output=completion.usage.completion_tokens,
            reasoning=thought.reasoning_tokens if thought else None,
            cache_read=details.cached_tokens if details else None,
        )
    return Response(
        Message(Role.ASSISTANT, tuple(parts)),
        FinishReason(choice.finish_reason),
        usage,
        completion.model,
    )
