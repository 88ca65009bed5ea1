"""What a model is told of a function's parameters."""

import dataclasses
import datetime
import decimal
import enum
import functools
import json
import pathlib
import subprocess
import sys
import typing
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, Required, TypedDict

import pytest

from synaptum.errors import ConfigurationError
from synaptum.schema import json_schema_for, schema_for
from synaptum.tools import tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    """A place on the map."""

    x: int
    y: int = 0


@dataclasses.dataclass
class Tree:
    value: int
    children: "list[Tree]" = dataclasses.field(default_factory=list)


class Movie(TypedDict, total=False):
    title: Required[str]
    year: int


@dataclasses.dataclass
class Note:
    """An object with a description, such as another library's."""

    description: str


def test_the_whole_schema_of_a_plain_function_keeps_the_order_of_its_parameters():
    def count_lines(
        file: Annotated[str, "Path from the project's root"], most: int = 100
    ) -> str: ...

    assert json.dumps(json_schema_for(count_lines)) == (
        '{"type": "object", "properties": {"file": {"type": "string", "description": '
        '"Path from the project\'s root"}, "most": {"type": "integer", "default": 100}}, '
        '"required": ["file"], "additionalProperties": false}'
    )


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[int], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (frozenset[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (tuple[()], {"type": "array", "minItems": 0, "maxItems": 0}),
        (dict, {"type": "object", "additionalProperties": {}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Mapping[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Literal["tea", "coffee"], {"type": "string", "enum": ["tea", "coffee"]}),
        (Literal[2, 1], {"type": "integer", "enum": [2, 1]}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (Literal[Colour.BLUE], {"type": "string", "enum": ["blue"]}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (datetime.date, {"type": "string", "format": "date"}),
        (datetime.time, {"type": "string", "format": "time"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (decimal.Decimal, {"type": "string", "format": "decimal"}),
        (pathlib.Path, {"type": "string", "format": "path"}),
        (NewType("Id", int), {"type": "integer"}),
        (Annotated[int, Note("How many")], {"type": "integer", "description": "How many"}),
        (Annotated[int, object()], {"type": "integer"}),
    ],
)
def test_a_type_has_this_schema(annotation, schema):
    assert schema_for(annotation) == schema


def test_a_dataclass_parameter_stands_under_defs_with_its_docstring():
    def go(to: Point) -> str: ...

    schema = json_schema_for(go)

    assert schema["properties"] == {"to": {"$ref": "#/$defs/Point"}}
    assert schema["$defs"] == {
        "Point": {
            "type": "object",
            "description": "A place on the map.",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
            "required": ["x"],
            "additionalProperties": False,
        }
    }


def test_a_recursive_dataclass_refers_to_itself():
    schema = schema_for(Tree)

    assert schema["properties"]["children"] == {
        "type": "array",
        "items": {"$ref": "#/$defs/Tree"},
    }
    assert schema["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}


def test_a_docstring_written_by_dataclass_itself_is_no_description():
    assert "description" not in schema_for(Tree)


def test_two_types_of_one_name_are_two_definitions():
    def first():
        @dataclasses.dataclass
        class Same:
            a: int

        return Same

    def second():
        @dataclasses.dataclass
        class Same:
            b: str

        return Same

    schema = schema_for(tuple[first(), second()])

    assert [item["$ref"] for item in schema["prefixItems"]] == ["#/$defs/Same", "#/$defs/Same_2"]
    assert list(schema["$defs"]["Same_2"]["properties"]) == ["b"]


def test_a_typed_dict_tells_required_from_not_required():
    schema = schema_for(Movie)

    assert schema["required"] == ["title"]
    assert list(schema["properties"]) == ["title", "year"]


def test_a_dataclass_field_may_carry_its_description_in_the_metadata():
    @dataclasses.dataclass
    class Order:
        amount: float = dataclasses.field(metadata={"description": "In euros"})

    assert schema_for(Order)["properties"]["amount"] == {
        "type": "number",
        "description": "In euros",
    }


def test_fields_that_init_does_not_take_are_not_asked_for():
    @dataclasses.dataclass
    class Order:
        amount: float
        total: float = dataclasses.field(init=False, default=0.0)

    assert list(schema_for(Order)["properties"]) == ["amount"]


def test_a_required_keyword_only_parameter_after_a_default_stays_in_order():
    def search(limit: int = 5, *, query: str) -> str: ...

    schema = json_schema_for(search)

    assert list(schema["properties"]) == ["limit", "query"]
    assert schema["required"] == ["query"]


def test_a_default_is_told_by_identity_because_an_array_has_no_boolean_equality():
    class Array(list):
        def __eq__(self, other):
            return [True]

        __hash__ = None

    def f(x: list = Array()) -> str: ...  # noqa: B008

    assert json_schema_for(f)["required"] == []


def test_a_default_that_json_cannot_express_makes_optional_and_is_not_shown():
    def f(x: Any = object()) -> str: ...  # noqa: B008

    assert json_schema_for(f) == {
        "type": "object",
        "properties": {"x": {}},
        "required": [],
        "additionalProperties": False,
    }


def test_defaults_are_shown_as_the_json_a_model_would_write():
    def f(
        c: Colour = Colour.RED,
        d: datetime.date = datetime.date(2026, 3, 24),
        p: Point = Point(1, 2),  # noqa: B008
        s: frozenset[str] = frozenset({"b", "a"}),
    ) -> str: ...

    properties = json_schema_for(f)["properties"]

    assert [properties[name]["default"] for name in "cdps"] == [
        "red",
        "2026-03-24",
        {"x": 1, "y": 2},
        ["a", "b"],
    ]


def test_string_annotations_give_the_same_schema_as_real_ones():
    space = {"Annotated": Annotated, "Point": Point}
    exec(
        "from __future__ import annotations\n"
        "def f(a: int, b: list[str] | None = None, c: Annotated[Point, 'Where'] = None): ...",
        space,
    )

    def f(a: int, b: list[str] | None = None, c: Annotated[Point, "Where"] = None): ...

    assert json_schema_for(space["f"]) == json_schema_for(f)


def test_string_annotations_may_name_types_local_to_a_function():
    @dataclasses.dataclass
    class Node:
        value: int
        following: "Node | None" = None

    def walk(start: "Node") -> str: ...

    schema = json_schema_for(walk)

    assert schema["$defs"]["Node"]["properties"]["following"] == {
        "anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}],
        "default": None,
    }


def test_not_required_inside_string_annotations_is_understood():
    space = {}
    exec(
        "from __future__ import annotations\n"
        "from typing import TypedDict, NotRequired\n"
        "class Row(TypedDict):\n    a: int\n    b: NotRequired[int]\n",
        space,
    )

    assert schema_for(space["Row"])["required"] == ["a"]
    assert NotRequired is not None


def test_a_bound_method_has_no_self():
    class Desk:
        def find(self, query: str) -> str: ...

    assert list(json_schema_for(Desk().find)["properties"]) == ["query"]
    assert list(json_schema_for(Desk.find)["properties"]) == ["query"]


def test_a_tool_has_the_schema_of_its_function():
    def find(query: str) -> str: ...

    assert json_schema_for(tool(find)) == json_schema_for(find)


def test_what_a_partial_binds_is_never_shown():
    def weather(key: str, city: str, unit: str = "C") -> str: ...

    assert list(json_schema_for(functools.partial(weather, "k"))["properties"]) == ["city", "unit"]
    schema = json_schema_for(functools.partial(weather, key="s3cret"))
    assert list(schema["properties"]) == ["city", "unit"]
    assert "s3cret" not in json.dumps(schema)


def test_a_type_alias_statement_may_recur():
    if sys.version_info < (3, 12):
        pytest.skip("`type` statements came with Python 3.12")
    space: dict[str, Any] = {}
    exec("type Json = dict[str, Json] | int", space)

    assert schema_for(space["Json"])["$defs"]["Json"]["anyOf"][0] == {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Json"},
    }


class _NamedPair(typing.NamedTuple):
    a: int


class _Bits(enum.Flag):
    A = 1


class _Twins(enum.Enum):
    ONE = 1
    SAME = 1.5
    OTHER = (1, 2)


def _star(*values: int): ...
def _stars(a: int, **options): ...
def _positional(a: int, /): ...
def _bare(a): ...
def _object(a: object): ...
def _set_of_keys(a: dict[int, str]): ...
def _bytes(a: list[bytes]): ...
def _complex(a: int | complex): ...
def _named(a: _NamedPair): ...
def _flag(a: _Bits): ...
def _twins(a: _Twins): ...
def _unknown(a: "Nowhere"): ...  # noqa: F821
def _twice(a: Literal[1, True]): ...


@pytest.mark.parametrize(
    ("function", "parameter", "reason"),
    [
        (_star, "*values", "no fixed names"),
        (_stars, "**options", "no fixed names"),
        (_positional, "'a'", "positional-only"),
        (_bare, "'a'", "no annotation"),
        (_object, "'a'", "object has no JSON form"),
        (_set_of_keys, "'a'", "the keys must be str"),
        (_bytes, "'a'", "bytes has no JSON form"),
        (_complex, "'a'", "complex has no JSON form"),
        (_named, "'a'", "_NamedPair has no JSON form"),
        (_flag, "'a'", "is a Flag"),
        (_twins, "'a'", "(1, 2) is a tuple"),
        (_unknown, "'a'", "'Nowhere' is not known"),
    ],
)
def test_what_cannot_be_told_is_refused_naming_the_parameter(function, parameter, reason):
    with pytest.raises(ConfigurationError) as caught:
        json_schema_for(function)

    assert parameter in str(caught.value)
    assert reason in str(caught.value)


def test_one_and_true_are_two_choices():
    assert json_schema_for(_twice)["properties"]["a"] == {"enum": [1, True]}


def test_an_untranslatable_field_deep_inside_is_named_with_its_class():
    @dataclasses.dataclass
    class Inner:
        blob: bytes

    @dataclasses.dataclass
    class Outer:
        inner: Inner

    with pytest.raises(ConfigurationError, match=r"Outer\.inner: .*Inner\.blob: bytes"):
        schema_for(Outer)


def test_the_schema_is_the_same_bytes_in_every_process():
    code = (
        "import json\n"
        "from synaptum import schema\n"
        "def f(a: frozenset[str] = frozenset('qwertzuiop'), b: dict[str, int] | None = None): ...\n"
        "print(json.dumps(schema.json_schema_for(f)))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(outputs) == 1
