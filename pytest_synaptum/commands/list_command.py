"""`synaptum-corpus list`: the cases, one a line."""

from __future__ import annotations

import argparse

from pytest_synaptum.commands.output import Output
from pytest_synaptum.corpus.flags import FLAGS_FILE, load_flags
from pytest_synaptum.corpus.tree import add_corpus_argument, cases_below
from pytest_synaptum.errors import WrongUsageError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which cases."""
    add_corpus_argument(parser)
    parser.add_argument("--flag", metavar="FLAG", help="only cases that show this")
    parser.add_argument("--kind", choices=("recorded", "derived", "imported"), help="only these")


def run(arguments: argparse.Namespace) -> int:
    """Print them; nothing but the ids with --quiet."""
    out = Output(arguments)
    cases = cases_below(arguments.corpus)
    if arguments.flag is not None:
        flags = load_flags(arguments.corpus / FLAGS_FILE)
        if arguments.flag not in flags.sentences:
            near = ", ".join(flags.near(arguments.flag))
            msg = f"the flag {arguments.flag!r} is not in {flags.path}; near it are {near}"
            raise WrongUsageError(msg)
    cases = [
        case
        for case in cases
        if (arguments.flag is None or arguments.flag in case.flags)
        and (arguments.kind is None or arguments.kind == case.kind)
    ]
    if out.as_json:
        out.json(
            [
                {"id": c.id, "summary": c.summary, "kind": c.kind, "flags": list(c.flags)}
                for c in cases
            ]
        )
        return 0
    width = max((len(case.id) for case in cases), default=0)
    for case in cases:
        print(case.id if out.is_quiet else f"{case.id:<{width}}  {case.summary}")
    return 0
