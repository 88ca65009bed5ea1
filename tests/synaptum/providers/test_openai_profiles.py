"""What differs between servers of the dialect is a profile, and only that."""

import dataclasses
import re

import pytest

from synaptum.errors import ConfigurationError, UnsupportedRequestError
from synaptum.providers.openai_compatible import (
    DEEPSEEK,
    DEFAULT,
    GEMINI,
    LLAMA_CPP,
    MISTRAL,
    OLLAMA,
    OPENAI,
    PROFILES,
    OpenAICompatible,
    Profile,
)
from synaptum.vocabulary import (
    Image,
    Message,
    Request,
    ResponseFormat,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolResult,
)

CALL_TURN = Message(Role.ASSISTANT, (ToolCall("c1", "route", {"n": 1}),))


def body(profile, *messages, **fields):
    return OpenAICompatible(profile).to_wire(Request("m", messages, **fields))


def test_a_profile_is_named_by_itself_or_by_its_name():
    assert OpenAICompatible(profile="mistral") == OpenAICompatible(profile=MISTRAL)
    assert OpenAICompatible() == OpenAICompatible(profile=DEFAULT)
    assert OpenAICompatible() != OpenAICompatible(profile=OPENAI)
    assert hash(OpenAICompatible("openai")) == hash(OpenAICompatible(OPENAI))
    assert repr(OpenAICompatible(OLLAMA)) == "OpenAICompatible(profile='ollama')"


def test_an_unknown_profile_lists_those_there_are():
    with pytest.raises(ConfigurationError, match=r"'nope'.*deepseek.*llama\.cpp.*openai"):
        OpenAICompatible("nope")


def test_every_profile_is_named_and_dated():
    for name, profile in PROFILES.items():
        assert profile.name == name
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", profile.read_on)


def test_two_profiles_have_two_configurations():
    configurations = [repr(OpenAICompatible(one).configuration) for one in PROFILES.values()]

    assert len(set(configurations)) == len(PROFILES)
    assert OpenAICompatible().configuration["provider"] == "openai-compatible"


def test_a_profile_read_again_or_with_more_to_say_keeps_its_runs_going():
    read_again = dataclasses.replace(PROFILES["openai"], read_on="2031-01-01")

    assert OpenAICompatible(read_again).configuration == OpenAICompatible("openai").configuration, (
        "the day is no part of a run"
    )
    assert OpenAICompatible().configuration["profile"] == {"name": "default"}, (
        "what has its default is not written down, so a new field is none in old journals"
    )


def test_a_pattern_that_is_no_regular_expression_is_refused():
    with pytest.raises(ConfigurationError, match="tool_name_pattern"):
        Profile(name="mine", read_on="2026-11-30", tool_name_pattern="(")


def test_the_content_of_a_call_turn_is_null_or_empty_and_always_there():
    assert body(DEFAULT, CALL_TURN)["messages"][0]["content"] is None
    assert body(OLLAMA, CALL_TURN)["messages"][0]["content"] == ""


def test_an_empty_turn_is_left_out_where_the_server_refuses_it():
    turns = (Message.user("hi"), Message.assistant(""))

    assert body(DEFAULT, *turns)["messages"][1] == {"role": "assistant", "content": ""}
    assert len(body(MISTRAL, *turns)["messages"]) == 1


def test_reasoning_goes_back_only_where_it_is_wanted_and_the_turn_travels_anyway():
    calling = Message(Role.ASSISTANT, (Thinking("need the date first"), ToolCall("c", "now", {})))
    thinking = Message(Role.ASSISTANT, (Thinking("hm"),))

    turn = body(DEEPSEEK, calling)["messages"][0]
    assert turn["reasoning_content"] == "need the date first"
    assert len(body(DEEPSEEK, Message.user("hi"), thinking)["messages"]) == 1
    assert "reasoning_content" not in body(DEFAULT, calling)["messages"][0]


def test_the_bound_of_tokens_has_the_name_the_server_knows():
    hi = Message.user("hi")

    assert body(OPENAI, hi, max_output_tokens=7)["max_completion_tokens"] == 7
    assert body(DEFAULT, hi, max_output_tokens=7)["max_tokens"] == 7


def test_the_system_prompt_has_the_role_the_server_wants():
    assert body(OPENAI, Message.user("hi"), system="s")["messages"][0]["role"] == "developer"
    assert body(DEFAULT, Message.user("hi"), system="s")["messages"][0]["role"] == "system"


def test_where_only_one_system_message_may_lead_developer_turns_join_it():
    turns = (Message.developer("Today is Monday."), Message.user("hi"))

    assert body(LLAMA_CPP, *turns, system="You are terse.")["messages"] == [
        {"role": "system", "content": "You are terse.\n\nToday is Monday."},
        {"role": "user", "content": "hi"},
    ]
    assert body(LLAMA_CPP, *turns)["messages"][0] == {
        "role": "system",
        "content": "Today is Monday.",
    }
    with pytest.raises(UnsupportedRequestError, match=r"messages\[2\]"):
        body(LLAMA_CPP, Message.developer("a"), Message.user("hi"), Message.developer("late"))


def test_a_stream_asks_for_usage_only_where_that_is_a_field():
    request = Request("m", (Message.user("hi"),))

    assert "stream_options" not in OpenAICompatible(MISTRAL).to_wire_stream(request)
    assert OpenAICompatible(MISTRAL).to_wire_stream(request)["stream"] is True


def test_ids_of_another_server_are_rewritten_the_same_in_call_and_result():
    sent = body(
        MISTRAL,
        Message(
            Role.ASSISTANT,
            (ToolCall("functions.read:0", "f", {}), ToolCall("abcDEF123", "f", {})),
        ),
        Message.tool_results(
            ToolResult.of("functions.read:0", "1"), ToolResult.of("abcDEF123", "2")
        ),
    )["messages"]

    first, second = (call["id"] for call in sent[0]["tool_calls"])
    assert re.fullmatch("[a-zA-Z0-9]{9}", first)
    assert second == "abcDEF123"
    assert [sent[1]["tool_call_id"], sent[2]["tool_call_id"]] == [first, second]


def test_a_rewritten_id_never_meets_one_that_stands():
    first = body(MISTRAL, Message(Role.ASSISTANT, (ToolCall("x:0", "f", {}),)))
    taken = first["messages"][0]["tool_calls"][0]["id"]
    calls = (ToolCall(taken, "f", {}), ToolCall("x:0", "f", {}))

    ids = [
        call["id"]
        for call in body(MISTRAL, Message(Role.ASSISTANT, calls))["messages"][0]["tool_calls"]
    ]

    assert ids[0] == taken
    assert len(set(ids)) == 2


def test_user_turns_in_a_row_become_one_where_templates_want_turns_to_alternate():
    image = Message(Role.USER, (Image("image/png", url="https://example.org/a.png"),))

    assert body(MISTRAL, Message.user("a"), Message.user("b"))["messages"] == [
        {"role": "user", "content": "a\n\nb"}
    ]
    assert body(MISTRAL, Message.user("a"), image)["messages"][0]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ]
    assert len(body(DEFAULT, Message.user("a"), Message.user("b"))["messages"]) == 2


def test_media_that_the_server_does_not_take_are_refused_by_name():
    image = Message(Role.USER, (Text("?"), Image("image/png", data=b"1")))

    with pytest.raises(UnsupportedRequestError, match="image"):
        body(DEEPSEEK, image)


def test_a_profile_cannot_invent_a_shape():
    profile = dataclasses.replace(DEFAULT, name="mine", media=frozenset({"tool_call"}))

    with pytest.raises(UnsupportedRequestError, match="tool_call"):
        body(profile, Message(Role.USER, (ToolCall("a", "f", {}),)))


def test_results_with_media_travel_where_the_server_takes_them():
    profile = dataclasses.replace(DEFAULT, name="mine", tool_result_media=True)
    result = ToolResult("a", (Image("image/png", url="https://example.org/a.png"),))

    assert body(profile, Message.tool_results(result))["messages"][0]["content"] == [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    ]


def test_a_schema_is_an_object_where_the_server_knows_no_schema():
    wanted = ResponseFormat("json_schema", {"type": "object"})

    sent = body(DEEPSEEK, Message.user("hi"), response_format=wanted)

    assert sent["response_format"] == {"type": "json_object"}


def test_a_named_tool_is_refused_where_the_server_would_not_heed_the_name():
    def choose(*names):
        tools = tuple(ToolDefinition(name, "", {"type": "object"}) for name in names)
        choice = ToolChoice("named", "f")
        return body(LLAMA_CPP, Message.user("hi"), tools=tools, tool_choice=choice)["tool_choice"]

    assert choose("f") == "required"
    with pytest.raises(UnsupportedRequestError, match="'f'"):
        choose("f", "g")


def test_a_thought_signature_goes_back_where_the_server_wants_it_in_one_order():
    kept = {"extra_content": {"google": {"b": 1, "a": "sig"}}, "other": 1}
    turn = Message(Role.ASSISTANT, (ToolCall("c", "f", {}, provider_metadata=kept),))

    call = body(GEMINI, turn)["messages"][0]["tool_calls"][0]

    assert call["extra_content"] == {"google": {"a": "sig", "b": 1}}
    assert list(call["extra_content"]["google"]) == ["a", "b"]
    assert "other" not in call


@pytest.mark.parametrize(
    "pattern", [r"call_[a-z0-9]+", r"[a-zA-Z0-9]{24}", r"toolu_.*", r"[0-9]{9}", r"[a-f0-9]{32}"]
)
def test_an_id_of_another_server_is_made_to_fit_whatever_the_pattern(pattern):
    call = ToolCall(id="chatcmpl-tool-é", name="f", arguments={})
    turn = Message(Role.ASSISTANT, [call])
    answer = Message(Role.TOOL, [ToolResult(call.id, [Text("ok")])])
    profile = dataclasses.replace(DEFAULT, call_id_pattern=pattern)

    body = OpenAICompatible(profile).to_wire(Request("m", [Message.user("Go"), turn, answer]))

    sent = body["messages"][1]["tool_calls"][0]["id"]
    assert re.fullmatch(pattern, sent)
    assert body["messages"][2]["tool_call_id"] == sent


def test_a_pattern_that_nothing_fits_is_told_instead_of_tried_for_ever():
    call = ToolCall(id="a", name="f", arguments={})
    profile = dataclasses.replace(DEFAULT, call_id_pattern=r"never-[xyz]{3}")

    with pytest.raises(ConfigurationError, match=r"call_id_pattern 'never-\[xyz\]\{3\}'"):
        OpenAICompatible(profile).to_wire(Request("m", [Message(Role.ASSISTANT, [call])]))
