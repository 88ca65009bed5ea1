"""Limits are checked when they are written down."""

from __future__ import annotations

import pytest

from synaptum import ConfigurationError, Limits, Sampling


def test_the_defaults_are_the_documented_ones():
    limits = Limits()

    assert (limits.max_steps, limits.max_retries, limits.max_delegation_depth) == (50, 2, 3)
    assert (limits.retry_base, limits.max_retry_wait) == (0.5, 30.0)
    assert (limits.max_tool_chars, limits.invalid_calls) == (16_000, "raise")


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_steps": 0},
        {"max_steps": True},
        {"max_steps": 1.5},
        {"max_retries": -1},
        {"retry_base": -0.1},
        {"retry_base": float("nan")},
        {"retry_base": True},
        {"max_retry_wait": float("inf")},
        {"max_retry_wait": "30"},
        {"max_tool_chars": 199},
        {"max_tool_chars": 0},
        {"max_delegation_depth": -1},
        {"invalid_calls": "ignore"},
    ],
)
def test_a_value_out_of_range_is_refused_by_name(wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        Limits(**wrong)


@pytest.mark.parametrize(
    "right",
    [{"max_tool_chars": 200}, {"max_tool_chars": None}, {"max_retries": 0}, {"retry_base": 0}],
)
def test_the_edges_are_allowed(right):
    name, value = next(iter(right.items()))

    assert getattr(Limits(**right), name) == value


@pytest.mark.parametrize("kind", [set, frozenset])
def test_stop_texts_in_a_set_are_refused_because_it_has_no_order(kind):
    with pytest.raises(ConfigurationError, match=r"Sampling\.stop is a set"):
        Sampling(stop=kind(["a", "b"]))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"temperature": "hot"}, r"Sampling\(temperature='hot'\): a finite number"),
        ({"temperature": float("nan")}, r"temperature=nan"),
        ({"top_p": True}, r"top_p=True"),
        ({"max_output_tokens": 0}, r"max_output_tokens=0"),
        ({"max_output_tokens": 10.0}, r"max_output_tokens=10.0"),
        ({"stop": [1]}, r"stop=\[1\]"),
        ({"provider_options": {"seeds": {1, 2}}}, r"provider_options=...\) is no JSON object"),
        ({"provider_options": {1: 2}}, r"The key 1"),
    ],
)
def test_a_sampling_that_could_not_travel_is_refused_where_it_is_written(settings, told):
    with pytest.raises(ConfigurationError, match=told):
        Sampling(**settings)
