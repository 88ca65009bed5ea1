"""All cases below a corpus folder, and one by what a person types for it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from pytest_synaptum.corpus.case import CASE_FILE, Case, load_case
from pytest_synaptum.corpus.flags import FLAGS_FILE, load_flags
from pytest_synaptum.errors import PluginError

__all__ = ["add_corpus_argument", "case_named", "cases_below"]

_SHOWN: Final = 5


def add_corpus_argument(parser: argparse.ArgumentParser) -> None:
    """`--corpus DIR`, as pytest's `--synaptum-corpus`."""
    parser.add_argument(
        "--corpus", metavar="DIR", type=Path, default=Path("corpus"), help="default: corpus"
    )


def cases_below(corpus: Path) -> list[Case]:
    """Every case below `corpus`, by id.

    Raises:
        PluginError: there is no such corpus, or a case that cannot be read.
    """
    if not (corpus / FLAGS_FILE).is_file():
        msg = f"{corpus} is no corpus: it has no {FLAGS_FILE}; name another folder with --corpus"
        raise PluginError(msg)
    flags = load_flags(corpus / FLAGS_FILE)
    return [load_case(path, flags) for path in sorted(corpus.rglob(CASE_FILE))]


def case_named(corpus: Path, name: str) -> Case:
    """The case with this id, folder, or end of an id.

    Raises:
        PluginError: none or several are called so.
    """
    wanted = name.strip("/").removesuffix(f"/{CASE_FILE}")
    cases = cases_below(corpus)
    wanted = wanted.removeprefix(f"{corpus.as_posix().strip('/')}/")
    exact = [case for case in cases if case.id == wanted]
    found = exact or [case for case in cases if case.id.endswith(f"/{wanted}")]
    if len(found) == 1:
        return found[0]
    close = found or [case for case in cases if wanted in case.id]
    near = ", ".join(case.id for case in close[:_SHOWN])
    hint = f"near it: {near}" if near else "`synaptum-corpus list` names them all"
    msg = f"{len(found) or 'no'} cases are called {name!r}; {hint}"
    raise PluginError(msg)
