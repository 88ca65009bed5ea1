"""Names of files: legal everywhere, unique ignoring case, inside their folder, stable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_synaptum.naming import inside, safe_name

ids = [
    "foo/bar", "/foo/bar", "foo/../bar", "../../evil", "a\\b", "a:b|c?d\"e<f>", "CON", "con",
    "trailing. ", "x" * 300, "x" * 301, "", ".", "..", "niño", "nino", "A", "a", "a-b", "a b",
]  # fmt: skip


def test_ids_of_every_kind_give_different_names() -> None:
    names = [safe_name("test_x", one) for one in ids]

    assert len({name.lower() for name in names}) == len(ids)


def test_a_plain_name_stays_as_it_is() -> None:
    assert safe_name("test_weather_2") == "test_weather_2"


def test_a_name_is_the_same_in_every_run() -> None:
    assert safe_name("test_x", "a/b") == "test_x-a-b-804c3669"


def test_names_that_differ_in_capitals_are_told_apart() -> None:
    assert safe_name("test_A").lower() != safe_name("test_a").lower()


@given(st.text(min_size=1, max_size=200), st.none() | st.text(max_size=400))
def test_any_name_is_legal_on_every_system(name: str, parameters: str | None) -> None:
    made = safe_name(name, parameters)

    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", made)
    assert not made.endswith(".")
    assert len(made) <= 120
    assert not re.match(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", made, re.IGNORECASE)


@pytest.mark.parametrize(
    "name", ["../x", "/x", "a/../b", "a//b", "", "con", "a/nul.yaml", "a\\b", "x."]
)
def test_a_name_that_leaves_its_folder_is_no_name(name: str) -> None:
    assert inside(Path("cassettes"), name) is None


def test_a_name_may_have_folders() -> None:
    assert inside(Path("cassettes"), "shared/hello") == Path("cassettes/shared/hello.yaml")
    assert inside(Path("cassettes"), "hello.yaml") == Path("cassettes/hello.yaml")
