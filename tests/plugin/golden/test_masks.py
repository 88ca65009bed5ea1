"""Masks take the value away and leave presence and type."""

from __future__ import annotations

import pytest

from pytest_synaptum.golden.masks import MaskError, apply_masks
from pytest_synaptum.golden.paths import PathSyntaxError, parse_path, show_path


def test_a_masked_place_shows_its_type_and_the_value_is_untouched():
    value = {"choices": [{"id": "x1"}, {"id": "x2"}], "n": 1}

    masked = apply_masks(value, ["choices.*.id: <str>", "n: <number>"])

    assert masked == {"choices": [{"id": "<str>"}, {"id": "<str>"}], "n": "<number>"}
    assert value == {"choices": [{"id": "x1"}, {"id": "x2"}], "n": 1}


def test_an_id_mask_keeps_which_ids_are_the_same():
    value = {"calls": [{"id": "abc"}, {"id": "def"}], "results": [{"call": "def"}, {"call": "abc"}]}

    masked = apply_masks(value, ["calls.*.id: <id>", "results.*.call: <id>"])

    assert masked == {
        "calls": [{"id": "<id 1>"}, {"id": "<id 2>"}],
        "results": [{"call": "<id 2>"}, {"call": "<id 1>"}],
    }


def test_a_mask_that_matches_nothing_is_an_error_that_shows_what_there_is():
    with pytest.raises(MaskError, match=r"'choices\[0\]\.ID: <str>' matches nothing.*'id'"):
        apply_masks({"choices": [{"id": "x"}]}, ["choices[0].ID: <str>"])


@pytest.mark.parametrize("value", [None, 1, True, ["x"]])
def test_a_mask_over_another_type_is_an_error(value):
    with pytest.raises(MaskError, match="stands over a"):
        apply_masks({"id": value}, ["id: <str>"])


def test_a_mask_may_name_several_types():
    assert apply_masks([None, "x"], ["*: <str|null>"]) == ["<str|null>", "<str|null>"]


@pytest.mark.parametrize("text", ["id", "id: str", "id: <string>", ": <str>", "id <str>"])
def test_a_mask_that_cannot_be_read_shows_the_form(text):
    with pytest.raises(MaskError, match=r"choices\.\*\.id: <str>"):
        apply_masks({"id": "x"}, [text])


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a.b", ("a", "b")),
        ("$.a[0].b", ("a", "0", "b")),
        ("a.*.b", ("a", "*", "b")),
        ("a[*]", ("a", "*")),
        ('["a.b"].c', ("a.b", "c")),
        ('a["x y"]', ("a", "x y")),
    ],
)
def test_paths_are_read_in_every_form_they_are_printed_in(text, steps):
    assert parse_path(text) == steps


@pytest.mark.parametrize("text", ["", "$", "a..b", "a[", "a[x]", "a b"])
def test_what_is_no_path_is_refused(text):
    with pytest.raises(PathSyntaxError):
        parse_path(text)


def test_a_printed_path_can_be_typed_back():
    assert parse_path(show_path(("a", 0, "b.c"))) == ("a", "0", "b.c")
