"""Hypothesis strategies for everything a journal may hold."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from synaptum.vocabulary import (
    ApprovalStep,
    Audio,
    Decision,
    DelegateStep,
    Disposition,
    Document,
    FinalStep,
    FinishReason,
    Image,
    Message,
    ModelStep,
    Phase,
    RedactedThinking,
    Request,
    Response,
    ResponseFormat,
    Risk,
    Role,
    Step,
    Text,
    Thinking,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolResult,
    ToolStep,
    Usage,
)

# Every code point, surrogates included; two that would form a pair have no exact JSON form.
_split_pair = re.compile("[\ud800-\udbff][\udc00-\udfff]")
texts = st.text(st.characters(exclude_categories=()), max_size=12).filter(
    lambda text: not _split_pair.search(text)
)
words = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=6)
floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers() | floats | texts
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
counters = st.none() | st.integers(min_value=0)


def _media(cls: type) -> st.SearchStrategy:
    return st.builds(cls, words, data=st.binary(max_size=8)) | st.builds(cls, words, url=texts)


media = _media(Image) | _media(Audio) | _media(Document)
calls = st.builds(
    ToolCall,
    texts,
    words,
    json_objects,
    st.none() | texts,
    arguments_text=st.none() | texts,
    provider_metadata=json_objects,
)
results = st.builds(
    ToolResult,
    texts,
    st.lists(st.builds(Text, texts) | media, max_size=3).map(tuple),
    st.booleans(),
    structured=json_values,
)
parts = (
    st.builds(Text, texts)
    | media
    | calls
    | results
    | st.builds(Thinking, texts, st.none() | texts)
    | st.builds(RedactedThinking, texts)
)
messages = st.builds(Message, st.sampled_from(Role), st.lists(parts, max_size=3).map(tuple))
usages = st.builds(Usage, counters, counters, counters, counters, counters, st.booleans())
tools = st.builds(ToolDefinition, words, texts, json_objects, st.sampled_from(Risk), st.booleans())
requests = st.builds(
    Request,
    words,
    st.lists(messages, max_size=4).map(tuple),
    st.none() | texts,
    st.lists(tools, max_size=2).map(tuple),
    st.none()
    | st.sampled_from([ToolChoice(mode) for mode in ("auto", "none", "required")])
    | st.builds(ToolChoice, st.just("named"), words),
    st.none() | st.integers(min_value=1),
    st.none() | floats,
    st.none() | floats,
    st.lists(texts, max_size=2).map(tuple),
    st.none()
    | st.builds(ResponseFormat, st.sampled_from(["text", "json_object"]))
    | st.builds(
        ResponseFormat,
        st.just("json_schema"),
        json_objects,
        st.none() | words,
        st.none() | st.booleans(),
    ),
    json_objects,
)
responses = st.builds(
    Response, messages, st.sampled_from(FinishReason), usages, st.none() | texts, json_objects
)
decisions = st.builds(Decision, st.sampled_from(Disposition), texts, texts)


def steps(run_id: str, seq: int) -> st.SearchStrategy[Step]:
    """Any step of run `run_id` at place `seq`."""
    frame = {
        "run_id": st.just(run_id),
        "step_seq": st.just(seq),
        "phase": st.sampled_from(Phase),
        "at": texts,
        "meta": json_objects,
    }

    def build(cls: type, **fields: st.SearchStrategy) -> st.SearchStrategy:
        step_id = st.just(f"{seq:06d}-{cls.kind}")
        return st.builds(cls, step_id=step_id, **frame, **fields)

    risk, flag = st.sampled_from(Risk), st.booleans()
    return (
        build(
            ModelStep,
            request=st.none() | requests,
            response=st.none() | responses,
            usage=st.none() | usages,
        )
        | build(ToolStep, call=calls, result=st.none() | results, risk=risk, idempotent=flag)
        | build(
            DelegateStep,
            call=calls,
            child_run_id=words,
            result=st.none() | results,
            usage=st.none() | usages,
            risk=risk,
            idempotent=flag,
        )
        | build(
            ApprovalStep,
            target=words,
            call=st.none() | calls,
            risk=risk,
            decision=st.none() | decisions,
        )
        | build(FinalStep, output=json_values, usage=st.none() | usages, reason=texts)
    )


def runs(run_id: str = "run", size: int = 4) -> st.SearchStrategy[list[Step]]:
    """The journal of a run: up to `size` steps of any kind, in order."""
    return st.integers(min_value=0, max_value=size).flatmap(
        lambda length: st.tuples(*(steps(run_id, seq) for seq in range(length))).map(list)
    )
