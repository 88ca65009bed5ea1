"""Errors say by their type whether to ask again."""

import inspect

import pytest

from synaptum import errors
from synaptum.errors import ProviderError, SynaptumError, is_retryable_status

EVERY = [
    one
    for _, one in inspect.getmembers(errors, inspect.isclass)
    if one.__module__ == "synaptum.errors"
]


def test_every_error_has_one_root_and_is_public():
    assert all(issubclass(one, SynaptumError) for one in EVERY)
    helpers = {"is_retryable", "is_retryable_status", "words_of"}
    assert {one.__name__ for one in EVERY} | helpers == set(errors.__all__)


def test_by_default_only_the_network_is_asked_again():
    assert {one.__name__ for one in EVERY if one.retryable} == {
        "NetworkError",
        "RequestTimeoutError",
    }


@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        (200, False),
        (400, False),
        (404, False),
        (408, False),
        (429, True),
        (499, False),
        (500, True),
        (529, True),
    ],
)
def test_429_and_5xx_are_asked_again_and_other_4xx_are_not(status, retryable):
    assert is_retryable_status(status) is retryable
    assert ProviderError("x", status=status).retryable is retryable


def test_a_provider_error_may_know_better_than_its_status():
    assert not ProviderError("x", status=429, retryable=False).retryable
    assert not ProviderError("x").retryable
    assert ProviderError("x", status=503, retry_after=1.5).retry_after == 1.5


class Foreign(Exception):
    def __init__(self, retryable):
        self.retryable = retryable


class ForeignTimeout(Foreign, TimeoutError):
    pass


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (errors.NetworkError("x"), True),
        (errors.ProviderError("x", status=400), False),
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (ValueError(), False),
        (Foreign(True), True),
        (Foreign("yes"), False),
        (ForeignTimeout(False), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_says_whether_to_try_again_whoever_wrote_it(error, retryable):
    assert errors.is_retryable(error) is retryable
