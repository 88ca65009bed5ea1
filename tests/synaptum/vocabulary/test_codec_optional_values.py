"""Optional values are read by their type, also where that type has a field called kind."""

from synaptum.vocabulary import Message, Request, ResponseFormat
from synaptum.vocabulary.codec import from_json, to_json


def test_an_optional_value_with_a_field_called_kind_round_trips() -> None:
    request = Request("m", (Message.user("Hi"),), response_format=ResponseFormat("json_object"))

    assert from_json(Request, to_json(request)) == request
