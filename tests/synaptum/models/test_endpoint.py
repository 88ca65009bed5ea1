"""Base URLs as people write them."""

from __future__ import annotations

import pytest

from synaptum.errors import ConfigurationError
from synaptum.models.endpoint import endpoint_url


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h:8080/v1", "http://h:8080/v1/chat/completions"),
        ("http://h:8080/v1/", "http://h:8080/v1/chat/completions"),
        ("http://h:8080//v1//", "http://h:8080/v1/chat/completions"),
        (" http://h/v1\n", "http://h/v1/chat/completions"),
        ("http://h", "http://h/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions/", "http://h/v1/chat/completions"),
        ("https://h/api/v1/?api-version=1", "https://h/api/v1/chat/completions?api-version=1"),
        ("http://h/mychat/completions", "http://h/mychat/completions/chat/completions"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1/chat/completions"),
        ("http://h/v1#x", "http://h/v1/chat/completions"),
        ("http://h/a%20b/ñ", "http://h/a%20b/%C3%B1/chat/completions"),
        ("https://bücher.example/v1", "https://xn--bcher-kva.example/v1/chat/completions"),
    ],
)
def test_a_base_url_and_a_path_are_joined(base: str, url: str) -> None:
    assert endpoint_url(base, "/chat/completions") == url
    assert endpoint_url(base, "chat/completions") == url


@pytest.mark.parametrize(
    "base", ["", "localhost:8080/v1", "ftp://h/v1", "http:///v1", "http://h:x/v1", "http://a b/v1"]
)
def test_what_is_no_address_is_refused(base: str) -> None:
    with pytest.raises(ConfigurationError, match=r"is no http:// or https:// address"):
        endpoint_url(base, "x")


def test_credentials_in_the_address_are_refused_and_not_shown() -> None:
    with pytest.raises(ConfigurationError, match="headers=") as caught:
        endpoint_url("https://user:hidden@h/v1", "x")

    assert "hidden" not in str(caught.value)
