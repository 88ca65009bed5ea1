"""`synaptum-corpus list`: the cases, one a line."""

from __future__ import annotations

import argparse

from pytest_synaptum.corpus.tree import add_corpus_argument, cases_below

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which cases, and how much of each."""
    add_corpus_argument(parser)
    parser.add_argument("--flag", metavar="FLAG", help="only cases that show this")
    parser.add_argument("--ids", action="store_true", help="nothing but the ids")


def run(arguments: argparse.Namespace) -> int:
    """Print them."""
    cases = [
        case
        for case in cases_below(arguments.corpus)
        if arguments.flag is None or arguments.flag in case.flags
    ]
    width = max((len(case.id) for case in cases), default=0)
    for case in cases:
        print(case.id if arguments.ids else f"{case.id:<{width}}  {case.summary}")
    return 0
