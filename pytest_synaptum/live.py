"""The live server that a test is recorded from: which one, and whether it is there.

Every fault is one sentence that says what to do, before anything is asked or written.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pytest_synaptum.errors import PluginError
from pytest_synaptum.session import Session

__all__ = ["LiveServer", "NoServerError", "hint_for", "host_and_port", "live_server"]

#: Seconds to wait for a server to accept a connection.
_CONNECT_S = 5.0
_PORTS = {"http": 80, "https": 443}


class NoServerError(PluginError):
    """There is no live server to record from."""


@dataclass(frozen=True, slots=True)
class LiveServer:
    """Where to record from. The base URL has no slash at its end; the key is not in the repr."""

    base_url: str
    model: str | None
    api_key: str | None = field(repr=False)


def live_server(session: Session, base_url: str | None, model: str | None) -> LiveServer:
    """The server to record from, found to be there.

    Args:
        session: this run.
        base_url: what the test, its fixtures or the options say.
        model: likewise.

    Raises:
        NoServerError: none was given, or nothing answers there.
    """
    options = session.options
    if base_url is None and options.server == "local":
        return _embedded(session, model)
    if base_url is None:
        msg = (
            "There is no live server to record from: give its address with --synaptum-base-url"
            " or SYNAPTUM_BASE_URL (such as http://127.0.0.1:8080/v1), or start the embedded one"
            " with --synaptum-server=local."
        )
        raise NoServerError(msg)
    if base_url not in session.reachable:
        _check(base_url)
        session.reachable.add(base_url)
    # Clients put a path behind it, which begins with a slash.
    return LiveServer(base_url.rstrip("/"), model, options.api_key)


def hint_for(status: int, path: str, key_variable: str, *, has_key: bool) -> str | None:
    """What to do about an answer that refused the recording, where its status tells it.

    Args:
        status: of the answer.
        path: what was asked.
        key_variable: the environment variable that the key is read from.
        has_key: whether it is set.
    """
    if status in {401, 403}:
        if has_key:
            return (
                f"the live server refused the key that {key_variable} holds (status {status});"
                " correct it"
            )
        return f"the live server wants a key (status {status}) and none is set; set {key_variable}"
    if status == 404:
        return (
            f"the live server knows no {path} (status 404); check --synaptum-base-url, which"
            " usually ends in /v1, and --synaptum-model"
        )
    return None


def _embedded(session: Session, model: str | None) -> LiveServer:
    from pytest_synaptum.local_server import LocalServer

    if session.local_server is None:
        server = LocalServer(model)
        server.start()
        session.local_server = (server, server.base_url)
    server, base_url = session.local_server
    return LiveServer(base_url, server.alias, None)


def host_and_port(base_url: str, option: str) -> tuple[str, int]:
    """Where to connect for a base URL; `option` is where it came from, for the error.

    Raises:
        NoServerError: it is no address of a server.
    """
    try:
        parts = urlsplit(base_url)
        usual, port, host = _PORTS.get(parts.scheme), parts.port, parts.hostname
    except ValueError:
        usual, port, host = None, None, None
    if usual is None or not host:
        msg = (
            f"The base URL {base_url.split('?')[0]!r} is no address of a server: it begins"
            " with http:// or https:// and a host, such as http://127.0.0.1:8080/v1; correct"
            f" {option}."
        )
        raise NoServerError(msg)
    return host, port or usual


def _check(base_url: str) -> None:
    host, port = host_and_port(base_url, "--synaptum-base-url")
    try:
        socket.create_connection((host, port), timeout=_CONNECT_S).close()
    except OSError as error:
        msg = (
            f"No server answers at {urlsplit(base_url).scheme}://{host}:{port}"
            f" ({error.strerror or error}): start it, or correct --synaptum-base-url."
        )
        raise NoServerError(msg) from None
