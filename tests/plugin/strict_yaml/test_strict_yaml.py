"""The one reader and writer of every file of the plugin."""

from __future__ import annotations

import datetime
import subprocess
import sys
import time

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_synaptum import strict_yaml
from pytest_synaptum.errors import FileFormatError
from synaptum.errors import EncodingError

INDICATORS = list("ab \n\t\r:#-?|>'\"\\,[]{}&*!%@`=~.0123eE+_<")
BREAKS = ["a", "\n", " ", "\x85", "\u2028", "\ufeff", "\x00", "é", "😀"]
AMBIGUOUS = [
    "no",
    "Yes",
    "null",
    "~",
    "1e3",
    "0x1f",
    "1_000",
    "12:30:45",
    "2026-01-02",
    "<<",
    "=",
    ".inf",
    "-",
    "---",
    "...",
    "a:",
    "y",
    "1",
    "-0",
    "0o7",
]
TEXTS = st.one_of(
    st.text(),
    st.text(alphabet=st.sampled_from(INDICATORS), max_size=12),
    st.text(alphabet=st.sampled_from(BREAKS)),
    st.sampled_from([*AMBIGUOUS, "", "a: b", "a #b", " a", "a ", "x" * 1500]),
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.integers(min_value=-(10**60), max_value=10**60),
        st.floats(allow_nan=False, allow_infinity=False),
        TEXTS,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


def typed(value: object) -> object:
    """The value with its types showing, so that 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return (type(value).__name__, repr(value))


@settings(max_examples=400)
@given(VALUES)
@example({"a": "\n\n  x\n y\n"})
@example({"a": ["\n x", " x\ny\n\n", "a\n\n\n"], "": [[], {}, [[1], "x\ny"]]})
@example({"k" * 1500: {"a": ["b\nc"]}, "j" * 1500: 1})
@example([[["a\nb\n"], {"x": " \ny"}]])
@example("a\n ")
@example("\ufeff")
@example("-0")
def test_what_was_written_is_read_back_with_every_type(value):
    assert typed(strict_yaml.load(strict_yaml.dump(value), source="x")) == typed(value)


@settings(max_examples=400)
@given(VALUES)
def test_what_was_written_means_the_same_to_every_yaml_reader(value):
    text = strict_yaml.dump(value)

    assert typed(yaml.safe_load(text)) == typed(value)
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert typed(yaml.load(text, Loader=yaml.CSafeLoader)) == typed(value)


@settings(max_examples=300)
@given(VALUES)
def test_a_value_on_one_line_is_read_back_too(value):
    text = strict_yaml.flow(value)

    assert "\n" not in text
    assert typed(strict_yaml.load(text, source="x")) == typed(value)
    assert typed(yaml.safe_load(text)) == typed(value)


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_any_text_is_a_value_or_our_own_error(text):
    try:
        strict_yaml.load(text, source="x.yaml")
    except FileFormatError as error:
        assert str(error).startswith("x.yaml")


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_our_own_error(data):
    try:
        strict_yaml.load(data, source="x.yaml")
    except FileFormatError as error:
        assert str(error).startswith("x.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("2026-01-02", "2026-01-02"),
        ("012", "012"),
        ("0o12", "0o12"),
        ("0x1f", "0x1f"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("+1", "+1"),
        ("1.", "1."),
        ("-0", "-0"),
        ("12", 12),
        ("-7", -7),
        ("1.0", 1.0),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("~", None),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ('"12"', "12"),
        ("'true'", "true"),
    ],
)
def test_a_plain_scalar_is_a_number_only_where_json_says_so(text, value):
    loaded = strict_yaml.load(f"a: {text}\n", source="x")["a"]

    assert (type(loaded), loaded) == (type(value), value)


def test_an_empty_value_is_null_and_an_empty_file_too():
    assert strict_yaml.load("a:\nb: 1\n", source="x") == {"a": None, "b": 1}
    assert strict_yaml.load("", source="x") is None


def test_a_file_with_windows_line_ends_and_a_mark_reads_as_the_same_value():
    data = "\ufefftext: |\r\n  a\r\n  b\r\n".encode()

    assert strict_yaml.load(data, source="x") == {"text": "a\nb\n"}


def test_a_carriage_return_in_a_value_survives_and_stays_apart_from_a_line_break():
    assert strict_yaml.load(strict_yaml.dump({"t": "a\r\nb"}), source="x") == {"t": "a\r\nb"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: !!python/object/apply:os.system ['true']\n", 2, "tags"),
        ("a: !x 1\n", 1, "tags"),
        ("a: &x 1\nb: *x\n", 2, "aliases"),
        ("a: 1\na: 2\n", 2, "'a' stands here twice"),
        ("a:\n  <<: {b: 1}\n", 2, "merge keys"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("1: a\n", 1, "not text"),
        ("? [a]\n: b\n", 1, "a key is a list or a mapping; write it"),
        ("a: 1e999\n", 1, "too large"),
        ("a: [1, 2\n", 2, "not YAML"),
        ("a: 1\n\tb: 2\n", 2, "not YAML"),
        ("a: " + "9" * 5000 + "\n", 1, "more digits"),
    ],
)
def test_what_is_not_ours_is_refused_with_file_line_and_cause(text, line, words):
    with pytest.raises(FileFormatError) as caught:
        strict_yaml.load(text, source="dir/x.yaml")

    assert str(caught.value).startswith(f"dir/x.yaml, line {line}: ")
    assert words in str(caught.value)


def test_nul_and_wrong_utf8_are_refused():
    with pytest.raises(FileFormatError, match=r"x\.yaml.*not YAML"):
        strict_yaml.load("a: b\x00c\n", source="x.yaml")
    with pytest.raises(FileFormatError, match=r"x\.yaml, line 2: byte 8 is not UTF-8"):
        strict_yaml.load(b"a: 1\nb: \xff\n", source="x.yaml")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_quickly(opening):
    began = time.perf_counter()

    with pytest.raises(FileFormatError):
        strict_yaml.load(opening * 50_000, source="x.yaml")

    assert time.perf_counter() - began < 10


def test_aliases_that_explode_are_refused_before_they_grow():
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]

    with pytest.raises(FileFormatError, match="line 2: aliases"):
        strict_yaml.load("\n".join(lines), source="x.yaml")


def test_a_file_beyond_the_limit_is_refused_without_being_read(tmp_path):
    path = tmp_path / "big.yaml"
    with path.open("wb") as file:
        file.truncate(strict_yaml.MAX_BYTES + 1)

    with pytest.raises(FileFormatError, match=r"big\.yaml has 67,108,865 bytes"):
        strict_yaml.load_file(path)


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    first = strict_yaml.load_file(path)
    path.write_text("a: 2\n", encoding="utf-8")

    assert (first, strict_yaml.load_file(path)) == ({"a": 1}, {"a": 2})


def test_the_layout_is_for_people():
    value = {
        "synaptum": "golden/1",
        "text": "two\nlines\n",
        "list": [{"a": 1, "b": []}, [True, None], "no"],
        "empty": {},
        "arguments": '{"city": "Oslo"}',
        "url": "http://127.0.0.1/v1",
        "at": "2026-11-30T12:00:00Z",
    }

    assert strict_yaml.dump(value) == (
        "synaptum: golden/1\n"
        "text: |\n"
        "  two\n"
        "  lines\n"
        "list:\n"
        "- a: 1\n"
        "  b: []\n"
        "- - true\n"
        "  - null\n"
        '- "no"\n'
        "empty: {}\n"
        'arguments: \'{"city": "Oslo"}\'\n'
        "url: http://127.0.0.1/v1\n"
        'at: "2026-11-30T12:00:00Z"\n'
    )


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [float("nan")]}, r"\$\.a\[0\]"),
        ({"a": float("inf")}, r"\$\.a"),
        ({"a": {1: 2}}, r"\$\.a"),
        ({"a": datetime.date(2026, 1, 2)}, r"\$\.a is a date"),
        ({"a": {1}}, r"\$\.a is a set"),
    ],
)
def test_what_json_has_no_form_for_is_refused_with_its_path(value, path):
    with pytest.raises(EncodingError, match=path):
        strict_yaml.dump(value)


IMPORTED_ANEW = """
import sys
import yaml
for name in [name for name in sys.modules if name.partition(".")[0] in {"yaml", "_yaml"}]:
    del sys.modules[name]
from pytest_synaptum import strict_yaml
from pytest_synaptum.errors import FileFormatError
assert strict_yaml.load("a: [1, x]", source="f") == {"a": [1, "x"]}
try:
    strict_yaml.load("a: [", source="f")
except FileFormatError as error:
    print(error)
"""


def test_a_yaml_that_was_imported_twice_in_one_process_is_read_all_the_same():
    # As under pytester, which forgets what an inner run imported.
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED_ANEW],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.startswith("f, line 1: this is not YAML that we can read"), done.stderr
