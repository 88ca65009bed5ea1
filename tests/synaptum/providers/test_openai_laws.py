"""Laws of reading: a stream says what the body says, and nothing crashes the reader."""

import copy
import itertools
import json

from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import requests

from synaptum import canonical
from synaptum.errors import SynaptumError
from synaptum.providers.openai_compatible import PROFILES, OpenAICompatible
from synaptum.vocabulary import (
    Message,
    Request,
    Response,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    codec,
    fold,
)

texts = st.text(max_size=12)
words = st.text("abcdefgh_", min_size=1, max_size=8)
arguments = st.sampled_from(
    ["", "{}", '{"a": 1}', '{"b":"x}{","c":[1,{"d":null}]}', '{"cut": "o', "[1]"]
)
scalars = st.none() | st.booleans() | st.integers() | texts


@st.composite
def answers(draw):
    """A whole body whose words and fields stand in every combination."""
    message = {"role": "assistant"}
    content = draw(st.sampled_from(["absent", "null", "empty", "text"]))
    if content != "absent":
        message["content"] = {"null": None, "empty": ""}.get(content, draw(st.text(min_size=1)))
    reasoning = draw(st.sampled_from([None, "reasoning", "reasoning_content"]))
    if reasoning:
        message[reasoning] = draw(st.text(min_size=1, max_size=20))
    calls = draw(st.lists(st.tuples(words, arguments), max_size=3))
    if calls:
        message["tool_calls"] = [
            {
                "index": number,
                "id": f"call-{number}",
                "type": "function",
                "function": {"name": name, "arguments": text},
            }
            for number, (name, text) in enumerate(calls)
        ]
    word = draw(st.sampled_from(["stop", "length", "tool_calls", "content_filter", "eos"]))
    body = {
        "id": draw(words),
        "object": "chat.completion",
        "created": draw(st.integers(0, 2**40)),
        "model": draw(words),
        "choices": [{"index": 0, "message": message, "finish_reason": word}],
        draw(st.just("x_field") | words.map("x_{}".format)): draw(scalars),
    }
    if draw(st.booleans()):
        body["usage"] = {
            "prompt_tokens": draw(st.integers(0, 2**60)),
            "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": draw(st.none() | st.integers(0, 9))},
        }
    return body


def pieces(draw, text):
    """`text` in fragments, cut at random places."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    ends = [*cuts, len(text)]
    return [text[a:b] for a, b in zip([0, *cuts], ends, strict=True)]


@st.composite
def streams(draw):
    """A body, and a stream of the same answer cut and spelled at random."""
    body = draw(answers())
    message = body["choices"][0]["message"]
    deltas = [{"role": "assistant"}]
    if "content" in message and not message["content"]:
        deltas[0]["content"] = message["content"]
    for name in ("reasoning", "reasoning_content", "content"):
        if message.get(name):
            deltas.extend({name: piece} for piece in pieces(draw, message[name]))
    fragments = []
    for call in message.get("tool_calls", []):
        function = call["function"]
        rest = [
            {"index": call["index"], "function": {"arguments": p}}
            for p in pieces(draw, function["arguments"])
        ]
        fragments.append([{**call, "function": {"name": function["name"], "arguments": ""}}, *rest])
    # Calls begin in order; their fragments then come in any order of the calls.
    deltas.extend({"tool_calls": [one[0]]} for one in fragments)
    queues = [one[1:] for one in fragments]
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        deltas.append({"tool_calls": [queue.pop(0)]})
    top = {
        name: value for name, value in body.items() if name not in ("choices", "usage", "object")
    }
    top["object"] = "chat.completion.chunk"
    chunks = []
    for delta in deltas:
        if draw(st.booleans()) and "tool_calls" not in delta and "content" in message:
            delta.setdefault("tool_calls", [])
            if not message.get("tool_calls"):
                message.setdefault("tool_calls", [])
        choice = {"index": 0, "delta": delta}
        if draw(st.booleans()):
            choice["finish_reason"] = draw(st.sampled_from([None, ""]))
        chunks.append({**top, "choices": [choice]})
    last = {"index": 0, "delta": {}, "finish_reason": body["choices"][0]["finish_reason"]}
    chunks.append({**top, "choices": [last]})
    if "usage" in body:
        if draw(st.booleans()):
            chunks[-1]["usage"] = body["usage"]
        if draw(st.booleans()) or "usage" not in chunks[-1]:
            chunks.append({**top, "choices": [], "usage": body["usage"]})
    return body, chunks


@given(streams())
@settings(max_examples=60)
def test_a_stream_gives_the_response_of_the_whole_body(pair):
    body, chunks = pair
    whole = OpenAICompatible().from_wire(body)
    events = list(OpenAICompatible().stream_from_wire(chunks))

    assert events[-1].response == whole
    assert events[-1].response.provider_metadata == whole.provider_metadata
    assert "".join(e.text for e in events if e.kind == "text_delta") == whole.text
    assert codec.encode(whole) == codec.encode(events[-1].response)


@given(streams())
@settings(max_examples=60)
def test_a_stream_that_stops_early_never_looks_like_success(pair):
    _, chunks = pair
    finish = next(
        n
        for n, chunk in enumerate(chunks)
        if chunk["choices"] and chunk["choices"][0].get("finish_reason")
    )
    for length in range(finish + 1):
        events = []
        try:
            for event in OpenAICompatible().stream_from_wire(chunks[:length]):
                events.append(event)
        except SynaptumError as error:
            assert error.retryable
        else:
            raise AssertionError(f"{length} chunks of {len(chunks)} gave an answer")
        assert all(event.kind not in ("finish", "tool_call_end") for event in events)


@given(streams(), st.data())
@settings(max_examples=80)
def test_a_damaged_answer_raises_nothing_but_our_errors(pair, data):
    body, chunks = copy.deepcopy(pair)
    junk = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | texts
        | st.lists(texts, max_size=2)
        | st.dictionaries(texts, scalars, max_size=2)
    )

    def damage(value):
        for _ in range(data.draw(st.integers(1, 3))):
            node = value
            while isinstance(node, dict | list) and node:
                keys = list(node) if isinstance(node, dict) else list(range(len(node)))
                key = data.draw(st.sampled_from(keys))
                if not isinstance(node[key], dict | list) or data.draw(st.booleans()):
                    node[key] = data.draw(junk)
                    break
                node = node[key]

    damage(body)
    damage(chunks)
    for read in (
        lambda: OpenAICompatible().from_wire(body),
        lambda: fold(OpenAICompatible().stream_from_wire(chunks)),
    ):
        try:
            response = read()
        except SynaptumError:
            continue
        assert isinstance(response, Response)


@given(answers(), st.data())
@settings(max_examples=60)
def test_damaged_bytes_raise_nothing_but_our_errors(body, data):
    raw = bytearray(canonical.wire_bytes(body))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    provider = OpenAICompatible()
    try:
        response = provider.from_wire(provider.decode_body(bytes(raw)))
        assert codec.decode(Response, codec.encode(response)) == response
    except SynaptumError:
        pass
    assert isinstance(provider.error_from_wire(500, bytes(raw)), SynaptumError)


@given(requests, st.sampled_from(sorted(PROFILES)))
@settings(max_examples=60)
def test_a_request_has_one_body_or_a_named_refusal_also_after_the_journal(request, profile):
    provider = OpenAICompatible(profile)
    again = codec.decode(Request, codec.encode(request))
    try:
        body = canonical.wire_bytes(provider.to_wire(request))
    except SynaptumError as error:
        assert str(error)
        return
    # Schemas keep the order they were given, which the journal does not.
    if not request.tools and request.response_format is None:
        assert canonical.wire_bytes(provider.to_wire(again)) == body


own_arguments = st.dictionaries(words, scalars, max_size=2)
said_arguments = st.tuples(st.just({"a": 1}), st.none(), st.sampled_from(['{"a": 1}', '{ "a":1}']))
unread_arguments = st.tuples(st.just({}), st.sampled_from(["", "[1]", '{"a": "o']), st.none())


def call_of(number, name, arguments):
    decoded, unreadable, text = arguments
    return ToolCall(f"id:{number}", name, decoded, unreadable, arguments_text=text)


@st.composite
def conversations(draw):
    """Turns as a loop makes them: question, answer, the results of its calls, and so on."""
    turns = [Message.user(draw(texts))]
    for number in range(draw(st.integers(0, 4))):
        parts = draw(st.lists(st.builds(Thinking, texts) | st.builds(Text, texts), max_size=2))
        made = own_arguments.map(lambda value: (value, None, None))
        arguments = st.one_of(made, said_arguments, unread_arguments)
        calls = draw(st.lists(st.tuples(words, arguments), max_size=2))
        calls = [call_of(f"{number}.{n}", *one) for n, one in enumerate(calls)]
        turns.append(Message(Role.ASSISTANT, (*parts, *calls)))
        if calls:
            turns.append(
                Message.tool_results(*(ToolResult.of(one.id, draw(texts)) for one in calls))
            )
        else:
            turns.append(Message.user(draw(texts)))
    return turns


@given(conversations(), st.sampled_from(sorted(PROFILES)), st.none() | texts)
@settings(max_examples=100)
def test_no_body_holds_what_servers_are_known_to_refuse(turns, profile, system):
    provider = OpenAICompatible(profile)
    sent = provider.to_wire(Request("m", turns, system))["messages"]

    open_calls = []
    for turn in sent:
        assert "content" in turn
        if turn["role"] == "assistant":
            assert turn["content"] is not None or turn["tool_calls"]
            assert turn.get("tool_calls", [1]) != []
            open_calls = [call["id"] for call in turn.get("tool_calls", [])]
            for call in turn.get("tool_calls", []):
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
        elif turn["role"] == "tool":
            # Each result answers the next call of the turn before it.
            assert turn["tool_call_id"] == open_calls.pop(0)
            assert isinstance(turn["content"], str)
    if profile == "mistral":
        roles = [turn["role"] for turn in sent]
        assert ("user", "user") not in set(itertools.pairwise(roles))
    said = [part for turn in turns for part in turn.content if isinstance(part, ToolCall)]
    assert sum(len(turn.get("tool_calls", [])) for turn in sent) == len(said)


@given(conversations(), st.sampled_from(sorted(PROFILES)))
@settings(max_examples=100)
def test_a_longer_conversation_begins_with_the_shorter_one(turns, profile):
    provider = OpenAICompatible(profile)
    bodies = [
        provider.to_wire(Request("m", turns[:length]))["messages"]
        for length in range(1, len(turns) + 1)
    ]

    for shorter, longer in itertools.pairwise(bodies):
        if profile == "mistral" and longer[: len(shorter)] != shorter:
            # User turns in a row are one there, so the last one may have grown.
            assert longer[: len(shorter) - 1] == shorter[:-1]
            assert longer[len(shorter) - 1]["content"].startswith(shorter[-1]["content"])
        else:
            assert longer[: len(shorter)] == shorter


@given(conversations(), st.sampled_from(sorted(PROFILES)))
@settings(max_examples=50)
def test_a_conversation_read_back_from_a_journal_is_sent_as_before(turns, profile):
    provider = OpenAICompatible(profile)
    request = Request("m", turns, provider_options={"b": {"y": 1, "x": 2}, "a": 1})
    again = codec.decode(Request, codec.encode(request))

    assert canonical.wire_bytes(provider.to_wire(again)) == canonical.wire_bytes(
        provider.to_wire(request)
    )
