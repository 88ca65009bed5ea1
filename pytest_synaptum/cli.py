"""`synaptum-corpus`: the corpus from the command line."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line; the exit status."""
    sys.stderr.write("synaptum-corpus: no command yet\n")
    return 2
