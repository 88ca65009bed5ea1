"""Tool calls in fragments, in all the ways servers number and name them."""

import pytest

from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary import fold


def item(arguments=..., *, index=..., id=..., name=..., **extra):
    function = {}
    if name is not ...:
        function["name"] = name
    if arguments is not ...:
        function["arguments"] = arguments
    made = {"function": function, **extra}
    if index is not ...:
        made["index"] = index
    if id is not ...:
        made["id"] = id
    return made


def calls_of(*deltas, finish="tool_calls"):
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": items}}]} for items in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    response = fold(OpenAICompatible().stream_from_wire(chunks))
    assert all(call.unreadable_arguments is None for call in response.tool_calls)
    return [(call.id, call.name, call.arguments) for call in response.tool_calls]


def test_fragments_of_arguments_are_joined():
    assert calls_of(
        [item("", index=0, id="a", name="f")],
        [item('{"x', index=0)],
        [item('": "\\u00', index=0)],
        [item('e9"}', index=0)],
    ) == [("a", "f", {"x": "é"})]


def test_fragments_of_two_calls_may_interleave():
    assert calls_of(
        [item('{"x"', index=0, id="a", name="f")],
        [item('{"y"', index=1, id="b", name="g")],
        [item(":1}", index=0)],
        [item(":2}", index=1)],
    ) == [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


def test_several_calls_may_stand_in_one_chunk_without_index_or_id():
    assert [
        call[1:]
        for call in calls_of(
            [item('{"q":1}', name="f"), item('{"q":1}', name="f"), item("", name="g")]
        )
    ] == [("f", {"q": 1}), ("f", {"q": 1}), ("g", {})]


def test_calls_without_index_are_told_apart_by_id():
    assert calls_of(
        [item('{"city":', id="a", name="get_weather")],
        [item('"Paris"}')],
        [item('{"tz":"JST"}', id="b", name="get_time")],
    ) == [("a", "get_weather", {"city": "Paris"}), ("b", "get_time", {"tz": "JST"})]


def test_calls_without_index_may_interleave_by_id():
    assert calls_of(
        [item('{"x":', id="a", name="f")],
        [item('{"y":', id="b", name="g")],
        [item("1}", id="a")],
        [item("2}", id="b")],
    ) == [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


def test_indexed_and_unindexed_fragments_may_mix():
    assert calls_of(
        [item("{}", id="a", name="f")],
        [item("{}", index=0, id="b", name="g")],
    ) == [("a", "f", {}), ("b", "g", {})]


def test_an_index_that_comes_late_continues_the_call():
    assert calls_of([item('{"x":', id="a", name="f")], [item("1}", index=0)]) == [
        ("a", "f", {"x": 1})
    ]


def test_a_new_id_at_a_used_index_starts_another_call():
    assert calls_of(
        [item('{"q":"x"}', index=0, id="a", name="search")],
        [item('{"q":', index=0, id="b", name="search")],
        [item('"y"}', index=0)],
    ) == [("a", "search", {"q": "x"}), ("b", "search", {"q": "y"})]


def test_every_call_numbered_0_without_ids_is_told_apart_by_its_whole_arguments():
    made = calls_of(
        [item('{"q":"x"}', index=0, id="", name="search")],
        [item('{"q":"y"}', index=0, id="", name="search")],
        [item("{}", index=0, id="", name="now")],
    )

    assert [call[1:] for call in made] == [
        ("search", {"q": "x"}),
        ("search", {"q": "y"}),
        ("now", {}),
    ]
    assert len({call[0] for call in made}) == 3


def test_a_name_repeated_in_each_fragment_is_said_once():
    assert calls_of(
        [item('{"p":', index=0, id="a", name="read_file")],
        [item('"x"', index=0, name="read_file")],
        [item("}", index=0, name="read_file")],
    ) == [("a", "read_file", {"p": "x"})]


@pytest.mark.parametrize("later", [None, "", ...])
def test_a_name_may_be_null_empty_or_absent_later(later):
    assert calls_of([item("{", index=0, id="a", name="f")], [item("}", index=0, name=later)]) == [
        ("a", "f", {})
    ]


@pytest.mark.parametrize("arguments", ["", None, ...])
def test_a_name_may_be_split_before_the_arguments(arguments):
    assert calls_of(
        [item(arguments, index=0, id="a", name="get_")],
        [item(arguments, index=0, name="weather")],
        [item('{"x":1}', index=0)],
    ) == [("a", "get_weather", {"x": 1})]


@pytest.mark.parametrize("later", [None, "", ..., "a"])
def test_an_id_may_be_null_empty_absent_or_repeated_later(later):
    assert calls_of(
        [item("{", index=0, id="a", name="f", type="function")],
        [item("}", index=0, id=later, type="function")],
    ) == [("a", "f", {})]


def test_an_id_may_come_late():
    assert calls_of([item("{", index=0, id="", name="f")], [item("}", index=0, id="late")]) == [
        ("late", "f", {})
    ]
    assert calls_of([item("{", name="f")], [item("}", id="late")]) == [("late", "f", {})]


def test_a_name_may_come_after_the_id():
    assert calls_of([item(index=0, id="a")], [item(index=0, name="f")], [item("{}", index=0)]) == [
        ("a", "f", {})
    ]


@pytest.mark.parametrize("first", [None, "", ...])
def test_arguments_may_be_null_empty_or_absent_at_first_or_for_ever(first):
    assert calls_of([item(first, index=0, id="a", name="f")], [item('{"n":2}', index=0)]) == [
        ("a", "f", {"n": 2})
    ]
    assert calls_of([item(first, index=0, id="a", name="f")]) == [("a", "f", {})]


def test_arguments_may_be_an_object():
    assert calls_of([item({"a": 1}, index=0, id="a", name="f")]) == [("a", "f", {"a": 1})]


def test_a_fragment_may_come_after_the_finish():
    chunks = [
        {"choices": [{"delta": {"content": "x"}, "finish_reason": "tool_calls"}]},
        {
            "choices": [
                {
                    "delta": {"tool_calls": [item("{}", index=0, id="a", name="f")]},
                    "finish_reason": "tool_calls",
                }
            ]
        },
    ]

    assert fold(OpenAICompatible().stream_from_wire(chunks)).tool_calls[0].name == "f"


def test_extra_fields_of_a_call_are_put_together():
    chunks = [
        {
            "choices": [
                {
                    "delta": {
                        "tool_calls": [
                            item("{}", index=0, id="a", name="f", extra_content={"g": {"s": "x"}})
                        ]
                    }
                }
            ]
        },
        {
            "choices": [
                {
                    "delta": {"tool_calls": [item("", index=0, extra_content={"h": 1})]},
                    "finish_reason": "stop",
                }
            ]
        },
    ]

    call = fold(OpenAICompatible().stream_from_wire(chunks)).tool_calls[0]

    assert call.provider_metadata == {"extra_content": {"g": {"s": "x"}, "h": 1}}


def test_the_deprecated_function_call_comes_in_fragments():
    deltas = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": '{"a"'}},
        {"function_call": {"arguments": ":1}"}},
    ]
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "function_call"}]})

    call = fold(OpenAICompatible().stream_from_wire(chunks)).tool_calls[0]

    assert (call.name, call.arguments) == ("f", {"a": 1})


def test_without_index_and_id_a_name_may_be_split_too():
    assert [
        call[1:]
        for call in calls_of([item("", name="get_")], [item("", name="weather")], [item('{"x":1}')])
    ] == [("get_weather", {"x": 1})]


def test_without_index_and_id_another_whole_call_is_another_call():
    assert [
        call[1:]
        for call in calls_of(
            [item('{"q":1}', name="f")], [item('{"q":2}', name="f")], [item("{}", name="g")]
        )
    ] == [("f", {"q": 1}), ("f", {"q": 2}), ("g", {})]


def test_without_index_and_id_a_repeated_name_continues_an_open_call():
    assert [call[1:] for call in calls_of([item('{"q":', name="f")], [item("1}", name="f")])] == [
        ("f", {"q": 1})
    ]


def test_an_id_that_is_a_number_is_kept_as_its_text():
    assert calls_of([item("{}", index=0, id=7, name="f")]) == [("7", "f", {})]


def test_a_call_that_never_got_a_name_is_still_there_and_has_its_events():
    chunks = [
        {"choices": [{"delta": {"tool_calls": [item("{}", index=0, id="a")]}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]

    events = list(OpenAICompatible().stream_from_wire(chunks))

    assert [event.kind for event in events[1:-1]] == [
        "tool_call_start",
        "tool_call_delta",
        "tool_call_end",
    ]
    assert events[-1].response.tool_calls[0].name == ""


def test_an_item_of_nothing_is_no_call():
    assert calls_of([{}, {"index": 0, "function": None}]) == []


@pytest.mark.parametrize("as_written", [str, float])
def test_an_index_may_be_written_as_text_or_with_a_point(as_written):
    zero, one = as_written(0), as_written(1)

    assert calls_of(
        [item('{"x"', index=zero, id="a", name="f")],
        [item('{"y"', index=one, id="b", name="g")],
        [item(":1}", index=zero)],
        [item(":2}", index=one)],
    ) == [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]
