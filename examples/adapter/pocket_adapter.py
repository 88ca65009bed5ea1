"""An adapter of one's own: three functions between synaptum's values and chat completions.

It does what a small product needs (texts and tool calls, whole and streamed) and says so by
refusing the rest. `pytest` in this folder holds it to the recorded answers of real servers.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from synaptum import (
    Finish,
    FinishReason,
    Message,
    NetworkError,
    ProviderError,
    Request,
    Response,
    Role,
    StreamEvent,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolResult,
    UnsupportedRequestError,
    Usage,
)
from synaptum.canonical import loads, wire_text
from synaptum.errors import EncodingError


class PocketAdapter:
    """Texts and tool calls in OpenAI's chat completions; no pictures, no reasoning."""

    name = "pocket"

    # -- out ---------------------------------------------------------------------------------

    def to_wire(self, request: Request) -> dict[str, Any]:
        """The JSON body of a request."""
        body: dict[str, Any] = {"model": request.model, "messages": []}
        if request.system:
            body["messages"].append({"role": "system", "content": request.system})
        for message in request.messages:
            body["messages"] += _turns(message)
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    },
                }
                for tool in request.tools
            ]
        for field, value in (
            ("max_tokens", request.max_output_tokens),
            ("temperature", request.temperature),
            ("stop", list(request.stop) or None),
        ):
            if value is not None:
                body[field] = value
        return body

    # -- in ----------------------------------------------------------------------------------

    def from_wire(self, body: Mapping[str, Any]) -> Response:
        """The answer in a whole body."""
        _raise_error_in(body)
        choice = _choice_of(body)
        if choice is None:
            msg = "The answer has no choices."
            raise ProviderError(msg, provider=self.name)
        message = choice.get("message") or {}
        parts: list[Text | ToolCall] = []
        calls = message.get("tool_calls") or ()
        # llama.cpp says "" beside a call, whole, and null streamed: both are no text
        # (openai_chat/llama.cpp/tool-call found this).
        if message.get("content") or (message.get("content") == "" and not calls):
            parts.append(Text(message["content"]))
        for call in calls:
            function = call["function"]
            parts.append(_call(call.get("id") or "", function["name"], function["arguments"]))
        return _response(parts, choice.get("finish_reason"), body, body.get("usage"))

    def stream_from_wire(self, chunks: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        """The answer in chunks, each fragment as soon as it is there."""
        texts: list[str] = []
        text_at: int | None = None
        calls: dict[int, dict[str, Any]] = {}
        first: Mapping[str, Any] = {}
        usage, finish, blocks = None, None, 0
        for chunk in chunks:
            _raise_error_in(chunk)
            if not first:
                first = chunk
                yield StreamStart(chunk.get("model"))
            usage = chunk.get("usage") or usage
            choice = _choice_of(chunk)
            if choice is None:
                continue
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta") or {}
            if delta.get("content"):
                if text_at is None:
                    text_at, blocks = blocks, blocks + 1
                    yield TextStart(text_at)
                texts.append(delta["content"])
                yield TextDelta(text_at, delta["content"])
            for piece in delta.get("tool_calls") or ():
                function = piece.get("function") or {}
                known = calls.get(piece["index"])
                if known is None:
                    known = {"id": piece["id"], "name": function["name"], "text": "", "at": blocks}
                    calls[piece["index"]] = known
                    blocks += 1
                    yield ToolCallStart(known["at"], known["id"], known["name"])
                if function.get("arguments"):
                    known["text"] += function["arguments"]
                    yield ToolCallDelta(known["at"], function["arguments"])
        if finish is None:
            msg = "The stream ended before the answer was whole."
            raise NetworkError(msg)
        parts: list[tuple[int, Text | ToolCall]] = []
        if text_at is not None:
            yield TextEnd(text_at)
            parts.append((text_at, Text("".join(texts))))
        for known in calls.values():
            call = _call(known["id"], known["name"], known["text"])
            yield ToolCallEnd(known["at"], call)
            parts.append((known["at"], call))
        ordered = [part for _, part in sorted(parts, key=lambda part: part[0])]
        yield Finish(_response(ordered, finish, first, usage))


def _turns(message: Message) -> Iterator[dict[str, Any]]:
    """What one message becomes: a turn, or one turn for each result of a tool."""
    results = [part for part in message.content if isinstance(part, ToolResult)]
    for result in results:
        yield {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
    if results:
        return
    for part in message.content:
        if not isinstance(part, Text | ToolCall):
            msg = f"The pocket adapter has no shape for {part.kind}."
            raise UnsupportedRequestError(msg)
    has_text = any(isinstance(part, Text) for part in message.content)
    turn: dict[str, Any] = {"role": message.role.value}
    turn["content"] = message.text if has_text else None
    if message.tool_calls:
        turn["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments_text or wire_text(call.arguments),
                },
            }
            for call in message.tool_calls
        ]
    yield turn


def _raise_error_in(body: Mapping[str, Any]) -> None:
    error = body.get("error")
    if error:
        words = error.get("message") if isinstance(error, Mapping) else error
        msg = f"The server reports an error: {words}"
        raise ProviderError(msg)


def _choice_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next(iter(body.get("choices") or ()), None)


def _call(call_id: str, name: str, text: str) -> ToolCall:
    """A call; arguments that are no JSON object stay as they are, for the model to see."""
    try:
        arguments = loads(text)
    except EncodingError:
        arguments = None
    if not isinstance(arguments, dict):
        return ToolCall(call_id, name, {}, unreadable_arguments=text)
    return ToolCall(call_id, name, arguments, arguments_text=text)


_FINISH = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
}


def _response(
    parts: list[Text | ToolCall], finish: str | None, body: Mapping[str, Any], usage: Any
) -> Response:
    counted = usage or {}
    cached = (counted.get("prompt_tokens_details") or {}).get("cached_tokens")
    thought = (counted.get("completion_tokens_details") or {}).get("reasoning_tokens")
    return Response(
        message=Message(Role.ASSISTANT, tuple(parts)),
        finish_reason=_FINISH.get(finish or "", FinishReason.ERROR),
        usage=Usage(
            input=counted.get("prompt_tokens"),
            output=counted.get("completion_tokens"),
            reasoning=thought,
            cache_read=cached,
        ),
        model=body.get("model"),
    )
