"""What every provider promises, as tests to subclass: pure functions between two vocabularies.

What is asked is neutral and stands here; what is answered is of the dialect, so the subclass of
another dialect than OpenAI's chat overrides `answers` and `streams`. The corpus goes further:
`pytest corpus --synaptum-provider module:object`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from synaptum import canonical
from synaptum.errors import NetworkError, ProviderError
from synaptum.vocabulary import (
    Finish,
    FinishReason,
    Message,
    Request,
    Role,
    StreamStart,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    fold,
)
from synaptum.vocabulary.codec import to_json

__all__ = ["ProviderContract"]

_CALL = ToolCall("call_1", "read", {"path": "ñ.txt"}, arguments_text='{"path": "ñ.txt"}')
_TOOLS = (ToolDefinition("read", "Read a file.", {"type": "object", "properties": {}}),)
_TURNS = (
    Message.user("Read ñ.txt 你好 🙂"),
    Message(Role.ASSISTANT, (Text("Reading."), _CALL)),
    Message.tool_results(ToolResult.of("call_1", "text")),
    Message.assistant("It says text."),
    Message.user("Thanks"),
)
_REQUESTS = {
    "a question": Request("m", _TURNS[:1]),
    "a conversation with a tool": Request("m", _TURNS, system="Be exact.", tools=_TOOLS),
    "sampling": Request("m", _TURNS[:1], temperature=0.0, top_p=1.0, max_output_tokens=10),
}


class ProviderContract:
    """Subclass it, name the subclass `Test...`, and say how a provider is made."""

    def open_provider(self) -> Any:
        """A provider."""
        msg = f"{type(self).__name__} must say how its provider is made: open_provider()."
        raise TypeError(msg)

    def answers(self) -> Mapping[str, Mapping[str, Any]]:
        """Whole answers of the dialect: `text` says "Hello ñ", `call` calls `read` as `call_1`."""
        return {
            "text": _body({"role": "assistant", "content": "Hello ñ"}, "stop"),
            "call": _body(
                {"role": "assistant", "content": None, "tool_calls": [_wire_call()]}, "tool_calls"
            ),
        }

    def streams(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The same answers as streams of decoded chunks."""
        return {
            "text": [
                _chunk({"role": "assistant", "content": ""}),
                _chunk({"content": "Hello "}),
                _chunk({"content": "ñ"}),
                _chunk({}, "stop"),
            ],
            "call": [
                _chunk({"role": "assistant", "content": None}),
                _chunk({"tool_calls": [{"index": 0, **_wire_call("")}]}),
                _chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"path": '}}]}),
                _chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"ñ.txt"}'}}]}),
                _chunk({}, "tool_calls"),
            ],
        }

    def test_its_name_can_stand_before_a_model(self) -> None:
        """`name:model` must be readable."""
        name = self.open_provider().name

        assert name, "a provider has a name"
        assert ":" not in name, "a provider's name holds a colon, which ends it in 'name:model'"

    @pytest.mark.parametrize("case", _REQUESTS)
    def test_the_body_of_a_request_has_the_same_bytes_every_time(self, case: str) -> None:
        """In another object too: what a server caches, and what a journal replays, is bytes."""
        first, second = (_bytes(self.open_provider(), _REQUESTS[case]) for _ in range(2))

        assert first == second, "the same request became another body"

    @pytest.mark.parametrize("case", _REQUESTS)
    def test_a_request_is_not_changed_by_being_sent(self, case: str) -> None:
        """It is in the journal already."""
        before = canonical.encode(to_json(_REQUESTS[case]))

        self.open_provider().to_wire(_REQUESTS[case])

        assert canonical.encode(to_json(_REQUESTS[case])) == before

    def test_a_conversation_that_grows_keeps_the_bytes_it_had(self) -> None:
        """Or every turn pays for the whole history again."""
        provider, conversation = self.open_provider(), _REQUESTS["a conversation with a tool"]
        whole = _pieces(provider, conversation)

        for length in range(1, len(_TURNS)):
            shorter = Request("m", _TURNS[:length], system="Be exact.", tools=_TOOLS)
            pieces = _pieces(provider, shorter)
            assert whole[: len(pieces)] == pieces, (
                f"message {length - 1} changed as others followed"
            )

    @pytest.mark.parametrize("case", ["text", "call"])
    def test_an_answer_is_read_and_streamed_alike(self, case: str) -> None:
        """The stream folds to what the whole body says."""
        provider = self.open_provider()
        whole = provider.from_wire(self.answers()[case])
        events = list(provider.stream_from_wire(iter(self.streams()[case])))

        streamed = fold(iter(events))

        assert isinstance(events[0], StreamStart), "a stream begins with StreamStart"
        assert isinstance(events[-1], Finish), "a stream ends with Finish"
        assert streamed.message.text == whole.message.text
        assert [_plain(call) for call in streamed.tool_calls] == [
            _plain(call) for call in whole.tool_calls
        ]
        assert streamed.finish_reason is whole.finish_reason

    def test_text_and_calls_are_what_was_said(self) -> None:
        """Words and arguments arrive exact."""
        provider, answers = self.open_provider(), self.answers()

        text, call = provider.from_wire(answers["text"]), provider.from_wire(answers["call"])

        assert text.text == "Hello ñ"
        assert text.finish_reason is FinishReason.STOP
        assert [_plain(one) for one in call.tool_calls] == [("call_1", "read", {"path": "ñ.txt"})]
        assert call.finish_reason is FinishReason.TOOL_CALLS

    @pytest.mark.parametrize("case", ["text", "call"])
    def test_a_stream_is_read_lazily(self, case: str) -> None:
        """The first words show while the last are not said yet."""
        chunks = list(self.streams()[case])
        taken = []

        def slowly() -> Any:
            for chunk in chunks:
                taken.append(chunk)
                yield chunk

        next(iter(self.open_provider().stream_from_wire(slowly())))

        assert len(taken) < len(chunks), "the whole stream was read before the first event"

    @pytest.mark.parametrize("case", ["text", "call"])
    def test_a_stream_that_is_cut_is_no_answer(self, case: str) -> None:
        """Wherever it breaks off before its end."""
        chunks = self.streams()[case]
        for length in range(len(chunks)):
            with pytest.raises((NetworkError, ProviderError)):
                list(self.open_provider().stream_from_wire(iter(chunks[:length])))

    @pytest.mark.parametrize("body", [{}, {"error": {"message": "no"}}, {"unexpected": 1}])
    def test_a_body_that_is_no_answer_is_an_error(self, body: dict[str, Any]) -> None:
        """And never an empty answer."""
        with pytest.raises(ProviderError):
            self.open_provider().from_wire(body)


def _bytes(provider: Any, request: Request) -> bytes:
    return canonical.wire_bytes(provider.to_wire(request))


def _pieces(provider: Any, request: Request) -> list[str]:
    """The body as text, item by item of its longest list: the messages, in every dialect."""
    lists = [value for value in provider.to_wire(request).values() if isinstance(value, list)]
    return [json.dumps(item) for item in max(lists, key=_length_of_messages)]


def _length_of_messages(items: list[Any]) -> int:
    return sum(1 for item in items if isinstance(item, dict) and "role" in item)


def _plain(call: ToolCall) -> tuple[str, str, Any]:
    return call.id, call.name, dict(call.arguments)


def _wire_call(arguments: str = '{"path": "ñ.txt"}') -> dict[str, Any]:
    return {
        "id": "call_1",
        "type": "function",
        "function": {"name": "read", "arguments": arguments},
    }


def _body(message: dict[str, Any], finish: str) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"object": "chat.completion", "model": "m", "choices": [choice]}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": "m", "choices": [choice]}
