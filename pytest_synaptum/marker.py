"""`@pytest.mark.synaptum(...)`: what a test says about its own recording.

Marks nearer to the test win, argument by argument: one on a class or module gives what the
test itself does not say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_synaptum.naming import CASSETTES, inside

__all__ = [
    "MARKER_HELP",
    "MATCH_PARTS",
    "Marker",
    "check_marks",
    "check_paths",
    "marker_of",
    "named_cassette",
]

MARKER_HELP: Final = (
    "synaptum(cassette=, base_url=, model=, match=, ignore=, allow_network=): how this test is"
    " recorded and replayed."
)
#: What of a request may count when it is matched; all of it does by default.
MATCH_PARTS: Final = ("method", "path", "query", "body")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The arguments of the marks on one test, checked.

    Attributes:
        cassette: name of the cassette inside the `cassettes` folder, instead of the test's.
        match: which of `MATCH_PARTS` count.
        ignore: paths in request bodies that do not count.
    """

    cassette: str | None = None
    base_url: str | None = None
    model: str | None = None
    match: tuple[str, ...] = MATCH_PARTS
    ignore: tuple[str, ...] = ()
    allow_network: bool = False


_ALLOWED: Final = ("cassette", "base_url", "model", "match", "ignore", "allow_network")


def marker_of(item: pytest.Item) -> Marker:
    """The marker of `item`. Raises `pytest.UsageError`, naming test, argument and choice."""
    given: dict[str, Any] = {}
    for mark in item.iter_markers("synaptum"):
        if mark.args:
            msg = (
                f"{item.nodeid}: the marker synaptum takes no positional arguments, but got"
                f" {mark.args[0]!r}; allowed are {', '.join(_ALLOWED)}, by name."
            )
            raise pytest.UsageError(msg)
        for name, value in mark.kwargs.items():
            if name not in _ALLOWED:
                msg = (
                    f"{item.nodeid}: the marker synaptum has no argument {name!r}; allowed are"
                    f" {', '.join(_ALLOWED)}."
                )
                raise pytest.UsageError(msg)
            given.setdefault(name, _checked(item, name, value))
    return Marker(**given)


def named_cassette(item: pytest.Item) -> Path | None:
    """The cassette that the marker of `item` names; None where it names none."""
    name = marker_of(item).cassette
    return None if name is None else inside(item.path.parent / CASSETTES, name)


def check_paths(paths: Iterable[str], where: str) -> None:
    """Refuse the run if one of these is no path into a request body; `where` begins the message."""
    for path in paths:
        from pytest_synaptum.golden.paths import PathSyntaxError, parse_path

        try:
            parse_path(path)
        except PathSyntaxError as error:
            msg = f"{where}: {error}"
            raise pytest.UsageError(msg) from None


def check_marks(items: Iterable[pytest.Item]) -> None:
    """Refuse the run if any mark is misspelt, its name included, before anything runs."""
    names: set[str] = set()
    for item in items:
        for mark in item.iter_markers():
            if mark.name == "synaptum":
                marker_of(item)
            elif mark.name not in names:
                names.add(mark.name)
                _check_name(item, mark.name)


def _check_name(item: pytest.Item, name: str) -> None:
    """A mark that nobody registered and that is nearly ours was meant to be ours."""
    # Two letters more, fewer or other; a mark of somebody else's is further away, or registered.
    if abs(len(name) - len("synaptum")) > 2:
        return
    from difflib import SequenceMatcher

    if SequenceMatcher(None, name, "synaptum").ratio() < 0.85:
        return
    registered = item.config.getini("markers")
    if any(line.partition(":")[0].partition("(")[0].strip() == name for line in registered):
        return
    msg = f"{item.nodeid}: there is no marker {name!r}; write @pytest.mark.synaptum(...)."
    raise pytest.UsageError(msg)


def _checked(item: pytest.Item, name: str, value: Any) -> Any:
    if name == "allow_network":
        if isinstance(value, bool):
            return value
        wanted = "True or False"
    elif name in {"match", "ignore"}:
        listed = (value,) if isinstance(value, str) else value
        wanted = "a text or a list of texts"
        if isinstance(listed, list | tuple) and all(isinstance(one, str) for one in listed):
            wrong = [one for one in listed if name == "match" and one not in MATCH_PARTS]
            if name == "match" and not listed:  # any recorded answer would do for any request
                wrong = [""]
            if not wrong:
                if name == "ignore":
                    check_paths(listed, f"{item.nodeid}: in the marker's ignore=")
                return tuple(listed)
            wanted = f"of {', '.join(MATCH_PARTS)}"
    elif isinstance(value, str) and value:
        if name == "cassette" and inside(item.path.parent / CASSETTES, value) is None:
            msg = (
                f"{item.nodeid}: cassette={value!r} is no name inside the cassettes folder; use"
                " letters, digits, - and _, and / for folders."
            )
            raise pytest.UsageError(msg)
        if name == "base_url":
            _check_base_url(item, value)
        return value
    else:
        wanted = "a text"
    msg = f"{item.nodeid}: the marker synaptum wants {name}= to be {wanted}, but got {value!r}."
    raise pytest.UsageError(msg)


def _check_base_url(item: pytest.Item, value: str) -> None:
    from pytest_synaptum.live import NoServerError, host_and_port

    try:
        host_and_port(value, "the marker's base_url=")
    except NoServerError as error:
        msg = f"{item.nodeid}: {error}"
        raise pytest.UsageError(msg) from None
