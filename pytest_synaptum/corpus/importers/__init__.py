"""Exchanges out of other people's files: vcrpy cassettes, HAR files, our own cassettes.

One reader a format; `detect` picks it by what the file holds. A reader gives what it found
in order, and for everything it leaves out a sentence that says why: nothing disappears.
"""

from pytest_synaptum.corpus.importers.detect import read_file
from pytest_synaptum.corpus.importers.finding import Finding, Found, LeftOut

__all__ = ["Finding", "Found", "LeftOut", "read_file"]
