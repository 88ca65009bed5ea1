"""The socket guard: while a test runs, nothing but loopback is reached, unless it records.

One audit hook, installed once (a hook cannot be removed) and idle when no test is guarded.
It sees what patched methods miss: the C base class, UDP, every thread. It does not see child
processes, nor libraries that open sockets in C code of their own (pycurl, libpq).

A refusal raises, and is noted with the test: clients swallow exceptions, or put another text
in their place, so the test fails at its teardown even if nobody saw the refusal.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_synaptum.errors import PluginError

__all__ = [
    "NetworkRefusedError",
    "forbidden",
    "guarded",
    "is_loopback",
    "opened",
    "refusals_of",
    "unguarded",
]


class NetworkRefusedError(PluginError, RuntimeError):
    """A test opened a socket to somewhere it may not.

    Not an `OSError`: clients retry those and hide their text.
    """


@dataclass(slots=True)
class _Guard:
    test: str
    refusals: list[str] = field(default_factory=list)
    #: How many recordings are under way; they may reach the live server.
    opened: int = 0
    #: Loopback addresses that a replay stands in for.
    forbidden: set[tuple[str, int]] = field(default_factory=set)


_REFUSALS = pytest.StashKey[list[str]]()
_lock = threading.Lock()
_installed = False
_active: _Guard | None = None


@contextlib.contextmanager
def guarded(item: pytest.Item) -> Iterator[None]:
    """Guard the sockets of this process on behalf of `item`."""
    global _active
    _install()
    guard = _Guard(test=item.nodeid)
    item.stash[_REFUSALS] = guard.refusals
    before, _active = _active, guard
    try:
        yield
    finally:
        _active = before


@contextlib.contextmanager
def unguarded() -> Iterator[None]:
    """No guard, for a test that is allowed the network."""
    global _active
    before, _active = _active, None
    try:
        yield
    finally:
        _active = before


@contextlib.contextmanager
def opened() -> Iterator[None]:
    """Let sockets through: a live server is being recorded."""
    guard = _active
    if guard is None:
        yield
        return
    with _lock:
        guard.opened += 1
    try:
        yield
    finally:
        with _lock:
            guard.opened -= 1


@contextlib.contextmanager
def forbidden(addresses: set[tuple[str, int]]) -> Iterator[None]:
    """Refuse these loopback addresses too: a replay stands in for who listens there."""
    guard = _active
    if guard is None:
        yield
        return
    before = guard.forbidden
    guard.forbidden = before | addresses
    try:
        yield
    finally:
        guard.forbidden = before


def refusals_of(item: pytest.Item) -> list[str]:
    """What was refused on behalf of `item`, as the messages that were raised."""
    return item.stash.get(_REFUSALS, [])


def _install() -> None:
    global _installed
    with _lock:
        if not _installed:
            _installed = True
            sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    guard = _active
    if guard is None or not event.startswith("socket.") or guard.opened:
        return
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        import socket

        sock, address = args[0], args[1]
        if sock.family not in {socket.AF_INET, socket.AF_INET6} or not address:
            return
        host, port = str(address[0]), int(address[1])
        if not is_loopback(host):
            _refuse(guard, f"{host}:{port}", "only loopback can be reached while not recording")
        elif (_plain(host), port) in guard.forbidden:
            _refuse(guard, f"{host}:{port}", "that server is being replayed from a cassette")
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = _text(args[0])
        if host and not _is_address(host) and not is_loopback(host):
            _refuse(guard, host, "only loopback can be reached while not recording")
    elif event in {"socket.gethostbyaddr", "socket.getnameinfo"}:
        # The name of an address: here addresses are asked for elsewhere, too.
        host = _text(args[0][0] if event == "socket.getnameinfo" else args[0])
        if not is_loopback(host) and not _is_own_name(host):
            _refuse(guard, host, "only loopback can be reached while not recording")


def _refuse(guard: _Guard, where: str, why: str) -> None:
    msg = (
        f"pytest-synaptum: {guard.test} opened a connection to {where}, but {why}; record it"
        " (recorded_provider or recorded_http, then pytest --synaptum-record), use a double"
        " (model_double), or mark the test @pytest.mark.synaptum(allow_network=True)."
    )
    guard.refusals.append(msg)
    raise NetworkRefusedError(msg)


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine."""
    name = host.rstrip(".").lower()
    if name in {"localhost", ""} or name.endswith(".localhost"):
        return True
    if not _is_address(host):
        return False
    import ipaddress

    address = ipaddress.ip_address(host.split("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or address.is_unspecified


def _is_address(host: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return False
    return True


def _text(host: Any) -> Any:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else host


def _is_own_name(host: str) -> bool:
    """Whether it is what this machine calls itself: `http.server` looks it up by itself."""
    import socket

    return host == socket.gethostname()


def _plain(host: str) -> str:
    """One spelling for every way to say this machine."""
    return "loopback" if is_loopback(host) else host
