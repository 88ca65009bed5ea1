"""An exchange of a test's cassette becomes a recorded case: the question as it was asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette.format import Cassette, load_cassette
from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.corpus.case import CASE_FORMAT
from pytest_synaptum.corpus.facts import Facts, facts_of
from pytest_synaptum.corpus.importers.finding import Origin
from pytest_synaptum.corpus.importing import NewCase
from pytest_synaptum.corpus.providers import REFERENCE, load_adapter
from pytest_synaptum.corpus.reading import read_exchange
from pytest_synaptum.corpus.shows import name_of, shows
from pytest_synaptum.corpus.wire_lint import lint
from pytest_synaptum.errors import PluginError, WrongUsageError
from pytest_synaptum.exchange import CLOSED

__all__ = ["promoted"]

_PLACE: Final = re.compile(r"(?P<file>.+)#(?P<number>[1-9][0-9]*)")
_SLUG: Final = re.compile(r"[^a-z0-9_.-]+")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,79}")


def promoted(place: str, *, name: str | None, summary: str | None) -> NewCase:
    """The case that `CASSETTE#n` makes.

    Args:
        place: the cassette's path, `#`, and the exchange's number from 1.
        name: of the folder; by default after what it shows.
        summary: one sentence; by default what it shows.

    Raises:
        WrongUsageError: this names no exchange, or the name is none.
        PluginError: there is no such exchange, or none that a case can hold.
    """
    match = _PLACE.fullmatch(place)
    if match is None:
        msg = f"{place!r} names no exchange: write CASSETTE#n, such as cassettes/test_x.yaml#1"
        raise WrongUsageError(msg)
    path, number = Path(match["file"]), int(match["number"])
    cassette = load_cassette(path)
    if number > len(cassette.entries):
        msg = f"{path} holds {len(cassette.entries)} exchanges, and {number} was asked for"
        raise PluginError(msg)
    exchange = cassette.exchange(cassette.entries[number - 1])
    facts = facts_of(exchange)
    if exchange.response is None or not facts.request:
        what = "got no answer" if exchange.response is None else "asked with no JSON object"
        msg = f"{place} {what}; a case is about a question and what a server answered"
        raise PluginError(msg)
    flags = shows(facts, read_exchange(load_adapter(REFERENCE), exchange))
    folder = name or name_of(flags, facts)
    if not _NAME.fullmatch(folder):
        msg = f"--name {folder!r}: a case's name is of a-z, 0-9, _, . and -"
        raise WrongUsageError(msg)
    server, model, day = _source(cassette, facts)
    slug = _SLUG.sub("-", server.lower()).strip("-._") or "unknown"
    ask: dict[str, Any] = {"body": dict(facts.request), "stream": facts.is_stream}
    if exchange.request.path != "/v1/chat/completions":
        ask["path"] = exchange.request.path
    if exchange.response.ending == CLOSED:
        ask["close_after"] = max(len(facts.values), 1)
    broken = sorted({finding.rule.id for finding in lint(facts.request)})
    if broken:
        ask["lint"] = broken
    value = {
        "synaptum": CASE_FORMAT,
        "summary": summary or f"What a test met: {', '.join(flags)}.",
        "kind": "recorded",
        "flags": list(flags),
        "source": {"server": server, "model": model, "date": day},
        "asks": [ask],
    }
    return NewCase(
        id=f"openai_chat/{slug}/{folder}",
        text=strict_yaml.dump(value),
        evidence=dump_cassette([exchange], cassette.recorded),
        flags=flags,
        origin=Origin(file=str(path), number=number, server=server, date=day),
    )


def _source(cassette: Cassette, facts: Facts) -> tuple[str, str, str]:
    recorded = cassette.recorded
    model = recorded.get("model") or facts.first.get("model") or facts.request.get("model")
    day = (recorded.get("at") or "")[:10]
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", day):
        msg = f"{cassette.where} does not say when it was recorded; record it again first"
        raise PluginError(msg)
    return recorded.get("server") or "unknown", str(model or "unknown"), day
