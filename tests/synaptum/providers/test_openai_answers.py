"""What a whole body of the OpenAI-compatible dialect says."""

import json

import pytest

from synaptum.errors import ProviderError
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary import (
    FinishReason,
    Message,
    RedactedThinking,
    Request,
    Response,
    Role,
    Text,
    Thinking,
    ToolCall,
    Usage,
    codec,
)


def read(message=None, word="stop", **top):
    choice = {"index": 0, "finish_reason": word}
    if message is not None:
        choice["message"] = {"role": "assistant", **message}
    return OpenAICompatible().from_wire({"choices": [choice], **top})


def call(arguments, **item):
    function = {"name": "f", "arguments": arguments}
    return {"id": "c1", "type": "function", "function": function, **item}


def test_an_answer_of_text_is_its_text():
    response = read(
        {"content": "Hi"}, model="m", usage={"prompt_tokens": 1, "completion_tokens": 2}
    )

    assert response == Response(
        Message.assistant("Hi"), FinishReason.STOP, Usage(1, 2), "m", response.provider_metadata
    )


@pytest.mark.parametrize(
    ("message", "parts", "spelled"),
    [
        ({"content": None}, (), {"content": None}),
        ({}, (), {}),
        ({"content": ""}, (Text(""),), {"content": ""}),
        ({"content": []}, (), {}),
        ({"content": "", "refusal": "no"}, (), {"content": "", "refusal": "no"}),
        (
            {"content": "", "reasoning_content": "hm"},
            (Thinking("hm"),),
            {"content": "", "reasoning_field": "reasoning_content"},
        ),
    ],
)
def test_null_absent_and_empty_are_told_apart_and_their_spelling_is_kept(message, parts, spelled):
    response = read(message)

    assert response.message == Message(Role.ASSISTANT, parts)
    assert response.provider_metadata.get("message", {}) == spelled


def test_an_empty_string_beside_calls_is_filler():
    with_empty = read({"content": "", "tool_calls": [call("{}")]})
    with_null = read({"content": None, "tool_calls": [call("{}")]})

    assert with_empty.message.content == (ToolCall("c1", "f", {}, arguments_text="{}"),)
    assert with_empty == with_null
    assert with_empty.provider_metadata["message"]["content"] == ""
    assert with_null.provider_metadata["message"]["content"] is None


@pytest.mark.parametrize(
    "message",
    [{"content": None}, {"content": ""}, {"content": "x"}, {}],
    ids=["null", "empty", "text", "absent"],
)
def test_what_came_goes_back_as_one_valid_turn(message):
    response = read({**message, "tool_calls": [call('{"a": 1}')]})

    turn = OpenAICompatible().to_wire(Request("m", (response.message,)))["messages"][0]

    assert turn == {
        "role": "assistant",
        "content": message.get("content") or None,
        "tool_calls": [call('{"a": 1}')],
    }


def test_white_space_at_the_start_is_kept():
    assert read({"content": "\n\n Hi "}).text == "\n\n Hi "


def test_a_list_of_parts_is_joined_and_unknown_ones_are_kept():
    response = read(
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "2+2"}]},
                {"type": "text", "text": "4"},
                {"type": "mystery", "x": 1},
                {"type": "text", "text": "!"},
            ]
        }
    )

    assert response.message.content == (Thinking("2+2"), Text("4!"))
    assert response.provider_metadata["message"]["content"] == [{"type": "mystery", "x": 1}]


def test_an_object_in_place_of_the_text_is_its_json():
    response = read({"content": {"title": "Ñu", "n": 1}})

    assert response.text == '{"title":"Ñu","n":1}'
    assert response.provider_metadata["message"]["content"] == {"title": "Ñu", "n": 1}


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_read_under_both_names(name):
    response = read({"content": "4", name: "2+2"})

    assert response.message.content == (Thinking("2+2"), Text("4"))
    assert response.provider_metadata["message"]["reasoning_field"] == name


def test_reasoning_under_two_names_is_read_once():
    details = [{"type": "reasoning.text", "text": "2+2", "index": 0}]
    response = read(
        {
            "content": "4",
            "reasoning": "2+2",
            "reasoning_content": "2+2",
            "reasoning_details": details,
        }
    )

    assert response.message.content == (Thinking("2+2"), Text("4"))
    assert response.provider_metadata["message"]["reasoning_details"] == details


def test_another_text_under_the_second_name_is_kept():
    response = read({"reasoning_content": "long", "reasoning": "short", "content": "4"})

    assert response.message.content[0] == Thinking("long")
    assert response.provider_metadata["message"]["reasoning"] == "short"


def test_reasoning_details_give_text_signature_and_blobs():
    response = read(
        {
            "content": "4",
            "reasoning": None,
            "reasoning_details": [
                {"type": "reasoning.summary", "summary": "sum", "index": 0},
                {"type": "reasoning.text", "text": "med", "signature": "sig", "index": 1},
                {"type": "reasoning.encrypted", "data": "blob", "index": 2},
            ],
        }
    )

    assert response.message.content == (
        Thinking("summed", "sig"),
        RedactedThinking("blob"),
        Text("4"),
    )


def test_think_tags_are_text_unless_the_profile_says_so():
    assert read({"content": "<think>plan</think>ok"}).text == "<think>plan</think>ok"


@pytest.mark.parametrize(
    ("arguments", "decoded", "text"),
    [
        ('{"a": 1}', {"a": 1}, '{"a": 1}'),
        ("", {}, None),
        ("  ", {}, None),
        ("{}", {}, "{}"),
        (None, {}, None),
        ("null", {}, "null"),
        ({"a": 1}, {"a": 1}, '{"a":1}'),
        ('{"id": 9007199254740993}', {"id": 9007199254740993}, '{"id": 9007199254740993}'),
    ],
)
def test_arguments_are_decoded_and_their_text_is_kept(arguments, decoded, text):
    got = read({"tool_calls": [call(arguments)]}).tool_calls[0]

    assert got.arguments == decoded
    assert got.arguments_text == text
    assert got.unreadable_arguments is None


@pytest.mark.parametrize(
    "text",
    ['{"a": "Os', "[1,2]", "3", '"{}"', "not json", '{"a": NaN}', '{"a":1,"a":2}', "true"],
)
def test_arguments_that_are_no_object_are_kept_apart_as_unreadable(text):
    got = read({"tool_calls": [call(text)]}).tool_calls[0]

    assert got.arguments == {}
    assert got.unreadable_arguments == text
    assert got.arguments_text is None


def test_a_call_without_the_key_of_its_arguments_has_none():
    item = {"id": "c1", "type": "function", "function": {"name": "now"}}

    assert read({"tool_calls": [item]}).tool_calls == (ToolCall("c1", "now", {}),)


def test_index_and_type_of_a_call_do_not_matter():
    bare = {"id": "c1", "index": 7, "function": {"name": "f", "arguments": "{}"}}

    assert read({"tool_calls": [bare]}).tool_calls == read({"tool_calls": [call("{}")]}).tool_calls


def test_calls_of_one_id_and_number_in_a_body_are_still_two():
    first = {"id": "", "index": 0, "function": {"name": "f", "arguments": '{"q":1}'}}
    second = {"id": "", "index": 0, "function": {"name": "f", "arguments": '{"q":2}'}}

    calls = read({"tool_calls": [first, second]}).tool_calls

    assert [got.arguments for got in calls] == [{"q": 1}, {"q": 2}]
    assert calls[0].id.startswith("call_")
    assert calls[0].id != calls[1].id


def test_what_a_server_adds_to_a_call_is_kept_on_the_call():
    item = call("{}", extra_content={"google": {"thought_signature": "s"}})

    assert read({"tool_calls": [item]}).tool_calls[0].provider_metadata == {
        "extra_content": {"google": {"thought_signature": "s"}}
    }


def test_a_custom_tool_call_is_not_run_as_if_its_text_were_json():
    item = {"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    got = read({"tool_calls": [item]}).tool_calls[0]

    assert (got.name, got.unreadable_arguments) == ("sh", "ls -l")
    assert got.provider_metadata == {"custom": {"name": "sh", "input": "ls -l"}}


def test_the_deprecated_function_call_is_a_call_and_its_filler_is_none():
    legacy = read(
        {"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call"
    )
    filler = read({"content": "x", "function_call": {"name": "", "arguments": ""}})

    assert legacy.tool_calls[0].name == "f"
    assert legacy.finish_reason is FinishReason.TOOL_CALLS
    assert filler.tool_calls == ()


@pytest.mark.parametrize("none", [None, []])
def test_no_calls_may_be_spelled_null_or_empty(none):
    response = read({"content": "x", "tool_calls": none})

    assert response.tool_calls == ()
    assert response.provider_metadata["message"]["tool_calls"] == none


@pytest.mark.parametrize(
    ("word", "calls", "expected"),
    [
        ("stop", False, FinishReason.STOP),
        ("stop", True, FinishReason.TOOL_CALLS),
        ("tool_calls", True, FinishReason.TOOL_CALLS),
        ("tool_calls", False, FinishReason.STOP),
        ("function_call", True, FinishReason.TOOL_CALLS),
        ("length", False, FinishReason.LENGTH),
        ("length", True, FinishReason.LENGTH),
        ("content_filter", False, FinishReason.CONTENT_FILTER),
        ("error", False, FinishReason.ERROR),
        ("eos", False, FinishReason.STOP),
        ("eos", True, FinishReason.TOOL_CALLS),
        ("", False, FinishReason.STOP),
        (None, True, FinishReason.TOOL_CALLS),
        (7, False, FinishReason.STOP),
        (["stop"], False, FinishReason.STOP),
    ],
)
def test_the_finish_word_or_else_the_content_says_why_it_ended(word, calls, expected):
    response = read({"content": "x", "tool_calls": [call("{}")] if calls else None}, word)

    assert response.finish_reason is expected
    assert response.provider_metadata["choice"]["finish_reason"] == word


def test_an_absent_finish_word_is_told_from_null():
    response = OpenAICompatible().from_wire({"choices": [{"message": {"content": "x"}}]})

    assert response.finish_reason is FinishReason.STOP
    assert "choice" not in response.provider_metadata


def test_a_call_cut_before_its_arguments_is_unreadable_not_a_call_without_arguments():
    calls = [call('{"a":1}'), {**call(""), "id": "c2"}]
    whole, cut = read({"tool_calls": calls}, "length").tool_calls

    assert whole.arguments == {"a": 1}
    assert cut.unreadable_arguments == ""


def test_a_filtered_choice_without_a_message_is_an_answer_of_nothing():
    response = read(None, "content_filter")

    assert response.message.content == ()
    assert response.finish_reason is FinishReason.CONTENT_FILTER


def test_fields_without_a_name_of_ours_survive_where_the_server_had_them():
    response = OpenAICompatible().from_wire(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 3,
            "model": "m",
            "citations": ["a"],
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "x",
                        "annotations": [],
                        "audio": None,
                    },
                    "native_finish_reason": "STOP",
                    "logprobs": {"content": [{"token": "x"}]},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 1, "cost": 0.5},
        }
    )

    assert response.provider_metadata == {
        "id": "x",
        "created": 3,
        "citations": ["a"],
        "usage": {"prompt_tokens": 1, "cost": 0.5},
        "choice": {
            "native_finish_reason": "STOP",
            "logprobs": {"content": [{"token": "x"}]},
            "finish_reason": "stop",
        },
        "message": {"annotations": [], "audio": None},
    }
    assert response.model == "m"


def test_further_choices_are_kept_and_not_mixed_in():
    body = {
        "choices": [
            {"index": 0, "message": {"content": "one"}, "finish_reason": "stop"},
            {"index": 1, "message": {"content": "two"}, "finish_reason": "length"},
        ]
    }
    response = OpenAICompatible().from_wire(body)

    assert response.text == "one"
    other = response.provider_metadata["other_choices"][0]
    assert codec.from_json(Message, other["message"]) == Message.assistant("two")
    assert other["finish_reason"] == "length"


def test_a_cumulative_or_filler_delta_beside_a_message_is_ignored():
    body = {
        "choices": [
            {"delta": {"content": ""}, "message": {"content": "Hi"}, "finish_reason": "stop"}
        ]
    }

    assert OpenAICompatible().from_wire(body).text == "Hi"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"choices": [], "usage": {"prompt_tokens": 5}}, "no choices.*5 input tokens"),
        ({"choices": None}, "no choices"),
        ({}, "no choices"),
        ({"method": "POST"}, "no choices"),
        (
            {"error": {"message": "upstream died", "code": "server_error"}},
            "upstream died.*server_error",
        ),
        ({"error": "queue full"}, "queue full"),
        ({"object": "error", "message": "Invalid model", "code": "1500"}, "Invalid model"),
        ({"choices": [{"error": {"message": "cut upstream", "code": 502}}]}, "502: cut upstream"),
        ({"choices": [{"message": {"content": "x"}}], "error": {"message": "late"}}, "late"),
    ],
)
def test_a_good_status_does_not_make_an_answer_of_what_is_none(body, says):
    with pytest.raises(ProviderError, match=says) as caught:
        OpenAICompatible().from_wire(body)

    assert caught.value.provider == "openai-compatible"


def test_a_rate_limit_inside_a_good_status_is_one():
    body = {"error": {"message": "Provider returned error", "code": 429}}
    with pytest.raises(ProviderError) as caught:
        OpenAICompatible().from_wire(body)

    assert caught.value.status == 429
    assert caught.value.retryable


def test_an_answer_goes_through_the_journal_unchanged():
    response = read(
        {"content": "é\ud800", "tool_calls": [call('{"n": 1.0}')], "x": [1, None, {"y": 2**70}]},
        usage={"prompt_tokens": 1},
    )

    back = codec.decode(Response, codec.encode(response))

    assert back == response
    assert back.provider_metadata == response.provider_metadata
    assert json.loads(codec.encode(back)) == json.loads(codec.encode(response))


@pytest.mark.parametrize(
    "value",
    [
        "2+2",
        ["2+", "2"],
        {"text": "2+2"},
        [{"text": "2+"}, {"summary": "2"}, {"data": "x"}, 7],
        {"summary": "2+2"},
    ],
)
def test_reasoning_may_be_a_text_an_object_or_a_list(value):
    assert read({"content": "4", "reasoning": value}).message.content[0] == Thinking("2+2")


@pytest.mark.parametrize("value", [7, True, {}, [], [{"data": 1}]])
def test_reasoning_without_text_is_none_and_is_kept(value):
    response = read({"content": "4", "reasoning": value})

    assert response.message == Message.assistant("4")
    assert response.provider_metadata["message"]["reasoning"] == value


def test_content_parts_may_be_bare_texts():
    assert read({"content": ["a", {"type": "text", "text": ""}, "b"]}).text == "ab"
    assert read({"content": [{"type": "text", "text": ""}]}).message == Message.assistant("")


def test_a_message_that_is_no_object_is_an_answer_of_nothing():
    response = OpenAICompatible().from_wire(
        {"choices": [{"message": "hi", "finish_reason": "stop"}]}
    )

    assert response.message.content == ()


def test_arguments_with_numbers_beyond_json_do_not_break_the_reading():
    got = read({"tool_calls": [call({"a": float("inf")})]}).tool_calls[0]

    assert got.unreadable_arguments == "{'a': inf}"
