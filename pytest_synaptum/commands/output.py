"""What every command has in common: how it prints, and with which status it ends."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, Final, TextIO

__all__ = [
    "CANNOT_ASK",
    "FOUND_WRONG",
    "NOT_CONFIRMED",
    "UNREADABLE",
    "WRONG_USAGE",
    "Output",
    "add_output_arguments",
    "confirmed",
    "is_coloured",
]

#: The command looked, and what it looked at is wrong (`lint`, `drift`).
FOUND_WRONG: Final = 1
#: The arguments cannot be meant so; argparse's own status.
WRONG_USAGE: Final = 2
#: A file, folder or case is missing, or is not what it has to be.
UNREADABLE: Final = 3
#: No server answered, so nothing is known.
CANNOT_ASK: Final = 4
#: It would change or delete files, and nobody said yes.
NOT_CONFIRMED: Final = 5


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """`--json` and `--quiet`, the same for every command."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON value")
    form.add_argument("-q", "--quiet", action="store_true", help="print bare values, one a line")


class Output:
    """Where a command's words go."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.as_json: bool = arguments.json
        self.is_quiet: bool = arguments.quiet

    def json(self, value: Any) -> None:
        """Print one JSON value."""
        print(json.dumps(value, ensure_ascii=False, indent=2))

    def say(self, text: str) -> None:
        """Print a sentence for people; nothing in the other two forms."""
        if not self.as_json and not self.is_quiet:
            print(text)


def is_coloured(stream: TextIO) -> bool:
    """Whether to colour: on a terminal that can, unless NO_COLOR is set (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def confirmed(arguments: argparse.Namespace, question: str) -> bool:
    """Whether to go on: `--yes`, or a yes typed on a terminal; without one of them, no."""
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
