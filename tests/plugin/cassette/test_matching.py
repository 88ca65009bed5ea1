"""JSON values that are the same make the same request; all others do not."""

from __future__ import annotations

import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_synaptum.cassette.format import parse_cassette
from pytest_synaptum.cassette.match import ABSENT, Matcher, body_value, differences
from pytest_synaptum.cassette.player import Player
from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.errors import CassetteMismatchError
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_synaptum.redact import Redactor


def key(body: str, matcher: Matcher | None = None) -> object:
    return (matcher or Matcher()).key("POST", "/v1/x", body_value(body.encode()))


VALUES = ["1", "1.0", "true", "null", '""', "0", "false", "[]", "{}", '"1"', "[1]"]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(VALUES, 2)))
def test_values_of_different_kinds_are_different_requests(one: str, other: str) -> None:
    assert key(f'{{"a":{one}}}') != key(f'{{"a":{other}}}')


def test_an_absent_key_is_not_a_null() -> None:
    assert key('{"a":null}') != key("{}")


def test_key_order_and_white_space_do_not_count() -> None:
    assert key('{"a":1,"b":[1, 2]}') == key('{ "b" : [1,2], "a" : 1 }')


def test_list_order_counts() -> None:
    assert key("[1,2]") != key("[2,1]")


def test_bodies_that_are_not_json_are_compared_by_byte() -> None:
    assert key("a=1&b=2") != key("b=2&a=1")
    assert key('{"a":1,"a":1}') != key('{"a":1}')


def test_the_parts_that_count_can_be_chosen() -> None:
    matcher = Matcher(parts=("method", "path"))

    assert matcher.key("POST", "/a?x=1", {"a": 1}) == matcher.key("POST", "/a?x=2", {"a": 2})
    assert matcher.key("POST", "/a", {}) != matcher.key("GET", "/a", {})


def test_a_mask_still_asks_that_something_stands_there() -> None:
    matcher = Matcher(masks=["a.*.id"])

    assert key('{"a":[{"id":1}]}', matcher) == key('{"a":[{"id":"x"}]}', matcher)
    assert key('{"a":[{"id":1}]}', matcher) != key('{"a":[{}]}', matcher)
    assert key('{"a":[{"id":1}]}', matcher) != key('{"a":[{"id":1},{"id":2}]}', matcher)


def test_a_mask_reaches_into_json_held_in_a_string() -> None:
    matcher = Matcher(masks=["arguments.at"])
    one, other = ({"arguments": json.dumps({"at": at, "n": 1})} for at in ("1", "2"))

    assert key(json.dumps(one), matcher) == key(json.dumps(other), matcher)


@pytest.mark.parametrize(
    ("body", "other"),
    [
        ('{"messages":[{},{"content":{"id":1}}]}', '{"messages":[{},{"content":{"id":2}}]}'),
        ('{"a b":{"c.d":[[1]]}}', '{"a b":{"c.d":[[2]]}}'),
        ('{"$defs":{"é":1}}', '{"$defs":{"é":2}}'),
        ("[[1],[2]]", "[[1],[3]]"),
        (r'{"\"[0]\\":1}', r'{"\"[0]\\":2}'),
    ],
)
def test_the_place_that_a_difference_names_is_a_mask(body: str, other: str) -> None:
    one, two = body_value(body.encode()), body_value(other.encode())
    ((place, _, _),) = differences(one, two)

    for mask in (place, place.removeprefix("$.") if place.startswith("$.") else place):
        matcher = Matcher(masks=[mask])
        assert key(body, matcher) == key(other, matcher), mask


@pytest.mark.parametrize("mask", ["$defs.a", "$.$defs.a", '["$defs"].a'])
def test_a_key_that_begins_with_a_dollar_is_a_key(mask: str) -> None:
    matcher = Matcher(masks=[mask])

    assert key('{"$defs":{"a":1}}', matcher) == key('{"$defs":{"a":2}}', matcher)
    assert key('{"$defs":{"b":1}}', matcher) != key('{"$defs":{"b":2}}', matcher)


def test_masking_does_not_change_the_value_it_is_given() -> None:
    value = {"a": [{"id": 1}]}

    Matcher(masks=["a.*.id"]).masked(value)

    assert value == {"a": [{"id": 1}]}


def test_differences_name_the_place_and_both_values() -> None:
    found = differences({"a": [1, {"b": True}], "c d": 1}, {"a": [1.0, {"b": 1}], "e": None})

    assert found == [
        ("$.a[0]", 1, 1.0),
        ("$.a[1].b", True, 1),
        ('$["c d"]', 1, ABSENT),
        ("$.e", ABSENT, None),
    ]


def exchange(question: str, answer: str) -> Exchange:
    return Exchange(
        request=RecordedRequest(method="POST", path="/v1/x", body=json.dumps([question]).encode()),
        response=RecordedResponse(status=200, chunks=(answer.encode(),)),
    )


def player(*exchanges: Exchange) -> Player:
    cassette = parse_cassette(dump_cassette(exchanges, {}).encode(), "c.yaml")
    return Player(cassette, Matcher(), Redactor(environ={}), test="t", command="pytest t")


def test_threads_get_each_answer_once_and_their_own() -> None:
    recorded = [exchange(f"q{n % 50}", f"a{n % 50}") for n in range(400)]
    playing = player(*recorded)
    barrier = threading.Barrier(8)

    def work(index: int) -> list[bool]:
        barrier.wait(10)
        right = []
        for n in range(50):
            question = f"q{(n + index * 7) % 50}"
            response = playing.take("POST", "/v1/x", json.dumps([question]).encode())
            assert response is not None
            right.append(response.body == question.replace("q", "a").encode())
        return right

    with ThreadPoolExecutor(8) as pool:
        assert all(itertools.chain(*pool.map(work, range(8))))
    assert playing.unused() == []


def test_what_is_not_recorded_raises_and_is_noted() -> None:
    playing = player()

    with pytest.raises(CassetteMismatchError, match="the cassette holds no exchange"):
        playing.take("POST", "/v1/x", b"{}")
    assert len(playing.mismatches) == 1
