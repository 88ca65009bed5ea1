"""Drift is a change of form: lost fields and other types, not other words."""

from __future__ import annotations

from pytest_synaptum.corpus.shapes import compare_shapes, shape_of


def changes(recorded: object, came: object) -> list[str]:
    return [str(change) for change in compare_shapes(shape_of([recorded]), shape_of([came]))]


def test_other_words_and_numbers_are_no_drift() -> None:
    recorded = {"choices": [{"message": {"content": "Hi"}}], "usage": {"total_tokens": 3}}
    came = {"choices": [{"message": {"content": "Bye"}}] * 2, "usage": {"total_tokens": 4.0}}

    assert changes(recorded, came) == []


def test_a_new_field_is_information_and_a_lost_one_an_error() -> None:
    found = compare_shapes(shape_of([{"a": 1, "b": 2}]), shape_of([{"b": 2, "c": {"d": 1}}]))

    assert [(str(change), change.is_error) for change in found] == [
        ("lost: a (was number)", True),
        ("new: c (object)", False),
    ]


def test_null_empty_and_absent_are_three_answers() -> None:
    assert changes({"content": None}, {"content": ""}) == ["type: content was null, came as string"]
    assert changes({"content": None}, {}) == ["lost: content (was null)"]
    assert changes({"content": ""}, {}) == ["lost: content (was string)"]


def test_what_is_inside_a_lost_object_is_not_listed_again() -> None:
    assert changes({"usage": {"a": 1, "b": {"c": 2}}}, {}) == ["lost: usage (was object)"]


def test_an_empty_list_says_nothing_of_its_elements() -> None:
    assert changes({"choices": [{"index": 0}]}, {"choices": []}) == []


def test_an_object_that_became_a_text_is_one_change() -> None:
    assert changes({"error": {"message": "no"}}, {"error": "no"}) == [
        "type: error was object, came as string"
    ]


def test_a_stream_has_one_shape_over_all_its_events() -> None:
    recorded = shape_of([{"delta": {"content": None}}, {"delta": {"content": "a"}}])
    came = shape_of([{"delta": {}}, {"delta": {"content": "a"}}])

    assert [str(change) for change in compare_shapes(recorded, came)] == [
        "type: delta.content was null or string, came as string"
    ]


def test_a_true_is_no_number_and_a_list_no_object() -> None:
    assert changes({"a": True, "b": []}, {"a": 1, "b": {}}) == [
        "type: a was boolean, came as number",
        "type: b was array, came as object",
    ]
