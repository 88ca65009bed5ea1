"""`synaptum-corpus drift`: does the server still answer as it was recorded?"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_synaptum.commands.base_url import base_url_of
from pytest_synaptum.commands.output import CANNOT_ASK, FOUND_WRONG, Output
from pytest_synaptum.corpus.case import Case
from pytest_synaptum.corpus.drift import Drift, drift_of
from pytest_synaptum.corpus.servers import EMBEDDED, embedded_for
from pytest_synaptum.corpus.tree import add_corpus_argument, case_named, cases_below
from pytest_synaptum.errors import WrongUsageError
from pytest_synaptum.local_server import LocalServerError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which cases, and which server."""
    add_corpus_argument(parser)
    parser.add_argument(
        "cases", metavar="CASE", nargs="*", help="default: all recorded; - reads standard input"
    )
    server = parser.add_mutually_exclusive_group()
    server.add_argument(
        "--base-url", metavar="URL", help="the live server (default: SYNAPTUM_BASE_URL)"
    )
    server.add_argument("--server", choices=("local",), help="start the embedded server instead")
    parser.add_argument("--model", metavar="FILE.gguf", help="for --server local")
    parser.add_argument("--from", metavar="SERVER", dest="server_name", help="cases of this server")


def run(arguments: argparse.Namespace) -> int:
    """Ask and compare. 1 where something is lost or of another type, 4 where nobody answered."""
    out = Output(arguments)
    if arguments.server is None:
        arguments.base_url = base_url_of(
            arguments,
            missing="name the live server with --base-url or SYNAPTUM_BASE_URL,"
            " or use --server local",
        )
        if arguments.model is not None:
            msg = "--model is the embedded server's file: it goes with --server local"
            raise WrongUsageError(msg)
    drifts = []
    for case in _cases(arguments):
        drift = _asked(case, arguments)
        drifts.append(drift)
        if not out.as_json:
            _tell(drift, out)
    wrong = [drift for drift in drifts if drift.is_wrong]
    not_asked = [drift for drift in drifts if drift.not_asked is not None]
    if out.as_json:
        out.json([_plain(drift) for drift in drifts])
    asked = len(drifts) - len(not_asked)
    out.say(
        f"{len(drifts)} case{'' if len(drifts) == 1 else 's'}, {asked} asked, {len(wrong)} drifted,"
        f" {len(not_asked)} not asked"
    )
    if wrong:
        return FOUND_WRONG
    # Where nothing was asked nothing is known, and that is not green.
    return CANNOT_ASK if not_asked or not drifts else 0


def _cases(arguments: argparse.Namespace) -> list[Case]:
    corpus: Path = arguments.corpus
    names = [
        line.strip()
        for name in arguments.cases
        for line in (sys.stdin if name == "-" else [name])
        if line.strip()
    ]
    cases = [case_named(corpus, name) for name in names] if names else cases_below(corpus)
    if names:
        for case in cases:
            if case.kind != "recorded":
                msg = f"{case.id} is {case.kind}: only what we recorded can be asked again"
                raise WrongUsageError(msg)
    of_server = arguments.server_name or (EMBEDDED if arguments.server == "local" else None)
    return [
        case
        for case in cases
        if case.kind == "recorded" and (names or of_server in (None, case.source.server))
    ]


def _asked(case: Case, arguments: argparse.Namespace) -> Drift:
    try:
        with _server(case, arguments) as url_for:
            return drift_of(case, url_for, os.environ.get("SYNAPTUM_API_KEY") or None)
    except LocalServerError as error:
        return Drift(case=case.id, not_asked=str(error))


@contextmanager
def _server(case: Case, arguments: argparse.Namespace) -> Iterator[Callable[[int], str]]:
    if arguments.server is None:
        yield lambda index: arguments.base_url
        return
    with embedded_for(case, arguments.model) as url_for:
        yield url_for


def _tell(drift: Drift, out: Output) -> None:
    lines = list(drift.lines())
    if out.is_quiet:
        if drift.is_wrong or drift.not_asked is not None:
            print(drift.case)
        return
    print(f"{drift.case}: {'the same shapes' if not lines else ''}".rstrip())
    for line in lines:
        print(f"  {line}")


def _plain(drift: Drift) -> dict[str, Any]:
    return {
        "case": drift.case,
        "drifted": drift.is_wrong,
        "not_asked": drift.not_asked,
        "statuses": [
            {"ask": ask, "recorded": recorded, "came": came}
            for ask, recorded, came in drift.statuses
        ],
        "forms": [{"ask": ask, "what": what} for ask, what in drift.forms],
        "changes": [
            {
                "ask": ask,
                "path": change.path,
                "kind": change.kind,
                "recorded": list(change.recorded),
                "came": list(change.came),
            }
            for ask, change in drift.changes
        ],
    }
