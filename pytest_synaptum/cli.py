"""`synaptum-corpus`: the corpus from the command line.

A command is a module in `pytest_synaptum.commands` with `add_arguments(parser)` and
`run(arguments)`, which returns the exit status; one row in `COMMANDS` makes it known. Exit
status: 0 all is well, 1 something is wrong with the files or the surroundings (one sentence
says what), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Final

from pytest_synaptum.errors import PluginError
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
        "synaptum-corpus stats",
    ),
    "lint": (
        "Check every case without running it.",
        "synaptum-corpus lint --corpus corpus",
    ),
    "model": (
        "Fetch the small model that recordings are made with (98 MB, once).",
        "synaptum-corpus model",
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    arguments = _parser().parse_args(argv)
    command = importlib.import_module(f"pytest_synaptum.commands.{arguments.command}_command")
    try:
        return int(command.run(arguments))
    except (PluginError, SynaptumError, OSError) as error:
        print(f"synaptum-corpus {arguments.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    examples = "\n".join(f"  {example}" for _, example in COMMANDS.values())
    parser = argparse.ArgumentParser(
        prog="synaptum-corpus",
        description="Cases of real servers' answers, and what an adapter makes of them.",
        epilog=f"examples:\n{examples}\n\nCases run as tests: pytest corpus",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (text, example) in COMMANDS.items():
        one = commands.add_parser(name, help=text, description=text, epilog=f"example: {example}")
        importlib.import_module(f"pytest_synaptum.commands.{name}_command").add_arguments(one)
    return parser
