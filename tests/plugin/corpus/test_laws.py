"""Each law is broken by an adapter made wrong on purpose, and by no other."""

from __future__ import annotations

import dataclasses
import json

import pytest

from pytest_synaptum.corpus.case import Ask
from pytest_synaptum.corpus.laws import LAWS, Situation, same_answer
from pytest_synaptum.corpus.reading import Reading, conclude, read_exchange
from pytest_synaptum.exchange import CLOSED, LOST, Exchange, RecordedRequest, RecordedResponse
from synaptum.errors import NetworkError
from synaptum.models.dialect import Dialect
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary import Finish, Message, Role, Text, TextDelta, TextStart, Thinking, Usage

REQUEST = RecordedRequest(method="POST", path="/v1/chat/completions")


def chunk(delta, finish=None, **more):
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "x", "model": "m", "choices": choices, **more}


def stream(*chunks, ending=None, done=True):
    events = [f"data: {json.dumps(one, ensure_ascii=False)}\n\n".encode() for one in chunks]
    if done:
        events.append(b"data: [DONE]\n\n")
    headers = (("content-type", "text/event-stream"),)
    response = RecordedResponse(status=200, headers=headers, chunks=tuple(events), ending=ending)
    return Exchange(request=REQUEST, response=response)


def whole(message, finish="stop", **more):
    choices = [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}]
    body = json.dumps({"id": "x", "model": "m", "choices": choices, **more}).encode()
    return Exchange(request=REQUEST, response=RecordedResponse(status=200, chunks=(body,)))


HELLO = stream(chunk({"role": "assistant", "content": "Grü"}), chunk({"content": "ße 😀"}, "stop"))


class Wrapped:
    """The reference adapter behind a seam for mistakes."""

    name = "wrong"

    def __init__(self, *, events=None, response=None, wire=None):
        self._inner = OpenAICompatible()
        self._events = events or (lambda given: given)
        self._response = response or (lambda given: given)
        self._wire = wire or (lambda body: body)

    def to_wire(self, request):
        return self._wire(self._inner.to_wire(request))

    def from_wire(self, body):
        return self._response(self._inner.from_wire(body))

    def stream_from_wire(self, chunks):
        return iter(self._events(list(self._inner.stream_from_wire(chunks))))


def broken(exchange, provider=None, ask=None):
    dialect = Dialect(provider or OpenAICompatible())
    situation = Situation(
        ask=ask or Ask(),
        exchange=exchange,
        dialect=dialect,
        reading=read_exchange(dialect, exchange),
        wire=None,
    )
    return {name: found for name, law in LAWS.items() if (found := list(law(situation)))}


def finish_with(given, **changes):
    end = given[-1]
    return [*given[:-1], Finish(dataclasses.replace(end.response, **changes))]


@pytest.mark.parametrize(
    "exchange",
    [
        HELLO,
        whole({"content": "Hi"}),
        whole({"content": ""}),
        whole({"content": None, "reasoning_content": "hm"}),
        stream(chunk({"content": "cut"}), done=False, ending=LOST),
        stream(chunk({"content": "cut"}), done=False, ending=CLOSED),
    ],
)
def test_the_reference_adapter_breaks_no_law(exchange):
    assert broken(exchange) == {}


def test_cut_finds_an_adapter_that_is_not_the_same_twice():
    times = iter("abcdefgh")

    def changing(given):
        text = next(times)
        message = Message.assistant(text)
        return [
            *given[:2],
            TextDelta(0, text),
            given[-2],
            *finish_with(given, message=message)[-1:],
        ]

    assert list(broken(HELLO, Wrapped(events=changing))) == ["cut"]


def test_events_finds_a_delta_outside_its_block():
    found = broken(
        HELLO, Wrapped(events=lambda given: [e for e in given if type(e) is not TextStart])
    )

    assert found["events"] == ["text_delta of block 0, which is not open as text"] * 2 + [
        "text_end of block 0, which is not open as text"
    ]


def test_events_finds_deltas_that_do_not_add_up():
    found = broken(
        HELLO, Wrapped(events=lambda given: finish_with(given, message=Message.assistant("Grüße")))
    )

    assert found["events"] == ['the text deltas say "Grüße 😀", the response "Grüße"']


def test_events_finds_a_finish_that_is_not_the_end():
    found = broken(HELLO, Wrapped(events=lambda given: [*given[:-2], given[-1], given[-2]]))

    assert "a whole stream ends with its one finish" in found["events"]


def test_timings_finds_input_without_what_came_from_the_cache():
    exchange = whole({"content": "Hi"}, timings={"prompt_n": 4, "cache_n": 30, "predicted_n": 2})

    def without_cache(response):
        return dataclasses.replace(response, usage=Usage(input=4, output=2))

    assert broken(exchange) == {}
    assert broken(exchange, Wrapped(response=without_cache)) == {
        "timings": ["timings say prompt_n 4 + cache_n 30, the response has 4 input tokens"]
    }


def test_round_trip_tells_no_text_from_an_empty_one():
    def silent(response):
        return dataclasses.replace(response, message=Message(Role.ASSISTANT, ()))

    def drops_empty(body):
        kept = [m for m in body["messages"] if m.get("content") != ""]
        return {**body, "messages": kept}

    empty = whole({"content": ""})

    assert broken(empty, Wrapped(wire=drops_empty)) == {
        "round-trip": ["sent back, the turn became 0 assistant turns"]
    }
    assert broken(empty, Wrapped(response=silent)) == {}  # nothing travels, nothing comes back


def test_round_trip_finds_arguments_that_changed_on_the_way():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}

    def rewritten(body):
        for message in body["messages"]:
            for one in message.get("tool_calls", ()):
                one["function"]["arguments"] = '{"n": 2}'
        return body

    exchange = whole({"content": None, "tool_calls": [call]}, "tool_calls")

    assert broken(exchange, Wrapped(wire=rewritten)) == {
        "round-trip": ["read again, the calls are not the same"]
    }


def test_the_wire_lint_judges_raw_bodies_and_knows_what_is_broken_on_purpose():
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": []}

    assert list(broken(HELLO, ask=Ask(body=body))) == ["wire-lint"]
    assert broken(HELLO, ask=Ask(body=body, lint=("empty-tools",))) == {}


def test_one_answer_in_two_forms_is_compared():
    dialect = Dialect(OpenAICompatible())
    one, other = (read_exchange(dialect, whole({"content": text})) for text in ("a", "b"))

    assert list(same_answer([one, one])) == []
    assert list(same_answer([one, other])) == ["ask 2 gives another response than the first"]
    assert list(same_answer([one, Reading()])) == ["ask 2 has no response to compare"]


def test_a_stream_that_the_caller_closed_has_events_and_neither_response_nor_error():
    reading = read_exchange(
        Dialect(OpenAICompatible()), stream(chunk({"content": "a"}), done=False, ending=CLOSED)
    )

    assert [event.kind for event in reading.events] == ["stream_start", "text_start", "text_delta"]
    assert (reading.response, reading.error) == (None, None)


def test_a_lost_connection_is_an_error_even_where_the_bytes_look_whole():
    exchange = stream(chunk({"content": "a"}, "stop"), done=False, ending=LOST)

    reading = read_exchange(Dialect(OpenAICompatible()), exchange)

    assert isinstance(reading.error, NetworkError)
    assert reading.response is None


def test_conclusions_join_deltas_and_leave_out_the_repeated_response():
    reading = read_exchange(Dialect(OpenAICompatible()), HELLO)

    entry = conclude(reading)

    assert entry["events"] == [
        {"kind": "stream_start", "model": "m"},
        {"kind": "text_start", "index": 0},
        {"kind": "text_delta", "index": 0, "text": "Grüße 😀"},
        {"kind": "text_end", "index": 0},
        {"kind": "finish"},
    ]
    assert entry["response"]["message"]["content"] == [{"kind": "text", "text": "Grüße 😀"}]


def test_the_reasoning_deltas_add_up_too():
    exchange = stream(chunk({"reasoning_content": "a"}), chunk({"content": "b"}), chunk({}, "stop"))

    def other_thoughts(given):
        message = Message(Role.ASSISTANT, (Thinking("z"), Text("b")))
        return finish_with(given, message=message)

    assert broken(exchange) == {}
    assert broken(exchange, Wrapped(events=other_thoughts))["events"] == [
        'the reasoning deltas say "a", the response "z"'
    ]


def call_stream(finish):
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a": 1}'}}
    return stream(chunk({"tool_calls": [call]}), chunk({}, finish))


def test_a_call_may_stay_open_only_where_the_answer_was_cut():
    def without_its_end(given):
        return [event for event in given if event.kind != "tool_call_end"]

    assert broken(call_stream("tool_calls")) == {}
    assert broken(call_stream("length")) == {}
    assert broken(call_stream("length"), Wrapped(events=without_its_end)) == {}
    assert broken(call_stream("tool_calls"), Wrapped(events=without_its_end))["events"] == [
        "blocks [0] never ended"
    ]


def test_events_finds_calls_that_the_response_does_not_have():
    def forgotten(given):
        return finish_with(given, message=Message(Role.ASSISTANT, ()))

    assert broken(call_stream("tool_calls"), Wrapped(events=forgotten))["events"] == [
        "the calls that ended in the stream are not those of the response"
    ]
