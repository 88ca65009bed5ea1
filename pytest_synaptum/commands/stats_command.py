"""`synaptum-corpus stats`: the cases, counted."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Final

from pytest_synaptum.commands.output import Output
from pytest_synaptum.corpus.tree import add_corpus_argument, cases_below

__all__ = ["add_arguments", "run"]

_NAMED: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of which corpus."""
    add_corpus_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the counts; the number of cases alone with --quiet."""
    out = Output(arguments)
    cases = cases_below(arguments.corpus)
    asks = [ask for case in cases for ask in case.asks]
    streamed = sum(ask.stream for ask in asks)
    missing = {
        "exchange": [case.id for case in cases if not case.exchange_path.is_file()],
        "golden": [case.id for case in cases if not case.golden_path.is_file()],
    }
    tables: dict[str, Counter[str]] = {
        "kind": Counter(case.kind for case in cases),
        "dialect and server": Counter(case.id.rpartition("/")[0] for case in cases),
        "flag": Counter(flag for case in cases for flag in case.flags),
    }
    if out.as_json:
        out.json(
            {
                "cases": len(cases),
                "exchanges": len(asks),
                "streamed": streamed,
                "without": missing,
                "by": {title: dict(_ordered(counts)) for title, counts in tables.items()},
            }
        )
        return 0
    if out.is_quiet:
        print(len(cases))
        return 0
    print(f"{len(cases)} cases, {len(asks)} exchanges, {streamed} of them streamed")
    for name, ids in missing.items():
        if ids:
            named = ", ".join(ids[:_NAMED]) + (" ..." if len(ids) > _NAMED else "")
            print(f"{len(ids)} without {name}: {named}")
    for title, counts in tables.items():
        print(f"\n{title}")
        for word, number in _ordered(counts):
            print(f"{number:>6}  {word}")
    return 0


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
