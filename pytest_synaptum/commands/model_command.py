"""`synaptum-corpus model`: fetch the small model, or say where it is."""

from __future__ import annotations

import argparse

from pytest_synaptum.commands.output import Output
from pytest_synaptum.model_file import fetch_model

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has no options: the cache folder is chosen by SYNAPTUM_CACHE."""
    parser.description = (
        f"{parser.description} It is kept in the folder named by SYNAPTUM_CACHE, else in the "
        "user's cache folder, and checked by its SHA-256."
    )


def run(arguments: argparse.Namespace) -> int:
    """Fetch it unless it is there; only its path with --quiet."""
    out = Output(arguments)
    path = fetch_model(say=out.say)
    if out.as_json:
        out.json({"path": str(path)})
    elif out.is_quiet:
        print(path)
    return 0
