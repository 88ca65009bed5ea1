"""The comparer that decides, and the words that describe."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_synaptum.golden.compare import Expected, same
from pytest_synaptum.golden.describe import ABSENT, Difference, describe, differences

JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.0, -0.0, 1.0, 2.5]),
        st.sampled_from(["", "1", "a"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        (1, True),
        (0, False),
        (0.0, -0.0),
        (None, ""),
        ([1], [True]),
        ({"a": None}, {}),
        ({"a": [{"b": 2}]}, {"a": [{"b": 2.0}]}),
        (["a", "a", "b"], ["a", "b", "b"]),
        ([1, 2], [2, 1]),
        ("é", "e\u0301"),
        (10**30, 10**30 + 1),
        ([float("nan")], [float("nan")]),
    ],
)
def test_values_that_json_tells_apart_are_not_the_same(left, right):
    assert not same(left, right)
    assert not same(right, left)


def test_the_order_of_keys_does_not_count():
    assert same({"a": 1, "b": [0.0]}, {"b": [0.0], "a": 1})


@given(JSON, JSON)
def test_two_values_are_the_same_exactly_when_their_sorted_json_is(left, right):
    texts = [json.dumps(value, sort_keys=True) for value in (left, right)]

    assert same(left, right) == (texts[0] == texts[1])
    assert same(left, copy.deepcopy(left))


@given(JSON, JSON)
def test_differences_are_listed_exactly_when_there_are_some(left, right):
    assert bool(differences(left, right)) == (not same(left, right))


def test_a_prepared_value_compares_many_times():
    expected = Expected({"n": 1, "list": [True, 1.5]})

    assert expected.equals({"n": 1, "list": [True, 1.5]})
    assert not expected.equals({"n": 1.0, "list": [True, 1.5]})
    assert not expected.equals({"n": 1, "list": [1, 1.5]})
    assert expected.equals({"n": 1, "list": [True, 1.5]})


def test_three_changed_types_are_three_differences():
    golden = {"stop": [1], "flags": [True], "n": [2]}
    actual = {"stop": [True], "flags": [1], "n": [2.0]}

    assert differences(golden, actual) == [
        Difference(("flags", 0), True, 1),
        Difference(("n", 0), 2, 2.0),
        Difference(("stop", 0), 1, True),
    ]


def test_null_and_absent_are_told_apart():
    assert differences({"a": None}, {}) == [Difference(("a",), None, ABSENT)]


def test_a_description_shows_path_expected_and_actual():
    assert describe({"a": [{"b": "x"}], "c d": 1}, {"a": [{"b": None}], "c d": 1.0}) == [
        "  a[0].b",
        '    expected  "x"',
        "    actual    null",
        '  ["c d"]',
        "    expected  1",
        "    actual    1.0",
    ]


def test_a_long_text_is_shown_where_it_differs():
    lines = describe({"t": "x" * 5000 + "A"}, {"t": "x" * 5000 + "B"})

    assert lines[1].endswith('xA"')
    assert lines[2].endswith('xB"')
    assert all(len(line) < 250 for line in lines)
