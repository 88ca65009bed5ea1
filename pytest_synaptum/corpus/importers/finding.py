"""What a reader finds in a file: an exchange with its origin, or the reason to leave one out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pytest_synaptum.exchange import Exchange

__all__ = ["CHAT_SUFFIX", "Finding", "Found", "LeftOut", "Origin"]

#: The one resource the corpus is about, at whatever prefix a server puts it.
CHAT_SUFFIX: Final = "/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an imported exchange comes from.

    Attributes:
        file: the file it was read from.
        number: its place in that file, from 1.
        server: who answered, as far as the file says: a kind of server, or a host.
        licence: the licence of the source, where the file says.
        repository: the public repository and path it was taken from, where the file says.
        date: the day it was recorded, `2026-11-30`, where the file says.
        faithful: how true to the wire the file is (`raw`, or what was re-written).
    """

    file: str
    number: int
    server: str | None = None
    licence: str | None = None
    repository: str | None = None
    date: str | None = None
    faithful: str = "raw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An exchange and its origin. The request is None where the file holds the answer alone."""

    exchange: Exchange
    origin: Origin
    has_request: bool = True
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Something in a file that is not imported, and why, in a sentence."""

    file: str
    number: int | None
    reason: str


Finding = Found | LeftOut
