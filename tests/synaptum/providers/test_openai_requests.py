"""What a request looks like on the OpenAI-compatible wire, under the default profile."""

import json

import pytest

from synaptum import canonical
from synaptum.errors import ConfigurationError, UnsupportedRequestError
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary import (
    Audio,
    Document,
    History,
    Image,
    Message,
    RedactedThinking,
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

WEATHER = ToolDefinition("get_weather", "Weather of a city", {"type": "object", "properties": {}})


def body(*messages, **fields):
    return OpenAICompatible().to_wire(Request("m", messages, **fields))


def assistant(*parts):
    return Message(Role.ASSISTANT, parts)


def wire_turn(*parts):
    """The one assistant turn of a body that also holds a question."""
    turns = body(Message.user("hi"), assistant(*parts))["messages"][1:]
    assert len(turns) == 1
    return turns[0]


def test_nothing_that_is_not_set_travels():
    assert body(Message.user("hi"), tools=(), stop=()) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_everything_that_is_set_travels_under_its_wire_name_in_this_order():
    sent = body(
        Message.user("hi"),
        system="Be brief.",
        tools=(WEATHER,),
        tool_choice=ToolChoice("auto"),
        response_format=ResponseFormat("json_object"),
        max_output_tokens=5,
        temperature=0,
        top_p=0.5,
        stop=("END",),
        provider_options={"seed": 1, "cache_prompt": True},
    )

    assert canonical.wire_text(sent) == (
        '{"model":"m","messages":[{"role":"system","content":"Be brief."},'
        '{"role":"user","content":"hi"}],'
        '"tools":[{"type":"function","function":{"name":"get_weather",'
        '"description":"Weather of a city","parameters":{"type":"object","properties":{}}}}],'
        '"tool_choice":"auto","response_format":{"type":"json_object"},"max_tokens":5,'
        '"temperature":0,"top_p":0.5,"stop":["END"],"cache_prompt":true,"seed":1}'
    )


def test_a_stream_is_asked_for_with_its_usage():
    sent = OpenAICompatible().to_wire_stream(Request("m", (Message.user("hi"),)))

    assert sent["stream"] is True
    assert sent["stream_options"] == {"include_usage": True}


def test_a_turn_that_only_reasoned_is_not_sent():
    sent = body(
        Message.user("hi"),
        assistant(Thinking("hm"), RedactedThinking("blob")),
        Message.user("well?"),
    )

    assert sent["messages"] == [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "well?"},
    ]


def test_a_turn_that_said_the_empty_string_travels_as_such():
    assert wire_turn(Thinking("hm"), Text("")) == {"role": "assistant", "content": ""}


def test_an_empty_string_beside_calls_travels_too():
    assert wire_turn(Text(""), ToolCall("a", "f", {}))["content"] == ""


def test_calls_without_text_travel_with_null_content():
    assert wire_turn(ToolCall("a", "f", {"x": 1})) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
        ],
    }


def test_reasoning_and_metadata_stay_at_home():
    turn = wire_turn(
        Thinking("hm", "signed"), Text("yes"), ToolCall("a", "f", {}, provider_metadata={"x": 1})
    )

    assert sorted(turn) == ["content", "role", "tool_calls"]
    assert sorted(turn["tool_calls"][0]) == ["function", "id", "type"]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (ToolCall("a", "f", {"x": 1}, arguments_text='{ "x" :1}'), '{ "x" :1}'),
        (ToolCall("a", "f", {"b": 1, "a": "東京"}), '{"a":"東京","b":1}'),
        (ToolCall("a", "f", {}, '{"x": '), "{}"),
        (ToolCall("a", "f", {}, ""), "{}"),
        (ToolCall("a", "f", {}, arguments_text=""), "{}"),
        (ToolCall("a", "f", {}, arguments_text="null"), "{}"),
        (ToolCall("a", "f", {"id": 9007199254740993}), '{"id":9007199254740993}'),
    ],
    ids=["exact", "made by hand", "unreadable", "cut", "empty", "null", "large integer"],
)
def test_arguments_travel_as_the_text_the_model_wrote(call, arguments):
    assert wire_turn(call)["tool_calls"][0]["function"]["arguments"] == arguments


def test_a_call_read_from_the_wire_goes_back_as_it_came():
    spelled = '{ "city":"Oslo",\n "n": 1.0}'
    item = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": spelled}}
    message = {"role": "assistant", "content": None, "tool_calls": [item]}
    response = OpenAICompatible().from_wire(
        {"choices": [{"finish_reason": "tool_calls", "message": message}]}
    )

    assert body(Message.user("hi"), response.message)["messages"][1] == message


def test_each_result_is_a_message_of_its_own_in_the_order_of_the_calls():
    sent = body(
        Message.user("hi"),
        assistant(ToolCall("a", "f", {}), ToolCall("b", "g", {})),
        Message.tool_results(ToolResult.of("a", "1"), ToolResult.of("b", "no", is_error=True)),
    )

    assert sent["messages"][2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "no"},
    ]


def test_the_structured_value_of_a_result_stays_at_home():
    result = ToolResult("a", (Text("1"), Text("2")), structured={"n": 12})

    assert body(Message.tool_results(result))["messages"] == [
        {"role": "tool", "tool_call_id": "a", "content": "12"}
    ]


def test_a_result_of_no_part_says_the_empty_string():
    assert body(Message.tool_results(ToolResult("a", ())))["messages"][0]["content"] == ""


def test_other_media_travel_as_parts_beside_the_text():
    sent = body(
        Message(
            Role.USER,
            (
                Text("What is this?"),
                Image("image/png", data=b"\x00\x01"),
                Image("image/png", url="https://example.org/a.png"),
                Audio("audio/wav", data=b"\x02"),
                Document("application/pdf", data=b"\x03", name="a.pdf"),
            ),
        )
    )

    assert sent["messages"][0]["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAE="}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "Ag==", "format": "wav"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,Aw=="},
        },
    ]


@pytest.mark.parametrize(
    ("message", "named"),
    [
        (Message(Role.USER, (Audio("audio/flac", data=b"1"),)), "audio/flac"),
        (Message(Role.USER, (Audio("audio/wav", url="https://example.org"),)), "by url"),
        (Message(Role.USER, (Document("application/pdf", url="https://example.org"),)), "url"),
        (Message(Role.USER, ()), "messages[0]"),
        (Message(Role.USER, (ToolCall("a", "f", {}),)), "tool_call"),
        (Message(Role.ASSISTANT, (Image("image/png", data=b"1"),)), "image"),
        (Message(Role.ASSISTANT, (ToolResult.of("a", "1"),)), "tool_result"),
        (Message(Role.TOOL, (Text("1"),)), "text"),
        (Message(Role.DEVELOPER, (Image("image/png", data=b"1"),)), "image"),
        (
            Message.tool_results(ToolResult("a", (Image("image/png", data=b"1"),))),
            "messages[0].content[0]",
        ),
    ],
)
def test_what_the_dialect_has_no_shape_for_is_refused_by_name(message, named):
    with pytest.raises(UnsupportedRequestError) as caught:
        body(message)

    assert named in str(caught.value)


def test_a_request_of_nothing_is_refused():
    with pytest.raises(UnsupportedRequestError, match="nothing to send"):
        body(assistant(Thinking("hm")))


def test_a_developer_turn_keeps_its_place_and_role():
    sent = body(Message.user("hi"), Message.developer("in French"))

    assert sent["messages"][1] == {"role": "developer", "content": "in French"}


@pytest.mark.parametrize(
    "name",
    [
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "model",
        "response_format",
        "stop",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_p",
    ],
)
def test_a_provider_option_may_not_replace_a_field_with_a_name_of_ours(name):
    with pytest.raises(ConfigurationError, match=f"'{name}'"):
        body(Message.user("hi"), provider_options={name: 1})


def test_parallel_calls_are_not_spoken_of_where_no_tool_is_offered():
    options = {"parallel_tool_calls": False, "seed": 1}

    assert body(Message.user("hi"), provider_options=options)["seed"] == 1
    assert "parallel_tool_calls" not in body(Message.user("hi"), provider_options=options)
    offered = body(Message.user("hi"), provider_options=options, tools=[WEATHER])
    assert offered["parallel_tool_calls"] is False


def test_provider_options_have_one_order_however_they_were_given():
    one = body(
        Message.user("hi"), provider_options={"b": {"y": 1, "x": [{"d": 1, "c": 2}]}, "a": 1}
    )
    two = body(
        Message.user("hi"), provider_options={"a": 1, "b": {"x": [{"c": 2, "d": 1}], "y": 1}}
    )

    assert canonical.wire_bytes(one) == canonical.wire_bytes(two)


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        (ToolChoice("auto"), "auto"),
        (ToolChoice("none"), "none"),
        (ToolChoice("required"), "required"),
        (
            ToolChoice("named", "get_weather"),
            {"type": "function", "function": {"name": "get_weather"}},
        ),
    ],
)
def test_the_tool_choice_has_its_wire_form(choice, wire):
    sent = body(Message.user("hi"), tools=(WEATHER,), tool_choice=choice)

    assert sent["tool_choice"] == wire


def test_a_tool_choice_without_tools_does_not_travel():
    sent = body(Message.user("hi"), tool_choice=ToolChoice("required"))

    assert "tool_choice" not in sent
    assert "tools" not in sent


def test_a_named_tool_that_is_not_offered_is_refused():
    with pytest.raises(ConfigurationError, match="get_weather"):
        body(Message.user("hi"), tools=(WEATHER,), tool_choice=ToolChoice("named", "other"))


@pytest.mark.parametrize("name", ["ñandú", "", "a" * 65, "a b"])
def test_a_tool_name_the_server_would_refuse_is_refused_here(name):
    with pytest.raises(UnsupportedRequestError) as caught:
        body(Message.user("hi"), tools=(ToolDefinition(name, "", {}),))

    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("profile", ["openai", "mistral", "deepseek"])
def test_the_dot_of_a_prefix_travels_but_where_the_reference_knows_no_dot(profile):
    request = Request("m", [Message.user("hi")], tools=(ToolDefinition("git.log", "", {}),))

    sent = OpenAICompatible().to_wire(request)

    assert sent["tools"][0]["function"]["name"] == "git.log"
    with pytest.raises(UnsupportedRequestError, match=r"'git\.log'"):
        OpenAICompatible(profile=profile).to_wire(request)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ConfigurationError, match="get_weather"):
        body(Message.user("hi"), tools=(WEATHER, WEATHER))


@pytest.mark.parametrize(
    ("wanted", "wire"),
    [
        (ResponseFormat("text"), {"type": "text"}),
        (ResponseFormat("json_object"), {"type": "json_object"}),
        (
            ResponseFormat("json_schema", {"type": "object"}),
            {
                "type": "json_schema",
                "json_schema": {"name": "response", "schema": {"type": "object"}},
            },
        ),
        (
            ResponseFormat("json_schema", {"type": "object"}, "Facts", True),
            {
                "type": "json_schema",
                "json_schema": {"name": "Facts", "schema": {"type": "object"}, "strict": True},
            },
        ),
    ],
)
def test_the_response_format_has_its_wire_form(wanted, wire):
    assert body(Message.user("hi"), response_format=wanted)["response_format"] == wire


def test_a_name_of_the_response_format_that_no_server_takes_is_refused():
    with pytest.raises(UnsupportedRequestError, match=r"my\.facts"):
        body(Message.user("hi"), response_format=ResponseFormat("json_schema", {}, "my.facts"))


def test_a_history_travels_as_the_tuple_of_its_messages_does():
    history = History().append(Message.user("hi")).append(Message.assistant("yes"))

    assert body(*history) == body(Message.user("hi"), Message.assistant("yes"))


def test_text_of_any_script_is_not_escaped():
    raw = canonical.wire_bytes(body(Message.tool_results(ToolResult.of("a", '{"city":"東京"}'))))

    assert "東京".encode() in raw
    assert json.loads(raw)["messages"][0]["content"] == '{"city":"東京"}'
