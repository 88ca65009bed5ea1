"""Two values are told to be identical only where their JSON is, byte by byte."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import messages, requests, responses

from synaptum import canonical
from synaptum.vocabulary import Message, Role, ToolCall
from synaptum.vocabulary.codec import are_identical, decode, encode, to_json


def call(arguments):
    return Message(Role.ASSISTANT, (ToolCall("1", "read", arguments),))


@given(st.one_of(messages, requests, responses))
@settings(max_examples=100)
def test_a_value_that_comes_back_is_identical_or_of_other_containers(value):
    back = decode(type(value), encode(value))

    if are_identical(value, back):
        assert canonical.wire_text(to_json(value)) == canonical.wire_text(to_json(back))
    again = decode(type(value), encode(value))
    assert are_identical(back, again)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1, "b": None}),
        ([1], [1, 2]),
        ([1, 2], [2, 1]),
        ("1", 1),
        (None, False),
    ],
)
def test_what_only_looks_the_same_is_not(one, other):
    assert not are_identical(one, other)
    assert not are_identical(call({"x": one}), call({"x": other}))
    assert are_identical(call({"x": one}), call({"x": one}))
