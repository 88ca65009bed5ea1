"""What an exchange shows, as flags: read off the raw bytes and off what is concluded from them.

Each flag has the question that decides. They stand in the order in which they tell one exchange
from another best: the first few name an imported case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_synaptum.corpus.facts import Facts
from pytest_synaptum.corpus.reading import Reading
from synaptum.errors import NetworkError
from synaptum.vocabulary import FinishReason, Text, Thinking

__all__ = ["name_of", "shows"]

_Question = Callable[[Facts, Reading], bool]
#: Flags in the name of a case; more would not be read.
_NAMED: Final = 4
_MAX_NAME: Final = 70
#: What every second exchange shows, and so tells none apart.
_DULL: Final = frozenset(
    {
        "extra-fields",
        "stream",
        "system-prompt",
        "tool-choice",
        "unicode",
        "usage-last-chunk",
        "usage-zero-cached",
    }
)
#: Flags that say what another one says already.
_IMPLIED: Final = {"tool-call-parallel": "tool-call", "text-and-call": "tool-call"}


def shows(facts: Facts, reading: Reading) -> tuple[str, ...]:
    """The flags of an exchange, those that tell most first; at least one.

    In: its raw side, and what the reference adapter makes of it.
    """
    found = tuple(flag for flag, asks in _QUESTIONS.items() if asks(facts, reading))
    return found or (("stream",) if facts.is_stream else ("extra-fields",))


def name_of(flags: tuple[str, ...], facts: Facts) -> str:
    """A folder's name after what a case shows, such as `tool-call-parallel-streamed`."""
    implied = {_IMPLIED.get(flag) for flag in flags}
    telling = [flag for flag in flags if flag not in _DULL and flag not in implied][:_NAMED]
    words = telling or [flag for flag in flags if flag != "stream"][:1] or ["answer"]
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word
        if len(longer) <= _MAX_NAME:
            name = longer
    if _refused(facts):
        return name.replace("error-status", f"error-{facts.status}")
    return f"{name}-streamed" if facts.is_stream else name


def _has_key(facts: Facts, key: str) -> bool:
    return any(key in message for message in facts.messages)


def _said(facts: Facts, key: str) -> list[Any]:
    return [message[key] for message in facts.messages if message.get(key)]


def _asked_turns(facts: Facts, role: str) -> list[Mapping[str, Any]]:
    turns = facts.request.get("messages")
    return [
        turn
        for turn in (turns if isinstance(turns, list) else ())
        if isinstance(turn, Mapping) and turn.get("role") == role
    ]


def _functions(facts: Facts) -> list[Mapping[str, Any]]:
    return [call["function"] for call in facts.calls if isinstance(call.get("function"), Mapping)]


def _is_reasoning(facts: Facts, reading: Reading) -> bool:
    response = reading.response
    return response is not None and any(
        isinstance(part, Thinking) for part in response.message.content
    )


def _reasoning_only(facts: Facts, reading: Reading) -> bool:
    response = reading.response
    return _is_reasoning(facts, reading) and all(
        isinstance(part, Thinking) for part in (response.message.content if response else ())
    )


def _finished(reading: Reading, reason: FinishReason) -> bool:
    return reading.response is not None and reading.response.finish_reason is reason


def _calls(reading: Reading) -> int:
    return 0 if reading.response is None else len(reading.response.tool_calls)


def _text(reading: Reading) -> str:
    return "" if reading.response is None else reading.response.text


def _says_empty(reading: Reading) -> bool:
    response = reading.response
    return response is not None and any(
        isinstance(part, Text) and part.text == "" for part in response.message.content
    )


def _finish_words(facts: Facts) -> list[Any]:
    return [choice["finish_reason"] for choice in facts.choices if choice.get("finish_reason")]


def _number(facts: Facts, group: str, name: str) -> list[Any]:
    return [group_of[name] for group_of in facts.details(group) if _in(group_of, name)]


def _in(value: Any, key: str) -> bool:
    return isinstance(value, Mapping) and key in value


def _cached(facts: Facts) -> list[Any]:
    return _number(facts, "prompt_tokens_details", "cached_tokens")


def _indexes(facts: Facts) -> list[Any]:
    return [call.get("index") for call in facts.calls]


def _call_ids(facts: Facts) -> set[Any]:
    return {call["id"] for call in facts.calls if isinstance(call.get("id"), str) and call["id"]}


def _whole_in_one_chunk(facts: Facts) -> bool:
    return facts.is_stream and bool(facts.calls) and len(facts.calls) == len(_call_ids(facts))


def _refused(facts: Facts) -> bool:
    return facts.status >= 400


def _in_stream(facts: Facts, key: str) -> list[Any]:
    return [value[key] for value in facts.values if key in value]


def _null_beside_call(facts: Facts) -> bool:
    return not facts.is_stream and any(
        message.get("tool_calls") and "content" in message and message["content"] is None
        for message in facts.messages
    )


def _filler_beside_call(facts: Facts) -> bool:
    return bool(facts.calls) and any(message.get("content") == "" for message in facts.messages)


def _runs_up(facts: Facts) -> bool:
    return facts.is_stream and len({str(usage) for usage in facts.usages}) > 1


def _has_comments(facts: Facts) -> bool:
    return facts.is_stream and (b"\n: " in facts.body or facts.body[:1] == b":")


_QUESTIONS: Final[Mapping[str, _Question]] = {
    "error-in-stream": lambda facts, reading: facts.is_stream and bool(_in_stream(facts, "error")),
    "error-in-200": lambda facts, reading: (
        not _refused(facts) and not facts.is_stream and reading.error is not None
    ),
    "error-no-json": lambda facts, reading: _refused(facts) and facts.is_broken,
    "error-status": lambda facts, reading: _refused(facts),
    "stream-lost": lambda facts, reading: (
        facts.is_stream and isinstance(reading.error, NetworkError)
    ),
    "audio-answer": lambda facts, reading: bool(_said(facts, "audio")),
    "refusal": lambda facts, reading: bool(_said(facts, "refusal")),
    "custom-tool-call": lambda facts, reading: any("custom" in call for call in facts.calls),
    "function-call-legacy": lambda facts, reading: bool(_said(facts, "function_call")),
    "content-filter": lambda facts, reading: _finished(reading, FinishReason.CONTENT_FILTER),
    "message-missing": lambda facts, reading: (
        not facts.is_stream and any("message" not in choice for choice in facts.choices)
    ),
    "content-parts-answer": lambda facts, reading: any(
        isinstance(m.get("content"), list) for m in facts.messages
    ),
    "content-object": lambda facts, reading: any(
        isinstance(m.get("content"), Mapping) for m in facts.messages
    ),
    "tool-call-parallel": lambda facts, reading: _calls(reading) > 1,
    "text-and-call": lambda facts, reading: _calls(reading) > 0 and _text(reading) != "",
    "tool-call": lambda facts, reading: _calls(reading) > 0,
    "arguments-object": lambda facts, reading: any(
        isinstance(function.get("arguments"), Mapping) for function in _functions(facts)
    ),
    "arguments-unreadable": lambda facts, reading: (
        reading.response is not None
        and any(call.unreadable_arguments is not None for call in reading.response.tool_calls)
    ),
    "call-index-zero": lambda facts, reading: _calls(reading) > 1 and set(_indexes(facts)) == {0},
    "call-index-missing": lambda facts, reading: facts.is_stream and None in _indexes(facts),
    "call-id-missing": lambda facts, reading: _calls(reading) > 0 and not _call_ids(facts),
    "call-whole-chunk": lambda facts, reading: _whole_in_one_chunk(facts),
    "call-fragments": lambda facts, reading: (
        facts.is_stream and len(facts.calls) > len(_call_ids(facts)) > 0
    ),
    "reasoning-only": _reasoning_only,
    "reasoning-details": lambda facts, reading: bool(_said(facts, "reasoning_details")),
    "reasoning": _is_reasoning,
    "think-tags": lambda facts, reading: "<think>" in _text(reading),
    "finish-length": lambda facts, reading: _finished(reading, FinishReason.LENGTH),
    "finish-stop-with-calls": lambda facts, reading: (
        _calls(reading) > 0 and "stop" in _finish_words(facts)
    ),
    "finish-repeated": lambda facts, reading: facts.is_stream and len(_finish_words(facts)) > 1,
    "choices-several": lambda facts, reading: any(choice.get("index") for choice in facts.choices),
    "content-absent": lambda facts, reading: (
        not facts.is_stream and bool(facts.messages) and not _has_key(facts, "content")
    ),
    "content-null": lambda facts, reading: _null_beside_call(facts),
    "content-filler": lambda facts, reading: _calls(reading) > 0 and _filler_beside_call(facts),
    "empty-text": lambda facts, reading: _says_empty(reading),
    "tool-calls-none": lambda facts, reading: any(
        "tool_calls" in message and not message["tool_calls"] for message in facts.messages
    ),
    "logprobs": lambda facts, reading: any(choice.get("logprobs") for choice in facts.choices),
    "message-beside-delta": lambda facts, reading: (
        facts.is_stream and any("message" in choice for choice in facts.choices)
    ),
    "first-chunk-empty": lambda facts, reading: (
        facts.is_stream and facts.first.get("choices") == []
    ),
    "id-differs": lambda facts, reading: facts.is_stream and len(set(_in_stream(facts, "id"))) > 1,
    "finish-key-missing": lambda facts, reading: (
        facts.is_stream and any("finish_reason" not in choice for choice in facts.choices)
    ),
    "sse-no-done": lambda facts, reading: (
        facts.is_stream and not facts.is_done and reading.response is not None
    ),
    "sse-comments": lambda facts, reading: _has_comments(facts),
    "sse-line-ends": lambda facts, reading: facts.is_stream and b"\r\n\r\n" in facts.body,
    "timings": lambda facts, reading: bool(_in_stream(facts, "timings")),
    "usage-missing": lambda facts, reading: reading.response is not None and not facts.usages,
    "usage-running": lambda facts, reading: _runs_up(facts),
    "usage-details-null": lambda facts, reading: None in facts.details("prompt_tokens_details"),
    "cached-tokens": lambda facts, reading: any(type(n) is int and n > 0 for n in _cached(facts)),
    "usage-zero-cached": lambda facts, reading: (
        bool(_cached(facts)) and set(map(str, _cached(facts))) == {"0"}
    ),
    "usage-last-chunk": lambda facts, reading: (
        facts.is_stream
        and any(value.get("choices") == [] and value.get("usage") for value in facts.values)
    ),
    "tool-result": lambda facts, reading: bool(_asked_turns(facts, "tool")),
    "json-schema": lambda facts, reading: _in(facts.request.get("response_format"), "json_schema"),
    "tool-choice": lambda facts, reading: facts.request.get("tool_choice") is not None,
    "system-prompt": lambda facts, reading: bool(_asked_turns(facts, "system")),
    "unicode": lambda facts, reading: not facts.body.isascii(),
    "text": lambda facts, reading: _text(reading) != "" and _calls(reading) == 0,
    "stream": lambda facts, reading: facts.is_stream,
}
