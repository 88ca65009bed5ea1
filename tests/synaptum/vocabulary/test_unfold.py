"""A whole answer shown as a stream is the same answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from synaptum import (
    FinishReason,
    Image,
    Message,
    RedactedThinking,
    Response,
    Role,
    Text,
    Thinking,
    ToolCall,
    fold,
    unfold,
)

words = st.text(max_size=12)
parts = st.one_of(
    words.map(Text),
    words.map(Thinking),
    words.map(RedactedThinking),
    st.just(Image("image/png", url="http://127.0.0.1/x.png")),
    words.map(lambda text: ToolCall("c1", "look", {}, unreadable_arguments=text)),
    words.map(lambda text: ToolCall("c1", "look", {"a": text})),
)
responses = st.lists(parts, max_size=5).map(
    lambda found: Response(Message(Role.ASSISTANT, tuple(found)), FinishReason.STOP, model="m")
)


@given(response=responses, piece_chars=st.one_of(st.none(), st.integers(1, 5)))
def test_folding_what_was_unfolded_gives_it_back(response, piece_chars):
    events = list(unfold(response, piece_chars))

    assert fold(events) == response
    assert [event.kind for event in events].count("stream_start") == 1


@given(response=responses, piece_chars=st.one_of(st.none(), st.integers(1, 5)))
def test_every_block_opens_once_closes_once_and_its_fragments_are_its_text(response, piece_chars):
    open_block, texts = None, {}
    for event in list(unfold(response, piece_chars))[1:-1]:
        if event.kind.endswith("_start"):
            assert open_block is None
            open_block, texts[event.index] = event.index, ""
        elif event.kind.endswith("_end"):
            assert open_block == event.index
            open_block = None
        else:
            fragment = getattr(event, "text", None) or event.arguments_delta
            assert fragment
            texts[event.index] += fragment
    assert open_block is None
    for index, part in enumerate(response.message.content):
        if isinstance(part, Text | Thinking):
            assert texts[index] == part.text


def test_a_call_shows_the_text_the_model_wrote():
    call = ToolCall("c1", "look", {"a": 1}, arguments_text='{ "a" : 1 }')
    response = Response(Message(Role.ASSISTANT, (call,)), FinishReason.TOOL_CALLS)
    deltas = [e.arguments_delta for e in unfold(response, 4) if e.kind == "tool_call_delta"]

    assert deltas == ['{ "a', '" : ', "1 }"]
