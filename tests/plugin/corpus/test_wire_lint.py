"""The wire lint: what no server takes, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.corpus.case import load_case
from pytest_synaptum.corpus.flags import find_flags
from pytest_synaptum.corpus.wire_lint import RULES, lint, report

USER = {"role": "user", "content": "Hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}


def broken(*messages, **body):
    return [(one.rule.id, one.pointer) for one in lint({"messages": list(messages), **body})]


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([], [("no-messages", "/messages")]),
        ([{"role": "robot", "content": "x"}], [("unknown-role", "/messages/0/role")]),
        ([USER, {"role": "assistant", "content": None}], [("null-content", "/messages/1/content")]),
        ([USER, {"role": "assistant"}], [("null-content", "/messages/1/content")]),
        ([{"role": "user", "content": None}], [("null-content", "/messages/0/content")]),
        ([USER, RESULT], [("result-without-call", "/messages/1/tool_call_id")]),
        ([USER, CALLS, RESULT, RESULT], [("result-without-call", "/messages/3/tool_call_id")]),
        ([USER, CALLS, USER], [("call-without-result", "/messages/1/tool_calls/0")]),
        ([USER, CALLS], [("call-without-result", "/messages/1/tool_calls/0")]),
        (
            [USER, {"role": "assistant", "content": "x", "tool_calls": []}],
            [("empty-tool-calls", "/messages/1/tool_calls")],
        ),
    ],
)
def test_a_broken_rule_is_found_at_its_place(messages, found):
    assert broken(*messages) == found


@pytest.mark.parametrize("arguments", [{"a": 1}, None, "", '{"a":', "none"])
def test_arguments_that_are_no_json_text_are_found(arguments):
    call = {**CALL, "function": {"name": "f", "arguments": arguments}}

    assert broken(USER, {**CALLS, "tool_calls": [call]}, RESULT) == [
        ("arguments-not-json-text", "/messages/1/tool_calls/0/function/arguments")
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [({"a": 1}, "an object"), ([], "an array"), (7, "a number"), (None, "absent, or null")],
)
def test_arguments_that_are_no_text_are_told_in_words_of_json(arguments, told):
    call = {**CALL, "function": {"name": "f", "arguments": arguments}}
    (found,) = lint({"messages": [USER, {**CALLS, "tool_calls": [call]}, RESULT]})

    assert f"It is {told}." in str(found)


def test_empty_tools_and_a_choice_without_tools_are_found():
    assert broken(USER, tools=[]) == [("empty-tools", "/tools")]
    assert broken(USER, tool_choice="auto") == [("tool-choice-without-tools", "/tool_choice")]


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [USER, {"role": "assistant", "content": ""}, USER],
        [USER, CALLS, RESULT],
        [USER, {**CALLS, "content": ""}, RESULT, {"role": "assistant", "content": "done"}],
        [{"role": "system", "content": "Be brief."}, {"role": "developer", "content": "x"}, USER],
        [USER, {"role": "assistant", "content": None, "refusal": "No."}, USER],
        [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
    ],
)
def test_what_servers_take_is_left_alone(messages):
    assert broken(*messages) == []


@pytest.mark.parametrize("body", [{}, {"input": "x"}, {"messages": "x"}, [], None, "x"])
def test_what_is_no_chat_request_is_not_judged(body):
    assert lint(body) == []


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(["role", "content", "tool_calls", "function", "arguments", "id"]),
                inner,
                max_size=4,
            ),
        ),
        max_leaves=10,
    )
)
def test_any_json_is_judged_without_a_crash(value):
    lint({"messages": [value, value], "tools": value, "tool_choice": value})


def test_every_rule_says_what_to_change_and_why_it_stands():
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.sentence.endswith(".")
        assert (rule.evidence.case is None) != (rule.evidence.reference is None)


def test_a_report_names_rule_place_and_evidence():
    text = report(lint({"messages": [{"role": "wizard", "content": "Hi"}], "tools": []}))

    assert "empty-tools at /tools: `tools` is empty; leave the key out." in text
    assert "corpus case openai_chat/vllm/empty-tools-refused" in text
    assert "unknown-role at /messages/0/role" in text
    assert "read 2026-11-30" in text


CORPUS = Path(__file__).parents[3] / "corpus"


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.evidence.case], ids=lambda r: r.id)
def test_the_evidence_of_a_rule_is_a_recorded_refusal_of_a_body_that_breaks_it(rule):
    folder = CORPUS / rule.evidence.case
    case = load_case(folder / "case.yaml", find_flags(folder / "case.yaml"))
    exchange = load_cassette(case.exchange_path).exchanges()[0]

    assert case.kind == "recorded"
    assert exchange.response.status >= 400
    assert rule.id in [finding.rule.id for finding in lint(json.loads(exchange.request.body))]


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.evidence.taken], ids=lambda r: r.id
)
def test_a_lenient_server_took_a_body_that_breaks_the_rule(rule):
    folder = CORPUS / rule.evidence.taken
    case = load_case(folder / "case.yaml", find_flags(folder / "case.yaml"))
    exchange = load_cassette(case.exchange_path).exchanges()[0]

    assert case.kind == "recorded"
    assert exchange.response.status == 200
    assert rule.id in [finding.rule.id for finding in lint(json.loads(exchange.request.body))]
