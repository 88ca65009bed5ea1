"""`synaptum-corpus show`: one case for a person to read."""

from __future__ import annotations

import argparse

from pytest_synaptum.corpus.flags import FLAGS_FILE, load_flags
from pytest_synaptum.corpus.tree import add_corpus_argument, case_named

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which case, and how much of it."""
    add_corpus_argument(parser)
    parser.add_argument("case", metavar="CASE", help="its id, its folder, or the end of its id")
    parser.add_argument("--brief", action="store_true", help="only what it shows, not its files")


def run(arguments: argparse.Namespace) -> int:
    """Print it."""
    case = case_named(arguments.corpus, arguments.case)
    sentences = load_flags(arguments.corpus / FLAGS_FILE).sentences
    source = case.source
    origin = source.server or ", ".join(source.seen_at) or source.reference or "unknown"
    print(case.id)
    print(f"  {case.summary}")
    print(f"  {case.kind}: {origin} {source.model or ''} {source.date}")
    for flag in case.flags:
        print(f"  {flag}: {sentences[flag]}")
    if arguments.brief:
        return 0
    for path in (case.folder / "case.yaml", case.exchange_path, case.golden_path):
        print(f"\n--- {path}")
        print(path.read_text(encoding="utf-8") if path.is_file() else "(not there yet)\n", end="")
    return 0
