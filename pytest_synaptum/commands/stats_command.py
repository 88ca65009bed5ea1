"""`synaptum-corpus stats`: the cases, counted."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Final

from pytest_synaptum.corpus.tree import add_corpus_argument, cases_below

__all__ = ["add_arguments", "run"]

_NAMED: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of which corpus."""
    add_corpus_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the counts."""
    cases = cases_below(arguments.corpus)
    asks = [ask for case in cases for ask in case.asks]
    streamed = sum(ask.stream for ask in asks)
    print(f"{len(cases)} cases, {len(asks)} exchanges, {streamed} of them streamed")
    for missing, name in (
        ([case.id for case in cases if not case.exchange_path.is_file()], "exchange"),
        ([case.id for case in cases if not case.golden_path.is_file()], "golden"),
    ):
        if missing:
            named = ", ".join(missing[:_NAMED]) + (" ..." if len(missing) > _NAMED else "")
            print(f"{len(missing)} without {name}: {named}")
    _table("kind", Counter(case.kind for case in cases))
    _table("dialect and server", Counter(case.id.rpartition("/")[0] for case in cases))
    _table("flag", Counter(flag for case in cases for flag in case.flags))
    return 0


def _table(title: str, counts: Counter[str]) -> None:
    print(f"\n{title}")
    for name, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"{number:>6}  {name}")
