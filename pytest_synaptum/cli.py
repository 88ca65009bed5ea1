"""`synaptum-corpus`: the corpus from the command line.

A command is a module in `pytest_synaptum.commands` with `add_arguments(parser)` and
`run(arguments)`, which returns the exit status; one row in `COMMANDS` makes it known. What
they share (forms of output, exit statuses, the question before deleting) is in
`commands.output`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

from pytest_synaptum.commands.output import (
    CANNOT_ASK,
    FOUND_WRONG,
    NOT_CONFIRMED,
    UNREADABLE,
    WRONG_USAGE,
    add_output_arguments,
)
from pytest_synaptum.errors import PluginError, WrongUsageError
from synaptum.errors import SynaptumError

__all__ = ["COMMANDS", "main"]

#: Command -> what it does, in one line, and an example.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "list": (
        "List the cases, one a line.",
        "synaptum-corpus list --flag tool-call",
    ),
    "show": (
        "Show one case: what was asked, what came, what is concluded.",
        "synaptum-corpus show llama.cpp/tool-call",
    ),
    "stats": (
        "Count the cases by kind, server and flag.",
        "synaptum-corpus stats --json",
    ),
    "lint": (
        "Check every case without running it.",
        "synaptum-corpus lint --corpus corpus",
    ),
    "index": (
        "Write the list of all cases, for runners in other languages.",
        "synaptum-corpus index --dry-run",
    ),
    "import": (
        "Make cases of vcrpy cassettes, HAR files, our own cassettes.",
        "synaptum-corpus import tests/cassettes --into corpus --dry-run",
    ),
    "promote": (
        "Make a case of one exchange of a test's cassette.",
        "synaptum-corpus promote tests/cassettes/test_agent/test_rain.yaml#2 --name rain-in-oslo",
    ),
    "prune": (
        "Delete cassettes and goldens whose test is gone, and what no case needs.",
        "synaptum-corpus prune --dry-run tests corpus",
    ),
    "drift": (
        "Ask a live server the recorded questions again, and compare the shapes.",
        "synaptum-corpus drift --server local llama.cpp/plain-text",
    ),
    "serve": (
        "Answer as the recorded servers did, on a loopback port, or record while forwarding.",
        "synaptum-corpus serve --port 8080",
    ),
    "model": (
        "Fetch the small model that recordings are made with (98 MB, once).",
        "synaptum-corpus model",
    ),
}

_STATUSES: Final = f"""\
exit status:
  0    done, and nothing is wrong
  {FOUND_WRONG}    it looked, and found something wrong (lint, drift)
  {WRONG_USAGE}    wrong usage
  {UNREADABLE}    a file, a folder or a case is missing or cannot be read
  {CANNOT_ASK}    no server answered: nothing is known
  {NOT_CONFIRMED}    nothing was changed, since nobody said yes (--yes)
  130  interrupted
"""
_KEYS: Final = "A live server's key comes from SYNAPTUM_API_KEY, never from the command line."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    arguments = _parser(given).parse_args(given)
    command = importlib.import_module(f"pytest_synaptum.commands.{arguments.command}_command")
    try:
        status = int(command.run(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Whoever read our output has read enough (`| head`); nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (PluginError, SynaptumError, OSError) as error:
        print(f"synaptum-corpus {arguments.command}: {_told(error)}", file=sys.stderr)
        return WRONG_USAGE if isinstance(error, WrongUsageError) else UNREADABLE
    except AssertionError as error:
        from pytest_synaptum.corpus.checking import CaseFailure

        if not isinstance(error, CaseFailure):
            raise
        print(f"synaptum-corpus {arguments.command}: {error}", file=sys.stderr)
        return UNREADABLE
    except KeyboardInterrupt:
        return 130


def _told(error: Exception) -> str:
    """An error in a sentence; the operating system's own names no remedy."""
    if not isinstance(error, OSError) or error.filename is None:
        return str(error)
    return f"{error.filename}: {error.strerror}; check its name and its permissions"


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; only a command that is named is imported, for what it takes."""
    examples = "\n".join(f"  {example}" for _, example in COMMANDS.values())
    parser = argparse.ArgumentParser(
        prog="synaptum-corpus",
        description="Cases of real servers' answers, and what an adapter makes of them.",
        epilog=f"examples:\n{examples}\n\n{_STATUSES}\n{_KEYS}\nCases run as tests: pytest corpus",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (text, example) in COMMANDS.items():
        one = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example:\n  {example}\n\n{_STATUSES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_output_arguments(one)
        if name in given:
            importlib.import_module(f"pytest_synaptum.commands.{name}_command").add_arguments(one)
    return parser


def _version() -> str:
    from importlib.metadata import version

    return version("pytest-synaptum")
