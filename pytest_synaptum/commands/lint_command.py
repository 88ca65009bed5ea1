"""`synaptum-corpus lint`: every case, its evidence and its conclusions, checked unrun.

A flag that no case shows is counted, and no problem: a corpus may begin with the flags of
another one. Under `--strict` it is one, for a corpus that has its own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.commands.output import FOUND_WRONG, Output
from pytest_synaptum.corpus.case import CASE_FILE, Case, load_case
from pytest_synaptum.corpus.flags import FLAGS_FILE, load_flags
from pytest_synaptum.corpus.index import index_problems
from pytest_synaptum.corpus.tree import add_corpus_argument, cases_below
from pytest_synaptum.corpus.wire_lint import lint
from pytest_synaptum.errors import PluginError

__all__ = ["add_arguments", "run"]

_FILES = frozenset({CASE_FILE, "exchange.yaml", "golden.yaml"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of which corpus, and how strictly."""
    add_corpus_argument(parser)
    parser.add_argument(
        "--strict", action="store_true", help="a flag that no case shows is a problem"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what is wrong; 1 if anything is."""
    corpus: Path = arguments.corpus
    if not (corpus / FLAGS_FILE).is_file():
        cases_below(corpus)  # says what is missing
    flags = load_flags(corpus / FLAGS_FILE)
    problems: list[str] = []
    cases: list[Case] = []
    for path in sorted(corpus.rglob(CASE_FILE)):
        try:
            case = load_case(path, flags)
            problems += _problems(case)
        except PluginError as error:
            problems.append(str(error))
        else:
            cases.append(case)
    unused = _unused_flags(flags.sentences, cases)
    if arguments.strict:
        problems += [
            f"{FLAGS_FILE}: no case shows {flag!r}; remove it or add one" for flag in unused
        ]
    problems += index_problems(corpus, cases)
    out = Output(arguments)
    if out.as_json:
        out.json({"cases": len(cases), "problems": problems, "unused_flags": unused})
    else:
        for problem in problems:
            print(problem)
    if unused and not arguments.strict:
        out.say(
            f"{len(unused)} of {len(flags.sentences)} flags in {FLAGS_FILE} are shown by no case"
            " (--strict names them)"
        )
    out.say(f"{len(cases)} cases read, {len(problems)} problems")
    return FOUND_WRONG if problems else 0


def _unused_flags(sentences: Mapping[str, str], cases: list[Case]) -> list[str]:
    used = {flag for case in cases for flag in case.flags}
    return [flag for flag in sentences if flag not in used]


def _problems(case: Case) -> Iterator[str]:
    for path in sorted(case.folder.iterdir()):
        if path.name not in _FILES and path.suffix != ".actual":
            yield f"{path}: a case has {', '.join(sorted(_FILES))} and nothing else"
    if case.golden_path.is_file():
        strict_yaml.load_file(case.golden_path)
    else:
        yield f"{case.folder}: no golden.yaml; write it with pytest --synaptum-update"
    if not case.exchange_path.is_file():
        yield f"{case.folder}: no exchange.yaml; record it with pytest --synaptum-record"
        return
    exchanges = load_cassette(case.exchange_path).exchanges()
    if len(exchanges) != len(case.asks):
        yield f"{case.folder}: {len(case.asks)} asks, but {len(exchanges)} exchanges"
    if case.kind == "imported":
        return  # the questions are other people's
    for number, (ask, exchange) in enumerate(zip(case.asks, exchanges, strict=False)):
        if not exchange.request.body:
            continue
        for finding in lint(json.loads(exchange.request.body)):
            if finding.rule.id not in ask.lint:
                yield f"{case.exchange_path}: exchange {number}: {finding}"
