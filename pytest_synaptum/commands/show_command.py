"""`synaptum-corpus show`: a case for a person to read, evidence and conclusions side by side."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.commands.columns import side_by_side, terminal_width
from pytest_synaptum.commands.output import Output, is_coloured
from pytest_synaptum.corpus.case import Case
from pytest_synaptum.corpus.facts import facts_of
from pytest_synaptum.corpus.flags import FLAGS_FILE, load_flags
from pytest_synaptum.corpus.tree import add_corpus_argument, case_named
from pytest_synaptum.exchange import Exchange

__all__ = ["add_arguments", "run"]

_NOTHING = "(not there yet)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which cases, and how much of each."""
    add_corpus_argument(parser)
    parser.add_argument(
        "cases",
        metavar="CASE",
        nargs="+",
        help="its id, its folder, or the end of its id; - reads them from standard input",
    )
    parser.add_argument("--brief", action="store_true", help="only what it shows, not its files")


def run(arguments: argparse.Namespace) -> int:
    """Print them; only their folders with --quiet."""
    out = Output(arguments)
    names = [
        line.strip()
        for name in arguments.cases
        for line in (sys.stdin if name == "-" else [name])
        if line.strip()
    ]
    cases = [case_named(arguments.corpus, name) for name in names]
    if out.as_json:
        out.json([_plain(case) for case in cases])
        return 0
    sentences = load_flags(arguments.corpus / FLAGS_FILE).sentences
    for case in cases:
        if out.is_quiet:
            print(case.shown_folder)
            continue
        for line in _head(case, dict(sentences)):
            print(line)
        if not arguments.brief:
            for line in _asks(case):
                print(line)
    return 0


def _head(case: Case, sentences: dict[str, str]) -> Iterator[str]:
    source = case.source
    origin = source.server or ", ".join(source.seen_at) or source.reference or "unknown"
    yield case.id
    yield f"  {case.summary}"
    yield f"  {case.kind}: {' '.join(filter(None, (origin, source.model, source.date)))}"
    if source.repository is not None:
        yield f"  from {source.repository} ({source.licence or 'licence unknown'})"
    for flag in case.flags:
        yield f"  {flag}: {sentences[flag]}"


def _asks(case: Case) -> Iterator[str]:
    coloured, width = is_coloured(sys.stdout), terminal_width()
    exchanges = _exchanges(case)
    golden = _golden(case)
    for index in range(len(case.asks)):
        exchange = exchanges[index] if index < len(exchanges) else None
        concluded = golden[index] if index < len(golden) else None
        yield ""
        yield f"ask {index + 1} of {len(case.asks)}"
        yield from side_by_side(
            [
                ("request", _request(exchange)),
                ("answer", _answer(exchange)),
                ("events", _events(concluded)),
                ("golden", _conclusion(concluded)),
            ],
            width,
            coloured=coloured,
        )


def _exchanges(case: Case) -> tuple[Exchange, ...]:
    path = case.exchange_path
    return load_cassette(path).exchanges() if path.is_file() else ()


def _golden(case: Case) -> list[Any]:
    if not case.golden_path.is_file():
        return []
    return list(strict_yaml.load_file(case.golden_path)["exchanges"])


def _request(exchange: Exchange | None) -> str:
    if exchange is None:
        return _NOTHING
    facts = facts_of(exchange)
    first = f"{exchange.request.method} {exchange.request.path}"
    return f"{first}\n{strict_yaml.dump(dict(facts.request))}" if facts.request else first


def _answer(exchange: Exchange | None) -> str:
    if exchange is None:
        return _NOTHING
    recorded = exchange.response
    if recorded is None:
        return "the connection failed"
    facts = facts_of(exchange)
    ending = f", {recorded.ending}" if recorded.ending else ""
    lines = [f"status {recorded.status}{ending}"]
    lines += [f"{name}: {value}" for name, value in recorded.headers]
    if facts.is_stream or facts.is_broken:
        lines += [line for line in recorded.body.decode("utf-8", "replace").splitlines() if line]
    else:
        lines.append(strict_yaml.dump(dict(facts.first)))
    return "\n".join(lines)


def _events(concluded: Any) -> str:
    if concluded is None:
        return _NOTHING
    events = concluded.get("events")
    if not events:
        return "(none: no stream)"
    lines = []
    for event in events:
        rest = {key: value for key, value in event.items() if key not in ("kind", "call")}
        said = " ".join(f"{key}={json.dumps(v, ensure_ascii=False)}" for key, v in rest.items())
        lines.append(f"{event['kind']} {said}".rstrip())
    return "\n".join(lines)


def _conclusion(concluded: Any) -> str:
    if concluded is None:
        return _NOTHING
    kept = {key: value for key, value in concluded.items() if key in ("response", "error")}
    return strict_yaml.dump(kept) if kept else "(nothing: the caller closed)"


def _plain(case: Case) -> dict[str, Any]:
    files = (case.folder / "case.yaml", case.exchange_path, case.golden_path)
    return {
        "id": case.id,
        "summary": case.summary,
        "kind": case.kind,
        "flags": list(case.flags),
        "folder": str(case.folder),
        **{path.stem: strict_yaml.load_file(path) if path.is_file() else None for path in files},
    }
