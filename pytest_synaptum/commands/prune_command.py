"""`synaptum-corpus prune`: what no test and no case needs any more goes.

Cassettes and goldens of tests are judged by a complete collection of the folders named, in a
process of its own: where one test cannot be collected, nothing is known and nothing goes. In
a corpus, a folder without its `case.yaml` is judged, and what an update left beside a golden.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_synaptum.commands.output import NOT_CONFIRMED, Output, confirmed
from pytest_synaptum.corpus.case import CASE_FILE
from pytest_synaptum.corpus.flags import FLAGS_FILE
from pytest_synaptum.errors import PluginError
from pytest_synaptum.orphans_report import VARIABLE

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to look, and whether to delete."""
    parser.add_argument(
        "folders", metavar="FOLDER", nargs="+", type=Path, help="tests, or a corpus"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would go")
    parser.add_argument("--yes", action="store_true", help="delete without asking")


def run(arguments: argparse.Namespace) -> int:
    """Delete it, after a yes."""
    out = Output(arguments)
    corpora = [folder for folder in arguments.folders if (folder / FLAGS_FILE).is_file()]
    tests = [folder for folder in arguments.folders if folder not in corpora]
    unused = [path for corpus in corpora for path in _left_in(corpus)]
    unreadable: dict[str, str] = {}
    if tests:
        orphans, unreadable = _orphans(tests)
        unused += orphans
    if not out.as_json:
        for path in unused:
            print(path)
    gone = False
    status = 0
    if unused and not arguments.dry_run:
        gone = confirmed(arguments, f"delete these {len(unused)} files?")
        status = 0 if gone else NOT_CONFIRMED
    if gone:
        for path in unused:
            path.unlink()
            _remove_empty(path.parent)
    if out.as_json:
        paths = [str(path) for path in unused]
        out.json({"unused": paths, "unreadable": sorted(unreadable), "deleted": gone})
    out.say(f"{len(unused)} files {'deleted' if gone else 'are not used'}")
    for odd, fault in unreadable.items():
        out.say(f"{odd} cannot be read ({fault}) and stays")
    if status:
        out.say("nothing was deleted: --yes deletes them")
    return status


def _left_in(corpus: Path) -> Iterator[Path]:
    """Files of cases that are none, and the `.actual` files beside goldens."""
    for path in sorted(corpus.rglob("*")):
        if not path.is_file():
            continue
        is_of_case = path.name in {"exchange.yaml", "golden.yaml"}
        if (is_of_case and not (path.parent / CASE_FILE).is_file()) or path.suffix == ".actual":
            yield path


def _orphans(folders: Sequence[Path]) -> tuple[list[Path], dict[str, str]]:
    """What no test needs; and what cannot be read, with the cause."""
    with tempfile.TemporaryDirectory() as place:
        found = Path(place) / "orphans.json"
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "--collect-only",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "pytest_synaptum.orphans_report",
                *map(str, folders),
            ],
            env={**os.environ, VARIABLE: str(found)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 5) or not found.is_file():
            tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-5:])
            msg = (
                "what is unused cannot be known, since not every test was collected; repair that"
                f" first (pytest --collect-only):\n{tail}"
            )
            raise PluginError(msg)
        value = json.loads(found.read_text(encoding="utf-8"))
        return [Path(path) for path in value["unused"]], value["unreadable"]


def _remove_empty(folder: Path) -> None:
    while not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
