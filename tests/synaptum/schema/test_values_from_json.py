"""JSON read into the annotated types: strict, exact, and saying where it went wrong."""

import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from typing import Any, Literal, TypedDict

import pytest

from synaptum.schema.coerce import coerce
from synaptum.schema.problems import MismatchError, RefusedValueError
from synaptum.schema.reader import shape_of
from synaptum.wording import ENGLISH, SPANISH


class Grade(enum.Enum):
    A = "a"
    B = "b"


@dataclasses.dataclass
class X:
    i: int


@dataclasses.dataclass
class Y:
    s: str


@dataclasses.dataclass
class Box:
    xs: list[X]
    u: X | Y | None


@dataclasses.dataclass
class Even:
    n: int

    def __post_init__(self):
        if self.n % 2:
            raise ValueError("n must be even")


@dataclasses.dataclass
class Tree:
    children: "list[Tree]"


class Row(TypedDict):
    a: int


def read(annotation, value):
    return coerce(shape_of(annotation, globals()), value)


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int, 3, 3),
        (int, 3.0, 3),
        (float, 3, 3.0),
        (Any, {"kind": [1, None]}, {"kind": [1, None]}),
        (list[X], [{"i": 1}], [X(1)]),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[X, ...], [{"i": 1}], (X(1),)),
        (set[int], [1, 2], {1, 2}),
        (frozenset[str], ["a"], frozenset({"a"})),
        (dict[str, X], {"k": {"i": 1}}, {"k": X(1)}),
        (Grade, "a", Grade.A),
        (Grade | None, None, None),
        (Literal["x", 1], 1, 1),
        (Box, {"xs": [{"i": 1}], "u": {"s": "q"}}, Box([X(1)], Y("q"))),
        (Box, {"xs": [], "u": None}, Box([], None)),
        (Row, {"a": 1}, {"a": 1}),
        (datetime.date, "2026-03-24", datetime.date(2026, 3, 24)),
        (
            datetime.datetime,
            "2026-03-24T09:30:00Z",
            datetime.datetime(2026, 3, 24, 9, 30, tzinfo=datetime.UTC),
        ),
        (datetime.time, "09:30:00", datetime.time(9, 30)),
        (decimal.Decimal, "12.50", decimal.Decimal("12.50")),
        (pathlib.Path, "a/b.txt", pathlib.Path("a/b.txt")),
        (
            uuid.UUID,
            "f81d4fae-7dec-41d0-a765-00a0c91e6bf6",
            uuid.UUID("f81d4fae-7dec-41d0-a765-00a0c91e6bf6"),
        ),
        (datetime.date | str, "tomorrow", "tomorrow"),
    ],
    ids=str,
)
def test_a_fitting_value_arrives_as_its_type(annotation, value, expected):
    result = read(annotation, value)

    assert result == expected
    assert type(result) is type(expected)


def test_a_union_prefers_the_exact_type_to_a_widened_one():
    assert type(read(float | int, 3)) is int
    assert type(read(int | float, 3.0)) is float


@pytest.mark.parametrize(
    ("annotation", "value", "told"),
    [
        (int, True, "At $: expected integer, found boolean true."),
        (bool, 1, "At $: expected boolean, found integer 1."),
        (bool, "false", 'At $: expected boolean, found string "false".'),
        (int, "42", 'At $: expected integer, found string "42".'),
        (int, 3.5, "At $: expected integer, found number 3.5."),
        (float, "1.5", 'At $: expected number, found string "1.5".'),
        (str, None, "At $: expected string, found null."),
        (list[int], [1, "x"], 'At $[1]: expected integer, found string "x".'),
        (tuple[int, int], [1], "At $: expected 2 items, found 1."),
        (Grade, "zzz", 'At $: "zzz" is none of "a", "b".'),
        (Grade | None, "zzz", 'At $: "zzz" is none of "a", "b".'),
        (Literal[1], True, "At $: true is none of 1."),
        (Box, {"xs": []}, "At $: u is required and missing."),
        (X, {"i": 1, "j": 2}, "At $: there is no j; the names are: i."),
        (dict[str, X], {"k": {"i": "no"}}, 'At $.k.i: expected integer, found string "no".'),
        (X | Y, 5, "At $: expected X | Y, found integer."),
        (X | Y, {"s": 1}, "At $.s: expected string, found integer 1."),
        (X | None, {"i": None}, "At $.i: expected integer, found null."),
        (decimal.Decimal, 12.5, "At $: expected string, found number 12.5."),
    ],
    ids=str,
)
def test_a_value_of_another_shape_is_a_mismatch_that_names_the_place(annotation, value, told):
    with pytest.raises(MismatchError) as caught:
        read(annotation, value)

    assert caught.value.problem.text(ENGLISH.problems) == told


@pytest.mark.parametrize(
    ("annotation", "value", "told"),
    [
        (Even, {"n": 3}, "At $: n must be even."),
        (
            datetime.date,
            "2026-02-30",
            'At $: "2026-02-30" is no valid date; write it as 2026-03-24.',
        ),
        (datetime.date, "2026-W01-1", 'At $: "2026-W01-1" is no valid date; write it as'),
        (datetime.datetime, "2026-02-03", "is no valid date-time; write it as"),
        (decimal.Decimal, "NaN", 'At $: "NaN" is no valid decimal; write it as 12.50.'),
        (uuid.UUID, "x", 'At $: "x" is no valid uuid'),
        (set[int], [1, 1], "At $: an item stands there twice, and each may stand once."),
        (float, 2**53 + 1, "At $: 9007199254740993 has more digits than a number can keep"),
        (float, 10**400, "has more digits than a number can keep exactly."),
        (Even | None, {"n": 3}, "At $: n must be even."),
    ],
    ids=str,
)
def test_a_value_its_own_type_refuses_is_told_apart_from_a_wrong_shape(annotation, value, told):
    with pytest.raises(RefusedValueError) as caught:
        read(annotation, value)

    assert told in caught.value.problem.text(ENGLISH.problems)


def test_a_missing_optional_field_without_default_is_named_and_never_a_sentinel():
    @dataclasses.dataclass
    class Visit:
        name: str
        day: str | None

    with pytest.raises(MismatchError) as caught:
        read(Visit, {"name": "t"})

    assert caught.value.problem.text(SPANISH.problems) == "En $: falta day, que es obligatorio."


def test_a_value_nested_without_end_is_refused_not_a_recursion_error():
    value = {"children": []}
    for _ in range(400):
        value = {"children": [value]}

    with pytest.raises(MismatchError, match="too_deep"):
        read(Tree, value)
