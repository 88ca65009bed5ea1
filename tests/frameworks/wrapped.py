"""Other people's adapters as providers of the corpus: their public clients on recorded bytes.

Requests are the reference adapter's, since the corpus asks here what comes of answers. The bytes
go through the framework's own client, over a transport that answers from memory; what a user of
the framework gets is then put in neutral words. Nothing is repaired on the way, and nothing that
the framework's public values do not have is read out of its insides.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import httpx

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
    Thinking,
    ToolCall,
    Usage,
    unfold,
)

WORDS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "tool_call": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
}


def answering(body: bytes, kind: str) -> httpx.MockTransport:
    """A transport whose every answer is `body`."""
    return httpx.MockTransport(
        lambda request: httpx.Response(200, headers={"content-type": kind}, content=body)
    )


def as_stream(chunks: Iterable[Mapping[str, Any]]) -> tuple[bytes, Exception | None]:
    """Chunks as the server had them; what broke them off comes second.

    Without `[DONE]`: where the server sent none, none may be put there, and nobody needs it.
    """
    events: list[str] = []
    broke: Exception | None = None
    try:
        events.extend(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks if chunk)
    except (NetworkError, ProviderError) as error:
        broke = error
    return "".join(events).encode(), broke


def call(id: str, name: str, arguments: Any) -> ToolCall:
    """A call as the framework gives it: with a text, or with an object whose text is lost."""
    if not isinstance(arguments, str):
        return ToolCall(id, name, arguments or {})
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return ToolCall(id, name, {}, arguments)
    return ToolCall(id, name, value, arguments_text=arguments)


def response(parts: Iterable[Any], finish: str | None, usage: Usage, model: str | None) -> Response:
    parts = tuple(parts)
    calls = any(isinstance(part, ToolCall) for part in parts)
    # A word that is missing, or that we have no name for, is no fault of the framework's.
    reason = WORDS.get(finish or "", FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
    return Response(Message(Role.ASSISTANT, parts), reason, usage, model or "")


class _Wrapped(ABC):
    name = ""

    def to_wire(self, request: Request) -> dict[str, Any]:
        return OpenAICompatible().to_wire(request)

    def from_wire(self, body: Mapping[str, Any]) -> Response:
        return self._whole(json.dumps(body).encode())

    def stream_from_wire(self, chunks: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        body, broke = as_stream(chunks)
        if broke is not None:
            raise broke
        yield from unfold(self._streamed(body))

    @abstractmethod
    def _whole(self, body: bytes) -> Response:
        """The answer in a whole body, as the package reads it."""

    @abstractmethod
    def _streamed(self, body: bytes) -> Response:
        """The answer in an event stream, as the package reads it."""


class LangChain(_Wrapped):
    """`ChatOpenAI` of langchain-openai."""

    name = "langchain-openai"

    def _model(self, body: bytes, kind: str, client: httpx.Client) -> Any:
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model="demo-1",
            api_key="none",
            base_url="http://127.0.0.1:9/v1",
            max_retries=0,
            stream_usage=True,
            http_client=client,
        )

    def _whole(self, body: bytes) -> Response:
        with httpx.Client(transport=answering(body, "application/json")) as client:
            return self._read(self._model(body, "", client).invoke("Hi."))

    def _streamed(self, body: bytes) -> Response:
        with httpx.Client(transport=answering(body, "text/event-stream")) as client:
            whole: Any = None
            for chunk in self._model(body, "", client).stream("Hi."):
                whole = chunk if whole is None else whole + chunk
        if whole is None:
            msg = "The framework gave no chunk."
            raise NetworkError(msg)
        return self._read(whole)

    def _read(self, message: Any) -> Response:
        parts: list[Any] = []
        thought = message.additional_kwargs.get("reasoning_content")
        if thought:
            parts.append(Thinking(thought))
        if message.content or not (message.tool_calls or message.invalid_tool_calls or thought):
            parts.append(Text(message.text if isinstance(message.text, str) else message.text()))
        parts += [call(one["id"], one["name"], one["args"]) for one in message.tool_calls]
        parts += [call(one["id"], one["name"], one["args"]) for one in message.invalid_tool_calls]
        used = message.usage_metadata or {}
        usage = Usage(
            input=used.get("input_tokens"),
            output=used.get("output_tokens"),
            cache_read=(used.get("input_token_details") or {}).get("cache_read"),
            reasoning=(used.get("output_token_details") or {}).get("reasoning"),
        )
        told = message.response_metadata
        return response(parts, told.get("finish_reason"), usage, told.get("model_name"))


class PydanticAI(_Wrapped):
    """`OpenAIChatModel` of pydantic-ai."""

    name = "pydantic-ai"

    def _whole(self, body: bytes) -> Response:
        return asyncio.run(self._ask(body, "application/json", streamed=False))

    def _streamed(self, body: bytes) -> Response:
        return asyncio.run(self._ask(body, "text/event-stream", streamed=True))

    async def _ask(self, body: bytes, kind: str, *, streamed: bool) -> Response:
        from openai import AsyncOpenAI
        from pydantic_ai.messages import ModelRequest, UserPromptPart
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        async with httpx.AsyncClient(transport=answering(body, kind)) as http:
            client = AsyncOpenAI(
                api_key="none", base_url="http://127.0.0.1:9/v1", max_retries=0, http_client=http
            )
            model = OpenAIChatModel("demo-1", provider=OpenAIProvider(openai_client=client))
            asked = [ModelRequest(parts=[UserPromptPart("Hi.")])]
            nothing = ModelRequestParameters()
            if not streamed:
                return self._read(await model.request(asked, None, nothing))
            async with model.request_stream(asked, None, nothing) as answer:
                async for _ in answer:
                    pass
                return self._read(answer.get())

    def _read(self, answer: Any) -> Response:
        parts: list[Any] = []
        for part in answer.parts:
            if part.part_kind == "text":
                parts.append(Text(part.content))
            elif part.part_kind == "thinking":
                parts.append(Thinking(part.content))
            elif part.part_kind == "tool-call":
                parts.append(call(part.tool_call_id, part.tool_name, part.args))
        used = answer.usage
        used = used() if callable(used) else used
        usage = Usage(
            # Its counters are 0 where nobody measured, so that unknown cannot be told apart.
            input=used.input_tokens,
            output=used.output_tokens,
            cache_read=used.cache_read_tokens,
            reasoning=used.details.get("reasoning_tokens"),
        )
        return response(parts, answer.finish_reason, usage, answer.model_name)
