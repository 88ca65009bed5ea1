"""Schemas that are not ours: followed as far as we say, refused where they cannot be."""

import pytest

from synaptum.errors import ConfigurationError
from synaptum.schema.problems import MismatchError
from synaptum.schema.validate import check_schema, validate
from synaptum.wording import ENGLISH


def test_a_reference_to_itself_ends_as_a_mismatch():
    with pytest.raises(MismatchError, match="too_deep"):
        validate({"$ref": "#"}, 1)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "https://example.com/schema"}, "does not stand in it"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "does not stand in it"),
        ({"type": "strnig"}, "'strnig'"),
        ({"items": {"pattern": "("}}, "cannot be read"),
        ({"enum": [float("nan")]}, "no JSON"),
    ],
)
def test_a_schema_that_cannot_be_followed_is_refused_before_use(schema, reason):
    with pytest.raises(ConfigurationError, match=reason):
        check_schema(schema, "parameters=")


def test_a_property_may_be_called_like_a_keyword():
    check_schema({"properties": {"type": {"type": "string"}, "pattern": {}}}, "x")
    validate({"properties": {"type": {"type": "string"}}}, {"type": "any word"})


def test_the_problem_names_the_path():
    with pytest.raises(MismatchError) as caught:
        validate(
            {"properties": {"a": {"items": {"minimum": 3}}}},
            {"a": [3, 2]},
        )

    assert caught.value.problem.text(ENGLISH.problems) == (
        "At $.a[1]: the rule is minimum 3, found 2."
    )


def test_both_wordings_have_a_sentence_for_the_same_problems():
    from synaptum.wording import SPANISH

    assert ENGLISH.problems.keys() == SPANISH.problems.keys()
