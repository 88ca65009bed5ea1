"""`synaptum-corpus index`: write the list of all cases."""

from __future__ import annotations

import argparse

from pytest_synaptum.commands.output import Output
from pytest_synaptum.corpus.index import INDEX_FILE, index_problems, write_index
from pytest_synaptum.corpus.tree import add_corpus_argument, cases_below

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of which corpus."""
    add_corpus_argument(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what is not true any more")


def run(arguments: argparse.Namespace) -> int:
    """Write it, where it is not there or not true."""
    out = Output(arguments)
    cases = cases_below(arguments.corpus)
    path = arguments.corpus / INDEX_FILE
    if arguments.dry_run:
        problems = list(index_problems(arguments.corpus, cases))
        if not path.is_file():
            problems = [f"{path} is not there"]
        changed = bool(problems)
    else:
        problems = []
        changed = write_index(arguments.corpus, cases)
    if out.as_json:
        out.json({"path": str(path), "cases": len(cases), "changed": changed})
    elif out.is_quiet:
        print(path)
    else:
        for problem in problems:
            print(problem)
        state = ("would change" if arguments.dry_run else "written") if changed else "is true"
        print(f"{path}: {len(cases)} cases, {state}")
    return 0
