"""How long a server asks to wait, in each way servers write it."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptum.transport.retry_after import retry_after_s

NOW = datetime.datetime(2026, 10, 21, 7, 28, 0, tzinfo=datetime.UTC).timestamp()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        pytest.param("3", 3.0, id="seconds"),
        pytest.param(" 3 ", 3.0, id="with spaces"),
        pytest.param("0", 0.0, id="at once"),
        pytest.param("1.5", 1.5, id="a fraction"),
        pytest.param("86400", 86400.0, id="a day, as asked: capping is the caller's"),
        pytest.param("Wed, 21 Oct 2026 07:28:30 GMT", 30.0, id="an HTTP date"),
        pytest.param("Wednesday, 21-Oct-26 07:28:30 GMT", 30.0, id="the obsolete date form"),
        pytest.param("Wed, 21 Oct 2026 09:28:30 +0200", 30.0, id="a date of another zone"),
        pytest.param("Wed, 21 Oct 2026 07:27:00 GMT", 0.0, id="a date that is past"),
        pytest.param("-5", None, id="negative"),
        pytest.param("soon", None, id="a word"),
        pytest.param("", None, id="empty"),
        pytest.param("nan", None, id="not a number"),
        pytest.param("inf", None, id="infinity"),
        pytest.param("1e3", None, id="an exponent"),
        pytest.param("٣", None, id="digits of another script"),
        pytest.param("9" * 400, None, id="beyond any float"),
        pytest.param("Wed, 99 Oct 99999 99:99:99 GMT", None, id="a date that cannot be"),
    ],
)
def test_retry_after_is_read(value: str, seconds: float | None) -> None:
    assert retry_after_s([("retry-after", value)], NOW) == seconds


def test_milliseconds_come_before_seconds_whatever_the_case_of_the_names() -> None:
    assert retry_after_s([("Retry-After", "1"), ("Retry-After-Ms", "250")], NOW) == 0.25


def test_unreadable_milliseconds_leave_the_seconds() -> None:
    assert retry_after_s([("retry-after-ms", "x"), ("retry-after", "2")], NOW) == 2.0


def test_no_header_says_nothing() -> None:
    assert retry_after_s([("content-type", "text/plain")], NOW) is None


@given(st.text())
def test_no_value_raises_or_is_negative(value: str) -> None:
    seconds = retry_after_s([("retry-after", value)], NOW)

    assert seconds is None or seconds >= 0
