"""Vocabulary values become JSON and come back as they were."""

import dataclasses
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import messages, requests, responses, steps, usages

from synaptum.errors import EncodingError
from synaptum.vocabulary import (
    FinishReason,
    History,
    Image,
    Message,
    ModelStep,
    Phase,
    Request,
    Response,
    Role,
    Step,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    codec,
)


@given(st.one_of(messages, requests, responses, usages))
@settings(max_examples=100, deadline=None)
def test_a_value_comes_back_equal_and_with_the_same_text(value):
    text = codec.encode(value)
    back = codec.decode(type(value), text)

    assert back == value
    assert codec.encode(back) == text
    assert type(back) is type(value)


@given(steps("r", 3))
@settings(max_examples=100, deadline=None)
def test_a_step_comes_back_as_the_kind_of_step_it_was(step):
    back = codec.decode(Step, codec.encode(step))

    assert back == step
    assert type(back) is type(step)


@given(responses)
@settings(max_examples=50, deadline=None)
def test_metadata_comes_back_too_although_it_is_not_compared(response):
    back = codec.decode(Response, codec.encode(response))

    assert back.provider_metadata == response.provider_metadata


def test_the_text_is_tagged_by_kind_and_whole():
    assert codec.encode(Message.user("é")) == (
        '{"content":[{"kind":"text","text":"é"}],"role":"user"}'
    )
    assert codec.encode(Usage(1)) == (
        '{"cache_read":null,"cache_write":null,"estimated":false,"input":1,"output":null,'
        '"reasoning":null}'
    )


def test_an_argument_called_kind_stays_an_argument():
    call = ToolCall("a", "f", {"kind": "text", "text": "x", "call": {"kind": "tool_call"}})
    message = Message(Role.ASSISTANT, (call,))

    back = codec.decode(Message, codec.encode(message))

    assert back == message
    assert type(back.content[0].arguments["call"]) is dict


def test_numbers_in_arguments_keep_their_kind():
    call = ToolCall("a", "f", {"i": 1, "f": 1.0, "big": 2**64 + 1, "t": True})

    back = codec.decode(ToolCall, codec.encode(call))

    kinds = {name: type(value) for name, value in back.arguments.items()}
    assert kinds == {"i": int, "f": float, "big": int, "t": bool}
    assert back.arguments["big"] == 2**64 + 1


def test_a_history_comes_back_as_its_messages():
    request = Request("m", History([Message.user("a"), Message.assistant("b")]))

    assert codec.decode(Request, codec.encode(request)) == request


def test_a_missing_field_takes_its_default_for_old_journals_are_read():
    assert codec.from_json(Usage, {"input": 1}) == Usage(1)
    assert codec.from_json(Message, {"role": "user", "content": []}) == Message(Role.USER, ())


@pytest.mark.parametrize(
    ("expected", "value", "path", "says"),
    [
        (Message, {"role": "user", "content": [], "mood": 1}, "$", "newer version"),
        (Message, {"role": "king", "content": []}, "$.role", "king"),
        (Message, {"role": "user"}, "$", "content"),
        (Message, {"role": "user", "content": {}}, "$.content", "array"),
        (Message, {"role": "user", "content": [{"kind": "smell"}]}, "$.content[0]", "smell"),
        (Message, {"role": "user", "content": [{"text": "x"}]}, "$.content[0]", "None"),
        (
            Message,
            {"role": "user", "content": [{"kind": "text", "text": 1}]},
            "$.content[0].text",
            "str",
        ),
        (Text, {"kind": "image", "text": "x"}, "$", "image"),
        (Image, {"media_type": "image/png"}, "$", "exactly one"),
        (Usage, {"input": True}, "$.input", "int"),
        (Usage, {"input": 1.5}, "$.input", "int"),
        (Usage, {"estimated": 1}, "$.estimated", "bool"),
        (FinishReason, "tired", "$", "tired"),
        (Request, {"model": "m", "messages": [], "temperature": "hot"}, "$.temperature", "number"),
        (
            Request,
            {"model": "m", "messages": [], "tool_choice": {"mode": "x"}},
            "$.tool_choice",
            "x",
        ),
        (Message, [], "$", "object"),
    ],
)
def test_json_of_another_shape_is_refused_by_place(expected, value, path, says):
    with pytest.raises(EncodingError) as caught:
        codec.from_json(expected, value)

    assert f"At {path}:" in str(caught.value)
    assert says in str(caught.value)


def test_a_value_outside_the_vocabulary_is_refused():
    for value in (b"x", {1, 2}, object()):
        with pytest.raises(EncodingError, match=type(value).__name__):
            codec.encode(ToolResult("a", (), structured=value))


def test_arguments_nested_without_end_are_refused():
    deep = {}
    for _ in range(5_000):
        deep = {"a": deep}

    with pytest.raises(EncodingError, match="nested"):
        codec.encode(ToolCall("a", "f", deep))


def test_every_field_of_a_step_is_written():
    step = ModelStep(run_id="r", step_id="000000-model", step_seq=0, phase=Phase.ATTEMPTED, at="t")

    written = codec.to_json(step)

    assert list(written) == ["kind", *(field.name for field in dataclasses.fields(ModelStep))]
    assert written["kind"] == "model"


@dataclasses.dataclass(frozen=True)
class Mixed:
    value: int | str | None
    mode: Literal["a", "b"] = "a"


@pytest.mark.parametrize("value", [1, "x", None])
def test_a_union_of_plain_types_is_read_by_its_types(value):
    assert codec.from_json(Mixed, {"value": value}) == Mixed(value)


def test_a_value_of_no_member_of_a_union_is_refused():
    with pytest.raises(EncodingError, match=r"\$\.value"):
        codec.from_json(Mixed, {"value": []})
