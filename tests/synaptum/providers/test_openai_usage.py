"""Tokens are read from every place servers put them, and never counted twice."""

import pytest

from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary import Usage

BASE = {"prompt_tokens": 300, "completion_tokens": 5, "total_tokens": 305}


def read(usage, **top):
    choice = {"message": {"content": "x"}, "finish_reason": "stop"}
    return OpenAICompatible().from_wire({"choices": [choice], "usage": usage, **top}).usage


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({}, Usage()),
        ("many", Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0)),
        ({"prompt_tokens": 120}, Usage(120)),
        (BASE, Usage(300, 5)),
        ({"input_tokens": 3, "output_tokens": 4}, Usage(3, 4)),
        ({"prompt_tokens": 3.0, "completion_tokens": "4"}, Usage(3)),
        ({"prompt_tokens": True, "completion_tokens": -1}, Usage()),
    ],
)
def test_a_count_is_a_number_zero_or_unknown(usage, expected):
    assert read(usage) == expected


@pytest.mark.parametrize(
    "extra",
    [
        {"prompt_tokens_details": {"cached_tokens": 256}},
        {"cached_tokens": 256},
        {"prompt_cache_hit_tokens": 256, "prompt_cache_miss_tokens": 44},
        {"cache_read_input_tokens": 256},
        {"num_cached_tokens": 256},
        {"prompt_cache_hit_tokens": 0, "prompt_tokens_details": {"cached_tokens": 256}},
        {"cached_tokens": 256, "prompt_tokens_details": {"cached_tokens": 256}},
        {"cached_tokens": 256, "prompt_tokens_details": None},
    ],
)
def test_cached_tokens_are_one_count_under_whatever_names(extra):
    assert read({**BASE, **extra}) == Usage(300, 5, cache_read=256)


@pytest.mark.parametrize(
    "extra",
    [
        {"completion_tokens_details": {"reasoning_tokens": 3}},
        {"reasoning_tokens": 3},
        {"completion_tokens_details": {"reasoning_tokens": None}, "reasoning_tokens": 3},
        {"completion_tokens_details": {"reasoning_tokens": 3}, "reasoning_tokens": 3},
    ],
)
def test_reasoning_tokens_are_one_count_under_whatever_names(extra):
    assert read({**BASE, **extra}) == Usage(300, 5, reasoning=3)


@pytest.mark.parametrize(
    "extra",
    [
        {"cache_creation_input_tokens": 9},
        {"prompt_tokens_details": {"cache_write_tokens": 9}},
        {"cache_creation_input_tokens": 9, "prompt_tokens_details": {"cache_write_tokens": 9}},
    ],
)
def test_tokens_written_to_the_cache_are_one_count_under_whatever_names(extra):
    assert read({**BASE, **extra}).cache_write == 9


def test_null_details_are_unknown_not_zero():
    usage = {**BASE, "prompt_tokens_details": None, "completion_tokens_details": None}

    assert read(usage) == Usage(300, 5)


def test_a_total_that_does_not_fit_its_parts_is_left_alone():
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 40}

    assert read({**usage, "completion_tokens_details": {"reasoning_tokens": 28}}) == Usage(
        10, 2, 28
    )


TIMINGS = {"prompt_n": 20, "cache_n": 80, "predicted_n": 20, "prompt_ms": 1.5}


def test_without_usage_the_timings_of_llama_cpp_give_estimated_counts():
    assert read(None, timings=TIMINGS) == Usage(100, 20, cache_read=80, estimated=True)
    assert read(None, timings={"predicted_n": 20}) == Usage(None, 20, estimated=True)
    assert read(None, timings={"prompt_ms": 1.5}) == Usage()


def test_beside_usage_the_timings_only_tell_of_the_cache():
    assert read({"prompt_tokens": 100, "completion_tokens": 20}, timings=TIMINGS) == Usage(
        100, 20, cache_read=80
    )
    assert read({**BASE, "cached_tokens": 7}, timings=TIMINGS).cache_read == 7


def test_the_cost_and_other_counts_are_kept_as_they_came():
    choice = {"message": {"content": "x"}}
    response = OpenAICompatible().from_wire(
        {"choices": [choice], "usage": {**BASE, "cost": 0.25, "x": {"y": None}}}
    )

    assert response.provider_metadata["usage"] == {**BASE, "cost": 0.25, "x": {"y": None}}
