"""`synaptum-corpus promote`: one exchange of a test's cassette becomes a case."""

from __future__ import annotations

import argparse

from pytest_synaptum.commands.output import NOT_CONFIRMED, Output, confirmed
from pytest_synaptum.corpus.importing import add_flags, write_case
from pytest_synaptum.corpus.promoting import promoted
from pytest_synaptum.corpus.tree import add_corpus_argument

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which exchange, and what the case is called."""
    add_corpus_argument(parser)
    parser.add_argument("place", metavar="CASSETTE#n", help="a cassette and an exchange, from 1")
    parser.add_argument("--name", metavar="NAME", help="of the case; default: what it shows")
    parser.add_argument("--summary", metavar="SENTENCE", help="what it shows, in one sentence")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written")
    parser.add_argument("--yes", action="store_true", help="replace a case of that name")


def run(arguments: argparse.Namespace) -> int:
    """Write the case and its evidence; the golden comes of an update, after a look."""
    out = Output(arguments)
    case = promoted(arguments.place, name=arguments.name, summary=arguments.summary)
    folder = arguments.corpus / case.id
    path = folder / "case.yaml"
    same = (
        path.is_file()
        and path.read_text(encoding="utf-8") == case.text
        and (folder / "exchange.yaml").read_text(encoding="utf-8") == case.evidence
    )
    written = not same and not arguments.dry_run
    if path.is_file() and written and not confirmed(arguments, f"{folder} is there; replace it?"):
        out.say(f"{folder} is there; --yes replaces it, --name takes another")
        return NOT_CONFIRMED
    if written:
        add_flags(arguments.corpus, case.flags)
        write_case(arguments.corpus, case)
    if out.as_json:
        out.json({"id": case.id, "flags": list(case.flags), "written": written})
    elif out.is_quiet:
        print(case.id)
    else:
        state = "is there already" if same else "written" if written else "would be written"
        print(f"{folder} {state}: {', '.join(case.flags)}")
        if written:
            print(f"next: pytest {folder} --synaptum-update, and read the golden")
    return 0
