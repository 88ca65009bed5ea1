"""Whether two requests, or two events, are the same, at a cost that does not grow with the run.

A conversation of n turns makes n requests of up to 2n messages. Compared whole, the requests of
every stopped run of every boundary would be n cubed messages. But a request grows from the one
before, so within one run only what is new is looked at.

The bytes are those of the wire: the order of keys counts, as it does for a server's cache.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from typing import Any, Final, cast

from pytest_synaptum.resume.world import World
from synaptum import canonical
from synaptum.journal.encoding import same
from synaptum.vocabulary import History, Message, Phase, Request, Risk, Step
from synaptum.vocabulary.codec import are_identical, to_json

__all__ = ["RequestComparer", "Texts", "stored_form", "wire_form"]

_FIELDS: Final = tuple(field.name for field in fields(Request) if field.name != "messages")

#: Types whose equal values are the same JSON.
_ATOMS: Final = frozenset({str, int, bool, type(None), Phase, Risk})


def wire_form(value: Any) -> str:
    """The JSON of a vocabulary value in the order in which its keys travel."""
    return canonical.wire_text(to_json(value))


def stored_form(value: Any) -> str:
    """The canonical JSON of a vocabulary value, as a journal holds it."""
    return canonical.encode(to_json(value))


class Texts:
    """The texts of messages that stay, each made once."""

    def __init__(self, form: Callable[[Any], str]) -> None:
        self.form = form
        self._known: dict[int, tuple[Message, str]] = {}

    def of(self, message: Message) -> str:
        """The text of a message, which is kept alive for it."""
        known = self._known.get(id(message))
        if known is None:
            known = self._known[id(message)] = (message, self.form(message))
        return known[1]


@functools.cache
def _parts(kind: Hashable) -> tuple[str, ...]:
    return tuple(one.name for one in fields(cast("Any", kind)) if one.name not in {"run_id", "at"})


class RequestComparer:
    """Compares the requests of one passage with those of the straight run.

    Args:
        texts: the texts of the straight run's messages, in the form that counts: `wire_form`,
            or `stored_form` where requests come from a journal, which sorts keys.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._form = texts.form
        self._verified: dict[str, tuple[Sequence[Message], Sequence[Message]]] = {}
        self._same: dict[str, tuple[Any, Any]] = {}

    def are_same(self, run: str, expected: Request, came: Request) -> bool:
        """Whether `came`, the next request of `run`, has the bytes of `expected`."""
        if len(expected.messages) != len(came.messages):
            return False
        if not all(
            self._same_field(name, getattr(expected, name), getattr(came, name)) for name in _FIELDS
        ):
            return False
        start = self._known(run, expected.messages, came.messages)
        for place in range(start, len(came.messages)):
            left, right = expected.messages[place], came.messages[place]
            if not are_identical(left, right) and self._texts.of(left) != self._form(right):
                return False
        self._verified[run] = (expected.messages, came.messages)
        return True

    def _same_field(self, name: str, expected: Any, came: Any) -> bool:
        if expected is came:
            return True
        known = self._same.get(name)
        if known is not None and known[0] is expected and known[1] is came:
            return True
        if not are_identical(expected, came) and (
            expected != came or self._form(expected) != self._form(came)
        ):
            return False
        self._same[name] = (expected, came)
        return True

    def are_same_events(self, run: str, expected: Step, came: Step, world: World) -> bool:
        """Whether `came`, the next event of `run`, is `expected` apart from its time."""
        if type(expected) is not type(came):
            return False
        return all(
            self._same_part(run, name, getattr(expected, name), getattr(came, name), world)
            for name in _parts(cast("Hashable", type(came)))
        )

    def _same_part(self, run: str, name: str, expected: Any, came: Any, world: World) -> bool:
        if isinstance(expected, Request) and isinstance(came, Request):
            return expected is came or self.are_same(run, expected, came)
        if name == "child_run_id":
            return bool(world.suffix(expected) == world.suffix(came))
        if expected is came or (type(came) in _ATOMS and type(expected) is type(came)):
            return bool(expected == came)
        if name == "meta" and "child_run_id" in came:
            ours = world.suffix(came["child_run_id"])
            theirs = world.suffix(expected.get("child_run_id", ""))
            return ours == theirs and same(
                {**expected, "child_run_id": ""}, {**came, "child_run_id": ""}
            )
        return same(expected, came)

    def _known(self, run: str, *both: Sequence[Message]) -> int:
        """How many messages stand in both requests as they stood in the pair before."""
        before = self._verified.get(run)
        if before is None:
            return 0
        return min(_shared(old, new) for old, new in zip(before, both, strict=True))


def _shared(old: Sequence[Message], new: Sequence[Message]) -> int:
    """How many messages both begin with, as far as that is known without reading them."""
    if isinstance(old, History) and isinstance(new, History) and old.shares_storage_with(new):
        return min(len(old), len(new))
    return 0
