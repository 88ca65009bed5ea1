"""The rules that the vocabulary's own values keep."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import usages

from synaptum.errors import NetworkError
from synaptum.vocabulary import (
    ALLOW,
    Audio,
    Decision,
    Disposition,
    Document,
    Finish,
    FinishReason,
    History,
    Image,
    Message,
    Request,
    Response,
    ResponseFormat,
    Risk,
    Role,
    StreamStart,
    Text,
    TextDelta,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolResult,
    Usage,
    fold,
    make_step_id,
)


def test_unknown_is_not_zero_and_survives_adding():
    assert Usage(1, 2, 0, None, 4) + Usage(10, 20, 0, 3, None) == Usage(11, 22, 0, None, None)


def test_a_sum_of_turns_begins_with_everything_measured_as_zero():
    turns = [Usage(4, 1), Usage(4, 1, 1), Usage(5, 2, estimated=True)]

    assert sum(turns, Usage.zero()) == Usage(13, 4, None, None, None, estimated=True)
    assert sum([], Usage.zero()).total == 0


@given(usages, usages, usages)
def test_adding_usage_needs_no_order(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Usage.zero() == a


def test_a_total_with_an_unknown_part_is_unknown():
    assert Usage(120).total is None
    assert Usage(120, 5).total == 125


@pytest.mark.parametrize(
    ("usage", "ratio"),
    [
        (Usage(100, 1, cache_read=80), 0.8),
        (Usage(100, 1, cache_read=0), 0.0),
        (Usage(100, 1), None),
        (Usage(None, 1, cache_read=3), None),
        (Usage(0, 1, cache_read=0), None),
        (Usage(203, 15, cache_read=314), 1.0),
    ],
)
def test_the_hit_ratio_is_a_part_of_one_or_not_measured(usage, ratio):
    assert usage.cache_hit_ratio == ratio


def test_risks_are_ordered_from_harmless_to_beyond_repair():
    assert sorted([Risk.DESTRUCTIVE, Risk.READ, Risk.HARD_WRITE, Risk.SOFT_WRITE]) == [
        Risk.READ,
        Risk.SOFT_WRITE,
        Risk.HARD_WRITE,
        Risk.DESTRUCTIVE,
    ]
    assert max(Risk.READ, Risk.DESTRUCTIVE) is Risk.DESTRUCTIVE


def test_no_part_and_an_empty_part_are_two_messages():
    assert Message(Role.ASSISTANT, ()) != Message.assistant("")
    assert Message(Role.ASSISTANT, ()).text == Message.assistant("").text == ""


def test_a_list_of_parts_is_kept_as_a_tuple():
    assert Message(Role.USER, [Text("a")]) == Message.user("a")
    assert ToolResult("c", [Text("a")]) == ToolResult.of("c", "a")


def test_the_text_of_a_message_is_all_its_text_and_the_calls_are_in_order():
    first, second = ToolCall("a", "f", {}), ToolCall("b", "g", {})
    message = Message(Role.ASSISTANT, (Text("x"), first, Text("y"), second))

    assert message.text == "xy"
    assert message.tool_calls == (first, second)


@pytest.mark.parametrize("cls", [Image, Audio, Document])
def test_media_have_data_or_a_place_and_not_both(cls):
    assert cls("x/y", data=b"\x00\xff").data == "AP8="
    assert cls("x/y", data="AP8=") == cls("x/y", data=b"\x00\xff")
    with pytest.raises(ValueError, match="exactly one"):
        cls("x/y")
    with pytest.raises(ValueError, match="exactly one"):
        cls("x/y", data=b"", url="https://example.org")


def test_a_tool_choice_has_a_name_when_it_is_named_and_else_none():
    for arguments in (("named",), ("auto", "f"), ("maybe",)):
        with pytest.raises(ValueError, match="ToolChoice"):
            ToolChoice(*arguments)


def test_a_response_format_has_a_schema_when_it_is_one_and_else_none():
    for arguments in (("json_schema",), ("text", {}), ("xml",)):
        with pytest.raises(ValueError, match="ResponseFormat"):
            ResponseFormat(*arguments)


def test_a_request_keeps_what_it_is_given_in_order():
    request = Request("m", [Message.user("a")], stop="END", tools=iter(()))

    assert request.messages == (Message.user("a"),)
    assert request.stop == ("END",)
    assert request.tools == ()


def test_a_set_of_stop_sequences_has_no_order_and_is_refused():
    with pytest.raises(ValueError, match="no order"):
        Request("m", (), stop={"a", "b"})


def test_two_spellings_of_one_answer_are_one_answer():
    one = Response(Message.user("a"), FinishReason.STOP, provider_metadata={"content": ""})
    two = Response(Message.user("a"), FinishReason.STOP, provider_metadata={"content": None})

    assert one == two
    assert one != Response(Message.user("a"), FinishReason.LENGTH)


def test_step_ids_sort_as_their_numbers_do():
    assert make_step_id(0, "model") == "000000-model"
    assert make_step_id(12, "tool") == "000012-tool"


def test_allow_is_a_decision():
    assert ALLOW.disposition is Disposition.ALLOW


def test_folding_gives_the_response_of_the_finish():
    response = Response(Message.assistant("a"), FinishReason.STOP)

    assert fold(iter([StreamStart(), TextDelta(0, "a"), Finish(response)])) is response


def test_a_stream_without_a_finish_did_not_succeed():
    with pytest.raises(NetworkError, match="no finish"):
        fold([StreamStart(), TextDelta(0, "a")])


def turn(number):
    return Message.user(str(number))


@given(st.lists(st.integers(0, 30), max_size=40))
def test_a_history_is_the_tuple_of_its_messages_whoever_grew_from_it(growths):
    """Grow any earlier history again and again; none may notice the others."""
    kept = [(History(), ())]
    for number, choice in enumerate(growths):
        history, messages = kept[choice % len(kept)]
        kept.append((history.append(turn(number)), (*messages, turn(number))))

    for history, messages in kept:
        assert history == messages
        assert messages == history
        assert tuple(history) == messages
        assert len(history) == len(messages)
        assert len(messages) > 8 or repr(history) == repr(messages)
        assert history == History(messages)
        for other, theirs in kept:
            assert history.is_prefix_of(other) == (messages == theirs[: len(messages)])


def test_a_history_is_indexed_and_sliced_as_a_tuple():
    messages = tuple(turn(number) for number in range(5))
    history = History(messages[:4])
    history.append(turn(9))

    assert history[0] == messages[0]
    assert history[-1] == messages[3]
    assert history[1:] == messages[1:4]
    assert history[::-1] == messages[3::-1]
    for index in (4, -5):
        with pytest.raises(IndexError):
            history[index]
    assert messages[2] in history


def test_a_history_differs_from_a_list_and_has_no_hash():
    assert History([turn(1)]) != [turn(1)]
    assert History([turn(1)]) != (turn(2),)
    with pytest.raises(TypeError):
        hash(History())


def test_a_long_conversation_shares_its_messages():
    history = History()
    requests = []
    for number in range(1_000):
        history = history.append(turn(number))
        requests.append(Request("m", history))

    assert all(request.messages[0] is history[0] for request in requests)
    assert requests[0].messages == (turn(0),)
    assert requests[998].messages.is_prefix_of(requests[999].messages)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ToolDefinition("f", "", {}, risk="read"), "The risk of the tool 'f' is 'read'"),
        (lambda: ToolDefinition("f", "", {}, idempotent=1), "The idempotent of the tool 'f' is 1"),
        (lambda: Decision("allow"), r"Decision\('allow'\): give a Disposition"),
    ],
    ids=["risk", "idempotent", "disposition"],
)
def test_a_word_is_no_risk_and_no_decision(make, told):
    with pytest.raises(ValueError, match=told):
        make()


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ("Hi", "not str"),
        (["Hi"], "not of str"),
        (Message.user("Hi"), "not Message"),
        ([{"role": "user", "content": "Hi"}], "not of dict"),
    ],
)
def test_a_request_holds_messages_and_nothing_else(messages, told):
    with pytest.raises(ValueError, match=rf"{told}: \[Message\.user"):
        Request("m", messages)
