"""`synaptum-corpus import`: other people's recordings become cases."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pytest_synaptum.commands.output import UNREADABLE, Output
from pytest_synaptum.corpus.importers.finding import LeftOut
from pytest_synaptum.corpus.importing import Importer, NewCase, add_flags, write_case

__all__ = ["add_arguments", "run"]

_SHOWN: Final = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which files, and where the cases go."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="vcrpy cassettes, HAR files, our cassettes, or folders of them; - reads names",
    )
    parser.add_argument("--into", metavar="DIR", type=Path, default=Path("corpus"))
    parser.add_argument("--goldens", action="store_true", help="write what is concluded, too")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written")


def run(arguments: argparse.Namespace) -> int:
    """Import them; what became no case is said with its reason."""
    out = Output(arguments)
    today = datetime.now(UTC).date().isoformat()
    importer = Importer(arguments.into, today)
    cases: list[NewCase] = []
    left_out: list[LeftOut] = []
    for found in importer.cases(_files(arguments.files)):
        if isinstance(found, LeftOut):
            left_out.append(found)
        else:
            cases.append(found)
    if not arguments.dry_run and cases:
        add_flags(arguments.into, (flag for case in cases for flag in case.flags))
        for case in cases:
            write_case(arguments.into, case)
        if arguments.goldens:
            _write_goldens(arguments.into, cases)
    if out.as_json:
        out.json({"cases": [_plain(case) for case in cases], "left_out": _reasons(left_out)})
    elif out.is_quiet:
        for case in cases:
            print(case.id)
    else:
        _tell(arguments, cases, left_out)
    # A file that was named has to be one we read; one that lies in a folder need not be.
    named = {name for name in arguments.files if not Path(name).is_dir()}
    unread = [one for one in left_out if one.number is None and one.file in named]
    return UNREADABLE if unread else 0


def _files(names: Sequence[str]) -> list[Path]:
    files: list[Path] = []
    for name in names:
        lines = sys.stdin.read().splitlines() if name == "-" else [name]
        for path in (Path(line) for line in lines if line.strip()):
            inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
            files += inside
    return files


def _write_goldens(corpus: Path, cases: Sequence[NewCase]) -> None:
    from pytest_synaptum.corpus.case import CASE_FILE, load_case
    from pytest_synaptum.corpus.checking import check_case
    from pytest_synaptum.corpus.flags import FLAGS_FILE, load_flags
    from pytest_synaptum.corpus.providers import REFERENCE, load_adapter

    flags = load_flags(corpus / FLAGS_FILE)
    dialect = load_adapter(REFERENCE)
    for new in cases:
        case = load_case(corpus / new.id / CASE_FILE, flags)
        check_case(case, flags, REFERENCE, dialect, update=True)


def _tell(arguments: argparse.Namespace, cases: list[NewCase], left_out: list[LeftOut]) -> None:
    verb = "would be written" if arguments.dry_run else "written"
    for case in cases:
        print(f"{case.id}  (from {case.origin.file}, exchange {case.origin.number})")
    if left_out:
        print("left out:")
    for one in left_out[:_SHOWN]:
        place = one.file if one.number is None else f"{one.file}, exchange {one.number}"
        print(f"  {place}: {one.reason}")
    if len(left_out) > _SHOWN:
        kinds = Counter(_kind(one.reason) for one in left_out[_SHOWN:])
        for reason, number in kinds.most_common():
            print(f"  and {number} more: {reason}")
    print(f"{len(cases)} cases {verb}, {len(left_out)} left out")
    if cases and not arguments.dry_run and not arguments.goldens:
        print(f"next: pytest {arguments.into} --synaptum-update, and read the goldens")


def _kind(reason: str) -> str:
    same = "it shows the same as"
    return f"{same} another case" if reason.startswith(same) else reason


def _plain(case: NewCase) -> dict[str, Any]:
    origin = case.origin
    return {
        "id": case.id,
        "flags": list(case.flags),
        "file": origin.file,
        "exchange": origin.number,
        "server": origin.server,
        "repository": origin.repository,
        "licence": origin.licence,
    }


def _reasons(left_out: list[LeftOut]) -> list[dict[str, Any]]:
    return [{"file": one.file, "exchange": one.number, "reason": one.reason} for one in left_out]
