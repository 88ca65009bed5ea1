"""What the terminal shows: exchanges while they are recorded, in `-v` each one, and the summary.

Colours are pytest's own, so `--color`, `NO_COLOR` and `FORCE_COLOR` hold. Everything goes
through pytest's reporter; in a worker of xdist there is none, and what a test has to tell
travels on its report.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from pytest_synaptum.session import Tally, session_of

__all__ = ["LINES", "TerminalPlugin", "attach", "say", "summary_lines"]

#: Lines about a test's exchanges, for `-v`.
LINES = pytest.StashKey[list[str]]()

_ATTRIBUTE: Final = "synaptum_lines"
#: Lines of one kind in the summary; `-v` shows all.
_SHOWN: Final = 20

Markup = Mapping[str, bool]
_GOOD: Final[Markup] = {"green": True}
_WARN: Final[Markup] = {"yellow": True}
_BAD: Final[Markup] = {"red": True}
_PLAIN: Final[Markup] = {}


def say(config: pytest.Config, line: str) -> None:
    """Write a line while a test runs, past what captures its output.

    Nothing is written under `-q`, in a worker of xdist, and from other threads than the main
    one, for whom the capture cannot be lifted safely.
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or config.get_verbosity() < 0:
        return
    if threading.current_thread() is not threading.main_thread():
        return
    capture = config.pluginmanager.get_plugin("capturemanager")
    lifted = contextlib.nullcontext() if capture is None else capture.global_and_fixture_disabled()
    with lifted:
        reporter.ensure_newline()
        reporter.write_line(line, light=True)


def attach(item: pytest.Item, report: pytest.TestReport) -> None:
    """Put what a finished test has to tell on the report of its teardown."""
    lines = item.stash.get(LINES, [])
    if lines:
        setattr(report, _ATTRIBUTE, lines)


class TerminalPlugin:
    """Registered where the run is reported."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In `-v`, show a test's exchanges behind it."""
        lines = getattr(report, _ATTRIBUTE, None)
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if not lines or reporter is None or self._config.get_verbosity() < 1:
            return
        reporter.ensure_newline()
        # Under xdist other tests' lines may stand in between.
        owner = f"{report.nodeid}: " if hasattr(report, "node") else ""
        for line in lines:
            reporter.write_line(f"  {owner}{line}", light=True)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary line and what deserves a look."""
        everything = self._config.get_verbosity() > 0
        for line, markup in summary_lines(session_of(self._config).tally, everything=everything):
            terminalreporter.write_line(line, **markup)
        ours = session_of(self._config)
        if ours.failed_by_strict:
            # Every test passed, and pytest's own last line says so.
            line = _why_strict_failed(ours.tally, by_ci=ours.options.strict_by_ci)
            terminalreporter.write_line(line, **_BAD)


def summary_lines(tally: Tally, *, everything: bool = False) -> Iterator[tuple[str, Markup]]:
    """The summary line, then what was written and what deserves a look; nothing of nothing."""
    if tally == Tally():
        return
    parts = []
    if tally.replayed or tally.recorded or tally.unused:
        exchanges = f"{_count(tally.replayed, 'exchange')} replayed, {tally.recorded:,} recorded"
        parts.append(f"{exchanges}, {len(tally.unused):,} unused")
    if tally.goldens_checked or tally.goldens_written:
        checked = f"{_count(tally.goldens_checked, 'golden')} checked"
        parts.append(f"{checked}, {tally.goldens_written:,} written")
    if tally.unused_cassettes:
        parts.append(f"{_count(len(tally.unused_cassettes), 'cassette')} unused")
    if tally.unused_goldens:
        parts.append(f"{_count(len(tally.unused_goldens), 'golden')} unused")
    if tally.replayed:
        parts.append(_tokens(tally))
        parts.append(f"{tally.seconds:.1f} s not waited")
    doubts = tally.unused or tally.unused_cassettes or tally.unused_goldens or tally.kept_back
    if parts:
        yield "synaptum: " + "; ".join(parts), _WARN if doubts else _GOOD
    lists = (
        ("wrote", tally.wrote, _PLAIN),
        ("unused", tally.unused, _WARN),
        ("unused cassette", tally.unused_cassettes, _WARN),
        ("unused golden", tally.unused_goldens, _WARN),
        ("not written", tally.kept_back, _BAD),
        ("note", list(dict.fromkeys(tally.notes)), _WARN),
    )
    for label, lines, markup in lists:
        shown = sorted(lines)
        left = 0 if everything else len(shown) - _SHOWN
        for line in shown[: len(shown) - max(left, 0)]:
            yield f"  {label}: {line}", markup
        if left > 0:
            yield f"  {label}: and {left:,} more, which -v shows", markup


def _why_strict_failed(tally: Tally, *, by_ci: bool) -> str:
    unused = [
        _count(len(paths), f"unused {noun}")
        for paths, noun in ((tally.unused_cassettes, "cassette"), (tally.unused_goldens, "golden"))
        if paths
    ]
    return (
        f"synaptum: failed because of --synaptum-strict{' (set by CI)' if by_ci else ''}:"
        f" {' and '.join(unused)}; to remove them: synaptum-corpus prune ."
    )


def _tokens(tally: Tally) -> str:
    if tally.tokens_unknown == tally.replayed:
        return "tokens not spent: unknown"
    known = f"{tally.tokens:,} tokens not spent"
    if tally.tokens_unknown:
        known += f" ({tally.tokens_unknown:,} of the answers do not say)"
    return known


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
