"""Recorded answers of some forty servers, judged against their raw JSON.

What is expected is read here from the raw bodies, by code that shares nothing with the
adapter. The recordings are other people's and no part of this project: without them the
module is skipped.
"""

from __future__ import annotations

import json

import pytest
from support.exchanges import exchange_files

from synaptum.errors import ProviderError
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.transport.sse import sse_data
from synaptum.vocabulary import Finish, FinishReason, Thinking, ToolCallEnd, codec

FILES = exchange_files()

WORDS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
}


@pytest.fixture(scope="module")
def exchanges():
    return {path.stem: json.loads(path.read_text("utf-8")) for path in FILES}


def raw_chunks(text):
    """The chunks of a stream, by the simplest reading that fits these recordings."""
    chunks = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.lstrip(" ").startswith("data:"):
            data = line.lstrip(" ")[5:].strip()
            if data == "[DONE]":
                break
            chunks.append(json.loads(data))
    return chunks


def part_text(value, key):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return "".join(part_text(item.get(key), key) for item in value)


def said(messages):
    """Text, reasoning and calls of the messages or deltas of one choice, independently."""
    text, thoughts, calls = "", {}, []
    for message in messages:
        content = message.get("content")
        if isinstance(content, dict):
            text += json.dumps(content, separators=(",", ":"), ensure_ascii=False)
        elif isinstance(content, list):
            for part in content:
                if part["type"] == "text":
                    text += part["text"]
                elif part["type"] == "thinking":
                    thought = "".join(item["text"] for item in part["thinking"])
                    thoughts["parts"] = thoughts.get("parts", "") + thought
        elif content:
            text += content
        for name in ("reasoning_content", "reasoning"):
            if message.get(name):
                thoughts[name] = thoughts.get(name, "") + message[name]
        for detail in message.get("reasoning_details") or []:
            thought = detail.get("text") or detail.get("summary") or ""
            thoughts["details"] = thoughts.get("details", "") + thought
        for item in message.get("tool_calls") or []:
            function = item.get("function") or {}
            known = next(
                (
                    call
                    for call in calls
                    if len(messages) > 1
                    and call["index"] == item.get("index")
                    and (not item.get("id") or item["id"] == call["id"])
                ),
                None,
            )
            if known is None:
                known = {"index": item.get("index"), "id": item.get("id"), "name": "", "text": ""}
                calls.append(known)
            if function.get("name") and not known["name"]:
                known["name"] = function["name"]
            known["text"] += function.get("arguments") or ""
        legacy = message.get("function_call")
        if legacy and (legacy.get("name") or legacy.get("arguments")):
            if not calls:
                calls.append({"index": None, "id": None, "name": "", "text": ""})
            calls[0]["name"] = calls[0]["name"] or legacy.get("name") or ""
            calls[0]["text"] += legacy.get("arguments") or ""
    for name in ("reasoning_content", "reasoning", "parts", "details"):
        if thoughts.get(name):
            return text, thoughts[name], calls
    return text, "", calls


def counts(usages):
    """The last word on each count, None where nobody said one."""
    found = {}
    for usage in usages:
        details = usage.get("prompt_tokens_details") or {}
        generated = usage.get("completion_tokens_details") or {}
        for name, value in (
            ("input", usage.get("prompt_tokens")),
            ("output", usage.get("completion_tokens")),
            ("reasoning", generated.get("reasoning_tokens", usage.get("reasoning_tokens"))),
            ("cache_read", details.get("cached_tokens")),
            ("cache_read", usage.get("cached_tokens")),
            ("cache_read", usage.get("prompt_cache_hit_tokens")),
        ):
            if value is not None:
                found[name] = value
    return found


def usage_in(chunk):
    return chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage")


def check(response, messages, words, usages, name):
    text, reasoning, calls = said(messages)
    assert response.text == text, name
    thoughts = "".join(p.text for p in response.message.content if isinstance(p, Thinking))
    assert thoughts == reasoning, name
    assert [call.name for call in response.tool_calls] == [call["name"] for call in calls], name
    cut = words and words[-1] == "length"
    for ours, theirs in zip(response.tool_calls, calls, strict=True):
        if theirs["id"]:
            assert ours.id == theirs["id"], name
        assert ours.id, name
        try:
            value = json.loads(theirs["text"] or "{}") or {}
        except ValueError:
            value = None
        if isinstance(value, dict) and not (cut and not theirs["text"]):
            assert ours.arguments == value, name
            assert ours.unreadable_arguments is None, name
        else:
            assert ours.unreadable_arguments == theirs["text"], name
            assert ours.arguments == {}, name
        if theirs["text"]:
            assert (ours.arguments_text or ours.unreadable_arguments) == theirs["text"], name
    word = next((word for word in reversed(words) if word), None)
    expected = WORDS.get(word, FinishReason.STOP)
    if expected in (FinishReason.STOP, FinishReason.TOOL_CALLS):
        expected = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    assert response.finish_reason is expected, name
    for field, value in counts(usages).items():
        assert getattr(response.usage, field) == value, (name, field)
    if not usages:
        assert response.usage.input is None, name


def test_whole_bodies_are_read_as_their_json_says(exchanges):
    seen = 0
    for name, exchange in exchanges.items():
        body = exchange.get("response_json")
        if exchange["status"] >= 400 or not isinstance(body, dict) or "choices" not in body:
            continue
        response = OpenAICompatible().from_wire(body)
        choice = body["choices"][0]
        usages = [body["usage"]] if body.get("usage") else []
        check(response, [choice.get("message") or {}], [choice.get("finish_reason")], usages, name)
        assert codec.decode(type(response), codec.encode(response)) == response, name
        seen += 1
    assert seen > 300


def test_streams_are_read_as_their_chunks_say(exchanges):
    seen = 0
    for name, exchange in exchanges.items():
        if "response_sse" not in exchange:
            continue
        chunks = raw_chunks(exchange["response_sse"])
        if any(chunk.get("error") for chunk in chunks):
            continue
        events = list(OpenAICompatible().stream_from_wire(chunks))
        assert isinstance(events[-1], Finish), name
        ours = [
            choice
            for chunk in chunks
            for choice in chunk.get("choices") or []
            if not choice.get("index")
        ]
        check(
            events[-1].response,
            [choice.get("delta") or {} for choice in ours] + [{}],
            [choice.get("finish_reason") for choice in ours],
            [usage for usage in map(usage_in, chunks) if usage],
            name,
        )
        texts = "".join(event.text for event in events if event.kind == "text_delta")
        assert texts == events[-1].response.text, name
        thoughts = "".join(event.text for event in events if event.kind == "reasoning_delta")
        parts = events[-1].response.message.content
        assert thoughts == "".join(p.text for p in parts if isinstance(p, Thinking)), name
        cut = sum(call.unreadable_arguments is not None for call in events[-1].response.tool_calls)
        started = [event.index for event in events[1:] if event.kind.endswith("_start")]
        ended = [event.index for event in events if event.kind.endswith("_end")]
        assert sorted(started) == list(range(len(started))), name
        assert len(ended) + cut == len(started), name
        ends = [event.call for event in events if isinstance(event, ToolCallEnd)]
        whole = [c for c in events[-1].response.tool_calls if c.unreadable_arguments is None]
        assert ends == whole, name
        seen += 1
    assert seen > 150


def test_a_broken_or_refused_stream_raises_what_the_server_said(exchanges):
    seen = 0
    for name, exchange in exchanges.items():
        if "response_sse" not in exchange:
            continue
        chunks = raw_chunks(exchange["response_sse"])
        errors = [chunk["error"] for chunk in chunks if chunk.get("error")]
        if errors:
            with pytest.raises(ProviderError, match=errors[0]["message"][:40]):
                list(OpenAICompatible().stream_from_wire(chunks))
            seen += 1
        assert "data:" in exchange["response_sse"], name
    assert seen == 2


@pytest.mark.parametrize("size", [61, 4096])
def test_where_the_bytes_are_cut_does_not_matter(exchanges, size):
    provider = OpenAICompatible()
    for name, exchange in exchanges.items():
        text = exchange.get("response_sse")
        # One recording was edited by hand and has a space before a field name.
        if text is None or "\n data:" in text or '"error":{' in text:
            continue
        raw = text.encode("utf-8")
        pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
        events = list(provider.stream_from_wire(map(provider.decode_event, sse_data(pieces))))
        whole = list(provider.stream_from_wire(raw_chunks(text)))
        assert events == whole, name
        assert codec.encode(events[-1].response) == codec.encode(whole[-1].response), name


def test_every_error_is_a_provider_error_that_says_what_the_server_said(exchanges):
    seen = 0
    for name, exchange in exchanges.items():
        if exchange["status"] < 400:
            continue
        body = exchange.get("response_json")
        raw = exchange.get("response_text", "").encode() if body is None else json.dumps(body)
        raw = raw if isinstance(raw, bytes) else raw.encode()
        error = OpenAICompatible().error_from_wire(exchange["status"], raw)
        assert isinstance(error, ProviderError), name
        assert error.status == exchange["status"], name
        assert error.retryable is (exchange["status"] == 429 or exchange["status"] >= 500), name
        assert str(exchange["status"]) in str(error), name
        if isinstance(body, dict):
            told = body.get("error", body)
            if isinstance(told, dict):
                told = told.get("message") or told.get("detail")
            first_words = " ".join(told.split()[:4])
            assert first_words in str(error), (name, str(error))
        seen += 1
    assert seen > 40


def test_what_is_no_completion_is_an_error_although_the_status_was_good(exchanges):
    provider = OpenAICompatible()
    seen = 0
    for name, exchange in exchanges.items():
        if exchange["status"] >= 400 or "response_sse" in exchange:
            continue
        body = exchange.get("response_json")
        if isinstance(body, dict) and "choices" in body:
            continue
        raw = exchange["response_text"] if body is None else json.dumps(body)
        with pytest.raises(ProviderError):
            provider.from_wire(provider.decode_body(raw.encode()))
        seen += 1
        assert name
    assert seen == 3
