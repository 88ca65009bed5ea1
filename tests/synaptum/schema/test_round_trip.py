"""A law: what a supported type can hold is schema-valid JSON, and comes back equal."""

import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import uuid
from typing import Literal, TypedDict

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synaptum import canonical
from synaptum.schema import schema_for
from synaptum.schema.coerce import coerce
from synaptum.schema.dump import to_plain
from synaptum.schema.problems import MismatchError
from synaptum.schema.reader import shape_of
from synaptum.schema.validate import validate


class Colour(enum.Enum):
    RED = "red"
    SEVEN = 7
    NONE = None


class Row(TypedDict, total=False):
    name: str
    counts: list[int]


@dataclasses.dataclass(frozen=True)
class Leaf:
    when: datetime.datetime
    day: datetime.date
    hour: datetime.time
    id: uuid.UUID
    amount: decimal.Decimal
    path: pathlib.Path
    word: Literal["a", 1, True]


@dataclasses.dataclass(frozen=True)
class Tree:
    colour: Colour
    ratio: float
    number: int
    note: str | None
    pair: tuple[int, str]
    labels: frozenset[str]
    row: Row
    either: int | str | bool
    leaves: tuple[Leaf, ...] = ()
    children: "tuple[Tree, ...]" = ()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
leaves = st.builds(
    Leaf,
    when=st.datetimes(timezones=st.none() | st.just(datetime.UTC)),
    day=st.dates(),
    hour=st.times(),
    id=st.uuids(),
    amount=st.decimals(allow_nan=False, allow_infinity=False),
    path=texts.filter(lambda text: "\0" not in text).map(pathlib.Path),
    word=st.sampled_from(["a", 1, True]),
)


def trees(children):
    return st.builds(
        Tree,
        colour=st.sampled_from(Colour),
        ratio=st.floats(allow_nan=False, allow_infinity=False),
        number=st.integers(),
        note=st.none() | texts,
        pair=st.tuples(st.integers(), texts),
        labels=st.frozensets(texts, max_size=3),
        row=st.fixed_dictionaries(
            {}, optional={"name": texts, "counts": st.lists(st.integers(), max_size=3)}
        ),
        either=st.integers() | texts | st.booleans(),
        leaves=st.lists(leaves, max_size=1).map(tuple),
        children=children,
    )


values = st.recursive(
    trees(st.just(())), lambda inner: trees(st.lists(inner, max_size=2).map(tuple)), max_leaves=3
)
SCHEMA = schema_for(Tree)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_itself_is_valid_json_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@given(values)
def test_any_value_of_the_type_is_schema_valid_json_and_comes_back_equal(value):
    plain = json.loads(canonical.encode(to_plain(value, sets=True)))

    VALIDATOR.validate(plain)
    validate(SCHEMA, plain)
    assert coerce(shape_of(Tree), plain) == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "name"]), inner, max_size=3)
    ),
    max_leaves=6,
)
SCHEMAS = [
    {"type": ["integer", "null"]},
    {"enum": [1, "a", None, True]},
    {"const": 1.0},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    {"type": "object", "properties": {"a": True}, "additionalProperties": False},
    {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"type": "null"}},
    {"propertyNames": {"maxLength": 1}},
    {"minProperties": 1, "maxProperties": 2},
    {"dependentRequired": {"a": ["b"]}},
    {"items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
    {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
    {"contains": {"const": 1}, "maxContains": 1},
    {"uniqueItems": True},
    {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^[a-z]"},
    {"minimum": -1, "exclusiveMaximum": 2},
    {"maximum": 1, "exclusiveMinimum": -2},
    {"multipleOf": 2},
    {"anyOf": [{"type": "integer"}, {"type": "array"}]},
    {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    {"allOf": [{"type": "integer"}, {"minimum": 0}]},
    {"not": {"type": "string"}},
    {"if": {"type": "integer"}, "then": {"minimum": 0}, "else": {"type": "string"}},
    {"$defs": {"n": {"items": {"$ref": "#/$defs/n"}, "type": "array"}}, "$ref": "#/$defs/n"},
    {"properties": {"a": False}},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: next(iter(schema)))
@settings(max_examples=30)
@given(value=json_values)
def test_our_validator_says_what_the_reference_validator_says(schema, value):
    try:
        validate(schema, value)
        ours = True
    except MismatchError:
        ours = False

    assert ours == jsonschema.Draft202012Validator(schema).is_valid(value)
