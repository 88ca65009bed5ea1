"""Findings of the readers to cases: redacted, each thing once, named after what it shows.

Contract: nothing disappears without a word: what becomes no case is a `LeftOut` with its
reason. Two exchanges show the same thing where flags, the shape of the answer and the shape
of the conclusion are the same; the first one stays. Importing twice adds nothing, since what
the corpus holds already counts.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette.format import parse_cassette
from pytest_synaptum.cassette.writing import dump_cassette, write_atomically
from pytest_synaptum.corpus.case import CASE_FILE, CASE_FORMAT
from pytest_synaptum.corpus.checking import load_exchanges
from pytest_synaptum.corpus.facts import Facts, facts_of
from pytest_synaptum.corpus.flags import FLAGS_FILE, load_flags
from pytest_synaptum.corpus.importers import Found, LeftOut, read_file
from pytest_synaptum.corpus.importers.finding import Origin
from pytest_synaptum.corpus.providers import REFERENCE, load_adapter
from pytest_synaptum.corpus.reading import Reading, conclude, read_exchange
from pytest_synaptum.corpus.sentences import SENTENCES
from pytest_synaptum.corpus.shapes import shape_of
from pytest_synaptum.corpus.shows import name_of, shows
from pytest_synaptum.corpus.tree import cases_below
from pytest_synaptum.errors import FileFormatError, SecretFoundError
from pytest_synaptum.exchange import Exchange
from pytest_synaptum.redact import Redactor

__all__ = ["Importer", "NewCase", "add_flags", "write_case"]

_DIALECT: Final = "openai_chat"
_SLUG: Final = re.compile(r"[^a-z0-9_.-]+")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MAX_SERVER: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCase:
    """A case to be written.

    Attributes:
        id: folders below the corpus.
        text: of its `case.yaml`.
        evidence: text of its `exchange.yaml`.
        flags: what it shows.
        origin: the file and place it came from.
    """

    id: str
    text: str
    evidence: str
    flags: tuple[str, ...]
    origin: Origin


class Importer:
    """Turns files into new cases of one corpus.

    Args:
        corpus: where the cases are to stand; need not be there yet.
        today: the day of the import, `2026-11-30`, for sources that do not say theirs.
        redactor: what knows the secrets.
    """

    def __init__(self, corpus: Path, today: str, redactor: Redactor | None = None) -> None:
        self._corpus = corpus
        self._today = today
        self._redactor = redactor or Redactor()
        self._dialect = load_adapter(REFERENCE)
        self._known: dict[Hashable, str] = {}
        self._taken: set[str] = set()
        if (corpus / FLAGS_FILE).is_file():
            self._learn_corpus()

    def _learn_corpus(self) -> None:
        for case in cases_below(self._corpus):
            self._taken.add(case.id)
            if case.exchange_path.is_file() and case.kind == "imported":
                for exchange in load_exchanges(case):
                    facts, reading = self._read(exchange)
                    self._known.setdefault(_signature(facts, reading), case.id)

    def _read(self, exchange: Exchange) -> tuple[Facts, Reading]:
        return facts_of(exchange), read_exchange(self._dialect, exchange)

    def cases(self, files: Iterable[Path]) -> Iterator[NewCase | LeftOut]:
        """New cases, and what becomes none, in the order of the files."""
        for file in files:
            try:
                for finding in read_file(file):
                    yield finding if isinstance(finding, LeftOut) else self._case(finding)
            except FileFormatError as error:
                yield LeftOut(file=str(file), number=None, reason=str(error))

    def _case(self, found: Found) -> NewCase | LeftOut:
        origin = found.origin

        def left_out(reason: str) -> LeftOut:
            return LeftOut(file=origin.file, number=origin.number, reason=reason)

        self._redactor.learn_exchange(found.exchange)
        exchange = self._redactor.exchange(found.exchange)
        try:
            self._redactor.scan([exchange], f"{origin.file}, exchange {origin.number},")
        except SecretFoundError as error:
            return left_out(str(error))
        facts, reading = self._read(exchange)
        signature = _signature(facts, reading)
        if signature in self._known:
            return left_out(f"it shows the same as {self._known[signature]}")
        flags = shows(facts, reading)
        evidence = dump_cassette([exchange], {"server": origin.server or "unknown"})
        try:
            # Other formats hold what ours refuses, and a case that cannot be read spoils a corpus.
            parse_cassette(evidence.encode("utf-8"), "its cassette").exchanges()
        except (FileFormatError, UnicodeEncodeError) as error:
            return left_out(f"no case can hold it: {error}")
        case_id = self._free_id(origin.server, name_of(flags, facts))
        self._known[signature] = case_id
        self._taken.add(case_id)
        return NewCase(
            id=case_id,
            text=strict_yaml.dump(self._value(facts, flags, origin)),
            evidence=evidence,
            flags=flags,
            origin=origin,
        )

    def _free_id(self, server: str | None, name: str) -> str:
        slug = _SLUG.sub("-", (server or "unknown").lower()).strip("-._")[:_MAX_SERVER]
        stem = f"{_DIALECT}/{slug or 'unknown'}/{name}"
        number = 1
        while (case_id := stem if number == 1 else f"{stem}-{number}") in self._taken:
            number += 1
        return case_id

    def _value(self, facts: Facts, flags: tuple[str, ...], origin: Origin) -> dict[str, Any]:
        model = facts.first.get("model")
        source = {
            "server": origin.server or "unknown",
            "model": model if isinstance(model, str) and model else None,
            "date": origin.date if _DAY.fullmatch(origin.date or "") else self._today,
            "repository": origin.repository,
            "licence": origin.licence,
            "capture": origin.faithful,
        }
        return {
            "synaptum": CASE_FORMAT,
            "summary": _summary(facts, flags, origin),
            "kind": "imported",
            "flags": list(flags),
            "source": {key: value for key, value in source.items() if value is not None},
            "asks": [{"stream": True} if facts.is_stream else {}],
        }


def _summary(facts: Facts, flags: tuple[str, ...], origin: Origin) -> str:
    form = f"a stream of {len(facts.values)} events" if facts.is_stream else "a body"
    told = [flag for flag in flags if flag != "stream"]
    while True:
        said = f"{origin.server or 'A server'} answers {facts.status} with {form}"
        text = f"{said}: {', '.join(told)}." if told else f"{said}."
        if len(text) <= 200 or not told:
            return text
        told.pop()


def _signature(facts: Facts, reading: Reading) -> Hashable:
    """What two exchanges that show the same thing have in common; no word of theirs counts."""
    conclusion = conclude(reading)
    kinds = tuple(event["kind"] for event in conclusion.get("events", ()))
    error = conclusion.get("error") or {}
    reason = reading.response.finish_reason if reading.response is not None else None
    return (
        facts.status,
        facts.is_stream,
        shows(facts, reading),
        _frozen(shape_of(facts.values)),
        _frozen(shape_of([conclusion.get("response")])),
        tuple(dict.fromkeys(kinds)),
        (error.get("type"), error.get("retryable")),
        reason,
    )


def _frozen(shape: dict[str, frozenset[str]]) -> Hashable:
    return frozenset(shape.items())


def write_case(corpus: Path, case: NewCase) -> Path:
    """Write a case's two files; its folder. The case comes last: a half-written one is no case."""
    folder = corpus / case.id
    write_atomically(folder / "exchange.yaml", case.evidence)
    write_atomically(folder / CASE_FILE, case.text)
    return folder


def add_flags(corpus: Path, flags: Iterable[str]) -> None:
    """Explain `flags` in the corpus' `flags.yaml`, which is made where it is missing."""
    path = corpus / FLAGS_FILE
    known: dict[str, str] = {}
    if path.is_file():
        known = dict(load_flags(path).sentences)
    missing = {flag: SENTENCES[flag] for flag in sorted(set(flags)) if flag not in known}
    if missing or not path.is_file():
        text = strict_yaml.dump({"synaptum": "flags/1", "flags": {**known, **missing}})
        write_atomically(path, text)
        load_flags.cache_clear()
