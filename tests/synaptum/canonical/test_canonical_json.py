"""Canonical JSON: the same value is the same bytes, and nothing is lost without a word."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import json_values

from synaptum import canonical
from synaptum.errors import EncodingError


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


@given(json_values)
def test_what_is_written_is_read_back_exactly(value):
    text = canonical.encode(value)

    back = canonical.decode(text)
    assert back == value
    # == takes 1, 1.0 and True for one value; the text does not.
    assert json.dumps(back, sort_keys=True) == json.dumps(value, sort_keys=True)
    assert canonical.encode(back) == text
    assert canonical.decode(text.encode("utf-8")) == value


@given(json_values)
def test_the_wire_form_is_valid_json_of_the_same_value(value):
    assert canonical.loads(canonical.wire_bytes(value)) == value


def test_keys_are_sorted_and_no_space_is_spent():
    assert canonical.encode({"b": [1, None, True], "a": "é"}) == '{"a":"é","b":[1,null,true]}'


def test_the_wire_form_keeps_the_order_it_is_given():
    assert canonical.wire_text({"b": 1, "a": 2}) == '{"b":1,"a":2}'


def test_numbers_keep_their_kind_and_every_digit():
    assert canonical.encode([1, 1.0, 2**70, 0.1, -0.0, 1e22]) == (
        "[1,1.0,1180591620717411303424,0.1,-0.0,1e+22]"
    )
    assert math.copysign(1, canonical.decode("-0.0")) == -1
    assert canonical.decode("9007199254740993") == 9007199254740993


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_has_no_form_for_is_refused_by_place(number):
    with pytest.raises(EncodingError, match=r"\$\.a\[1\]"):
        canonical.encode({"a": [0, number]})


@pytest.mark.parametrize("key", [1, 1.5, None, True, ("a",), b"a"])
def test_a_key_that_is_no_string_is_refused_not_turned_into_one(key):
    with pytest.raises(EncodingError, match=r"\$\.a"):
        canonical.encode({"a": {key: 1}})


@pytest.mark.parametrize("value", [b"x", {1, 2}, object(), 1j])
def test_a_value_of_another_kind_is_refused_by_place(value):
    with pytest.raises(EncodingError, match=r"\$\[1\]"):
        canonical.encode([0, value])


def test_an_integer_too_long_for_the_interpreter_is_refused():
    with pytest.raises(EncodingError):
        canonical.encode(10**5000)
    with pytest.raises(EncodingError):
        canonical.decode("1" + "0" * 5000)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800"])
def test_a_lone_surrogate_comes_back_as_it_was(text):
    written = canonical.encode([text, {text: 1}])

    written.encode("utf-8")
    assert canonical.decode(written) == [text, {text: 1}]


def test_a_pair_of_surrogates_as_two_code_points_is_refused():
    with pytest.raises(EncodingError, match="surrogate pair"):
        canonical.encode("\ud83d\ude00")


def test_nesting_has_a_stated_bound_for_writing_and_reading():
    assert canonical.decode(canonical.encode(nested(canonical.MAX_DEPTH))) == nested(
        canonical.MAX_DEPTH
    )
    for depth in (canonical.MAX_DEPTH + 1, 5_000):
        with pytest.raises(EncodingError, match="deep"):
            canonical.encode(nested(depth))
        with pytest.raises(EncodingError, match="deep"):
            canonical.decode("[" * depth + "1" + "]" * depth)


def test_a_value_that_holds_itself_is_refused():
    loop = []
    loop.append(loop)

    with pytest.raises(EncodingError):
        canonical.encode(loop)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{'a': 1}",
        '{"a": 1, "a": 2}',
        "NaN",
        "[Infinity]",
        "1e999",
        "[1,]",
        "1 2",
        b'"\xff"',
        b'"\xed\xa0\x80"',
        '"a"'.encode("utf-16"),
    ],
)
def test_what_we_would_not_write_is_not_read(text):
    with pytest.raises(EncodingError):
        canonical.decode(text)


def test_reading_a_server_is_lenient_about_repeated_keys_only():
    assert canonical.loads('{"a": 1, "a": 2}') == {"a": 2}
    for text in ("NaN", "[1e999]", "{", b"\xff", "[" * 100_000):
        with pytest.raises(EncodingError):
            canonical.loads(text)


def test_a_digest_is_that_of_the_canonical_text():
    assert canonical.digest({"b": 1, "a": 2}) == canonical.digest({"a": 2, "b": 1})
    assert canonical.digest({}) == (
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=4), st.randoms())
def test_the_order_in_which_keys_were_set_does_not_matter(value, random):
    names = list(value)
    random.shuffle(names)

    assert canonical.encode({name: value[name] for name in names}) == canonical.encode(value)
