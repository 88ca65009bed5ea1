"""Where a model is asked: the base URL as people write it, and the URL that is called."""

from __future__ import annotations

import posixpath
import urllib.parse

from synaptum.errors import ConfigurationError

__all__ = ["endpoint_url"]


def endpoint_url(base_url: str, path: str) -> str:
    """Join a base URL and a dialect's path.

    `http://h/v1`, `http://h/v1/` and `http://h/v1/chat/completions` give the same; a query
    (`?api-version=...`) stays behind the path.

    Raises:
        ConfigurationError: no http(s) URL with a host, or one that holds credentials.
    """
    text = base_url.strip()
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port
        host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    except ValueError:  # UnicodeError is one
        parts, port, host = urllib.parse.urlsplit(""), None, ""
    if "@" in parts.netloc:
        msg = (
            "The base_url holds a user name or password, which would end up in logs: give it as"
            " headers={'authorization': ...} instead."
        )
        raise ConfigurationError(msg)
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or port == 0
        or any(character.isspace() or not character.isprintable() for character in text)
    ):
        msg = (
            f"The base_url {text.partition('?')[0]!r} is no http:// or https:// address of a"
            " server, such as 'http://localhost:8080/v1'."
        )
        raise ConfigurationError(msg)
    path = path.strip("/")
    base = parts.path.rstrip("/")
    whole = base if f"{base}/".endswith(f"/{path}/") else f"{base}/{path}"
    whole = posixpath.normpath(f"/{whole.lstrip('/')}")
    ascii_path = urllib.parse.quote(whole, safe="/%:@!$&'()*+,;=~-._")
    return urllib.parse.urlunsplit((parts.scheme, host, ascii_path, parts.query, ""))
