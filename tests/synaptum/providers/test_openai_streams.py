"""What a stream of the OpenAI-compatible dialect says, and when it is no answer."""

import time

import pytest

from synaptum.errors import NetworkError, ProviderError
from synaptum.providers.openai_compatible import DEFAULT, DONE, OpenAICompatible
from synaptum.providers.openai_compatible.profile import Profile
from synaptum.vocabulary import (
    Finish,
    FinishReason,
    Message,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    Role,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    Thinking,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    fold,
)

ABSENT = object()


def chunk(delta=ABSENT, finish=ABSENT, **top):
    choice = {"index": 0}
    if delta is not ABSENT:
        choice["delta"] = delta
    if finish is not ABSENT:
        choice["finish_reason"] = finish
    return {"object": "chat.completion.chunk", "choices": [choice], **top}


def events_of(*chunks, profile=DEFAULT):
    return list(OpenAICompatible(profile).stream_from_wire(chunks))


def response_of(*chunks, profile=DEFAULT):
    return fold(OpenAICompatible(profile).stream_from_wire(chunks))


END = chunk({}, "stop")


def test_events_come_noun_then_phase_and_the_answer_last():
    events = events_of(
        chunk({"role": "assistant", "content": ""}, None, model="m"),
        chunk({"reasoning": "Hm"}, None),
        chunk({"content": "o"}, None),
        chunk({"content": "k"}, None),
        chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}, None),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}, None),
        chunk({}, "tool_calls"),
    )

    call = ToolCall("a", "f", {}, arguments_text="{}")
    assert events[:-1] == [
        StreamStart("m"),
        ReasoningStart(0),
        ReasoningDelta(0, "Hm"),
        ReasoningEnd(0),
        TextStart(1),
        TextDelta(1, "o"),
        TextDelta(1, "k"),
        TextEnd(1),
        ToolCallStart(2, "a", "f"),
        ToolCallDelta(2, "{}"),
        ToolCallEnd(2, call),
    ]
    assert isinstance(events[-1], Finish)
    assert events[-1].response.message == Message(
        Role.ASSISTANT, (Thinking("Hm"), Text("ok"), call)
    )


def test_each_event_goes_out_as_its_chunk_comes():
    taken = []

    def chunks():
        for one in (chunk({"content": "a"}, None), chunk({"content": "b"}, None), END):
            taken.append(one)
            yield one

    events = OpenAICompatible().stream_from_wire(chunks())

    assert taken == []
    assert next(events) == StreamStart(None)
    assert next(events) == TextStart(0)
    assert next(events) == TextDelta(0, "a")
    assert len(taken) == 1
    assert next(events) == TextDelta(0, "b")
    assert len(taken) == 2


def test_chunks_may_also_be_pushed():
    chunks = [chunk({"content": "a"}, None), END]
    reader = OpenAICompatible().stream_reader()

    pushed = [event for one in chunks for event in reader.feed(one)] + list(reader.close())

    assert pushed == events_of(*chunks)


def test_text_that_goes_on_after_a_call_opens_another_block():
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    events = events_of(
        chunk({"content": "x"}), chunk({"tool_calls": [call]}), chunk({"content": "y"}), END
    )

    starts = [event for event in events if isinstance(event, TextStart)]
    assert [event.index for event in starts] == [0, 2]
    assert [event.index for event in events if isinstance(event, TextEnd)] == [0, 2]
    assert events[-1].response.text == "xy"


def test_a_said_empty_string_has_a_block_and_no_delta():
    events = events_of(chunk({"role": "assistant", "content": ""}), END)

    assert events[:-1] == [StreamStart(None), TextStart(0), TextEnd(0)]
    assert events[-1].response.message == Message.assistant("")


@pytest.mark.parametrize("content", [{"content": None}, {}])
def test_null_or_no_content_in_every_delta_is_no_text(content):
    response = response_of(chunk({"role": "assistant", **content}), END)

    assert response.message.content == ()
    assert response.provider_metadata.get("message", {}) == content


def test_content_null_beside_calls_reads_as_the_whole_body_does():
    response = response_of(
        chunk(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}],
            }
        ),
        chunk({"content": None, "tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
        chunk({}, "tool_calls"),
    )

    assert response.message.content == (ToolCall("a", "f", {}, arguments_text="{}"),)


@pytest.mark.parametrize("role", [ABSENT, None, "assistant"])
def test_the_role_may_be_absent_null_or_repeated(role):
    extra = {} if role is ABSENT else {"role": role}

    response = response_of(chunk({"content": "a", **extra}), chunk({"content": "b", **extra}), END)

    assert response.text == "ab"


@pytest.mark.parametrize("finish", [ABSENT, None, ""])
def test_no_finish_word_yet_may_be_spelled_three_ways(finish):
    response = response_of(chunk({"content": "a"}, finish), chunk({"content": "b"}, finish), END)

    assert (response.text, response.finish_reason) == ("ab", FinishReason.STOP)


def test_the_last_chunk_may_carry_text_and_finish_together():
    response = response_of(chunk({"content": "ab"}, None), chunk({"content": "c"}, "length"))

    assert (response.text, response.finish_reason) == ("abc", FinishReason.LENGTH)


def test_a_finish_word_may_be_repeated_and_is_not_the_end():
    response = response_of(
        chunk({"content": "a"}, "stop"), chunk({"content": "b"}, "stop"), chunk({}, "stop")
    )

    assert response.text == "ab"


def test_an_unknown_finish_word_is_an_end_and_is_kept():
    response = response_of(chunk({"content": "a"}), chunk({}, "eos"))

    assert response.finish_reason is FinishReason.STOP
    assert response.provider_metadata["choice"]["finish_reason"] == "eos"


def test_chunks_without_choices_or_delta_are_read_over():
    response = response_of(
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}], "id": "", "model": ""},
        {"id": "x", "model": "m"},
        chunk({"content": "a"}, id="x", model="m"),
        chunk(),
        {"choices": None},
        END,
    )

    assert response.text == "a"
    assert response.model == "m"
    assert response.provider_metadata["id"] == "x"
    assert response.provider_metadata["prompt_filter_results"] == [{"prompt_index": 0}]
    assert response.usage == Usage()


def test_usage_comes_after_the_finish_in_a_chunk_without_choices():
    response = response_of(
        chunk({"content": "hi"}, "stop", usage=None),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}},
    )

    assert (response.text, response.usage) == ("hi", Usage(7, 1))


def test_running_totals_are_not_added_up():
    totals = [
        {"prompt_tokens": 10, "completion_tokens": n, "total_tokens": 10 + n} for n in (1, 2, 3)
    ]

    response = response_of(
        *(chunk({"content": "x"}, None, usage=total) for total in totals),
        chunk({}, "stop", usage=totals[-1]),
        {"choices": [], "usage": totals[-1]},
    )

    assert response.usage == Usage(10, 3)


def test_nulls_in_early_totals_do_not_hide_later_numbers():
    response = response_of(
        chunk({"content": "x"}, usage={"prompt_tokens": 4, "completion_tokens": None}),
        chunk({}, "stop", usage={"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}),
    )

    assert response.usage == Usage(4, 2)


def test_usage_inside_the_choice_is_read_where_there_is_no_other():
    end = chunk({}, "stop")
    end["choices"][0]["usage"] = {"prompt_tokens": 3, "completion_tokens": 1}

    assert response_of(chunk({"content": "x"}), end).usage == Usage(3, 1)


def test_further_choices_do_not_mix_with_the_first():
    second = {"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "stop"}]}

    response = response_of(chunk({"content": "a"}), second, END)

    assert response.text == "a"
    assert len(response.provider_metadata["other_choices"]) == 1


def test_a_cumulative_message_beside_the_delta_is_ignored():
    first, second = chunk({"content": "The"}), chunk({"content": " cat"})
    first["choices"][0]["message"] = {"content": "The"}
    second["choices"][0]["message"] = {"content": "The cat"}

    assert response_of(first, second, END).text == "The cat"


def test_a_refusal_in_fragments_is_whole():
    response = response_of(
        chunk({"role": "assistant", "content": "", "refusal": None}),
        chunk({"refusal": "I'm"}),
        chunk({"refusal": " sorry"}),
        END,
    )

    assert response.message.content == ()
    assert response.provider_metadata["message"]["refusal"] == "I'm sorry"


def test_a_word_repeated_in_each_chunk_stands_once_and_fragments_are_joined():
    response = response_of(
        chunk({"content": "a", "channel": "final", "novel": "x", "n": 1}),
        chunk({"content": "b", "channel": "final", "novel": "y", "n": 2}),
        END,
    )

    assert response.provider_metadata["message"] == {"channel": "final", "novel": "xy", "n": 2}


def test_lists_of_a_choice_grow_and_objects_are_merged():
    first, second = chunk({"content": "a"}), chunk({"content": "b"})
    first["choices"][0]["logprobs"] = {"content": [{"token": "a"}], "refusal": None}
    second["choices"][0]["logprobs"] = {"content": [{"token": "b"}], "refusal": None}

    response = response_of(first, second, END)

    assert response.provider_metadata["choice"]["logprobs"] == {
        "content": [{"token": "a"}, {"token": "b"}],
        "refusal": None,
    }


def test_reasoning_details_in_fragments_are_put_together_by_their_index():
    def details(text, **extra):
        return chunk(
            {
                "reasoning": text,
                "reasoning_details": [
                    {"type": "reasoning.text", "text": text, "index": 0, "format": "x", **extra}
                ],
            }
        )

    response = response_of(
        details("I "), details("see", signature="sig"), chunk({"content": "4"}), END
    )

    assert response.message.content == (Thinking("I see", "sig"), Text("4"))
    assert response.provider_metadata["message"]["reasoning_details"] == [
        {"type": "reasoning.text", "text": "I see", "index": 0, "format": "x", "signature": "sig"}
    ]


def test_two_names_for_one_reasoning_are_read_once():
    both = {"reasoning": "Hm", "reasoning_content": "Hm"}

    response = response_of(chunk(both), chunk(both), chunk({"content": "ok"}), END)

    assert response.message.content == (Thinking("HmHm"), Text("ok"))


def test_content_parts_may_come_in_fragments():
    def thinking(text):
        return chunk(
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}
        )

    response = response_of(thinking("2+"), thinking("2"), chunk({"content": "4"}), END)

    assert response.message.content == (Thinking("2+2"), Text("4"))


def test_a_character_cut_into_its_two_surrogates_is_whole_again():
    response = response_of(chunk({"content": "\ud83d"}), chunk({"content": "\ude00"}), END)

    assert response.text == "😀"


THINKING = Profile(name="thinking", read_on="2026-11-30", think_tags=True)


@pytest.mark.parametrize(
    ("pieces", "reasoning", "text"),
    [
        (["<th", "ink>plan</thi", "nk>ok"], "plan", "ok"),
        (["\n<think>plan</think>ok"], "plan", "ok"),
        (list("<think>a</b></think>ok"), "a</b>", "ok"),
        (["<think>never closed </th"], "never closed </th", ""),
        (["no <think>x</think>"], "", "no <think>x</think>"),
        (["<thi"], "", "<thi"),
        (["<think></think>ok"], "", "ok"),
    ],
)
def test_think_tags_are_read_wherever_they_are_cut(pieces, reasoning, text):
    response = response_of(*(chunk({"content": piece}) for piece in pieces), END, profile=THINKING)

    thoughts = "".join(p.text for p in response.message.content if isinstance(p, Thinking))
    assert (thoughts, response.text) == (reasoning, text)


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [chunk({"role": "assistant", "content": ""}, None)],
        [chunk({"content": "half"}, None)],
        [chunk({"content": "half"}, "")],
        [chunk({"reasoning": "half"})],
        [{"choices": [], "usage": {"prompt_tokens": 1}}],
        [
            chunk({"content": "x"}, usage={"prompt_tokens": 1, "completion_tokens": 1}),
            chunk({"content": "y"}, usage={"prompt_tokens": 1, "completion_tokens": 2}),
        ],
    ],
    ids=["nothing", "role", "text", "empty word", "reasoning", "no choice", "running totals"],
)
def test_a_stream_that_breaks_off_is_a_lost_connection(chunks):
    with pytest.raises(NetworkError) as caught:
        events_of(*chunks)

    assert caught.value.retryable


def test_a_call_that_did_not_arrive_has_no_end():
    half = {"index": 0, "id": "a", "function": {"name": "write_file", "arguments": "{"}}
    given = []

    with pytest.raises(NetworkError):
        for event in OpenAICompatible().stream_from_wire([chunk({"tool_calls": [half]})]):
            given.append(event)
    assert [event.kind for event in given] == [
        "stream_start",
        "tool_call_start",
        "tool_call_delta",
    ]


def test_a_call_cut_by_length_is_unreadable_and_has_no_end():
    half = {"index": 0, "id": "a", "function": {"name": "write_file", "arguments": '{"p": "x'}}

    events = events_of(chunk({"tool_calls": [half]}), chunk({}, "length"))

    assert not any(isinstance(event, ToolCallEnd) for event in events)
    response = events[-1].response
    assert response.finish_reason is FinishReason.LENGTH
    assert response.tool_calls == (ToolCall("a", "write_file", {}, '{"p": "x'),)


def test_the_servers_own_done_makes_a_stream_without_finish_word_whole():
    chunks = [chunk({"content": "x"}, None), DONE, chunk({"content": "after"})]

    response = response_of(*chunks)

    assert (response.text, response.finish_reason) == ("x", FinishReason.STOP)


def test_done_before_any_choice_is_an_error_not_an_empty_answer():
    with pytest.raises(ProviderError, match="no choices"):
        response_of({"id": "x", "choices": []}, DONE)


def test_a_closing_usage_makes_a_stream_without_finish_word_whole():
    closed = {"choices": [], "usage": {"prompt_tokens": 2, "completion_tokens": 3}}
    riding = chunk({"content": ""}, None, usage={"prompt_tokens": 2, "completion_tokens": 3})

    assert response_of(chunk({"content": "x"}), closed).usage == Usage(2, 3)
    assert response_of(chunk({"content": "x"}), riding).usage == Usage(2, 3)


def test_an_error_after_fragments_is_raised_after_them():
    given = []
    error = {"error": {"message": "queue full", "type": "rate_limit", "code": "QUEUE_FULL"}}
    with pytest.raises(ProviderError, match=r"queue full.*QUEUE_FULL") as caught:
        for event in OpenAICompatible().stream_from_wire([chunk({"content": "x"}), error, DONE]):
            given.append(event)

    assert [event.kind for event in given] == ["stream_start", "text_start", "text_delta"]
    assert caught.value.retryable
    assert caught.value.status is None


@pytest.mark.parametrize(
    "error",
    [
        {"choices": [], "error": {"message": "boom"}},
        {"choices": [{"index": 0, "delta": {"content": ""}}], "error": {"message": "boom"}},
        {"choices": [{"index": 0, "delta": {}, "error": {"message": "boom", "code": 502}}]},
        {"error": "boom"},
        {"detail": "boom"},
        {"object": "error", "message": "boom"},
    ],
)
def test_an_error_may_ride_on_any_chunk(error):
    with pytest.raises(ProviderError, match="boom"):
        events_of(chunk({"content": "x"}), error, END)


def test_the_status_of_an_error_in_a_stream_decides_whether_to_retry():
    for code, retryable in ((400, False), (429, True), ("503", True)):
        with pytest.raises(ProviderError) as caught:
            events_of({"error": {"message": "x", "code": code}})
        assert caught.value.retryable is retryable
        assert caught.value.status == int(code)


def test_a_failure_of_the_transport_passes_as_it_is():
    def torn():
        yield chunk({"content": "x"}, "stop")
        raise NetworkError("reset")

    with pytest.raises(NetworkError, match="reset"):
        list(OpenAICompatible().stream_from_wire(torn()))


def test_a_stream_of_many_chunks_costs_linear_time():
    def cost(count):
        chunks = [
            chunk(
                {"content": "word ", "novel": "x", "reasoning_details": [{"text": "a", "index": 0}]}
            )
            for _ in range(count)
        ] + [
            chunk({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": '"}'}}]})
            for _ in range(count)
        ]
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            response_of(*chunks, END)
            best = min(best, time.process_time() - start)
        return best

    # Eight times the chunks: linear is 8, quadratic 64.
    assert cost(4_000) / cost(500) < 30
