"""What becomes of a replay when its test is over: what was asked in vain, or never asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_synaptum.cassette.player import Player
from pytest_synaptum.session import REPORTS, session_of

if TYPE_CHECKING:
    from pytest_synaptum.recording import Recording

__all__ = ["judge", "judge_empty", "judge_masks"]


def judge(recording: Recording, player: Player) -> None:
    """Count what was replayed. Fails the test for what its requests and its cassette lack."""
    report = recording.item.stash.get(REPORTS, {}).get("call")
    tally = session_of(recording.item.config).tally
    served = len(player.served())
    tally.replayed += served
    if served:
        tokens, unknown, seconds = player.cost()
        tally.tokens += tokens
        tally.tokens_unknown += unknown
        tally.seconds += seconds
    for message in (*player.damage[:1], *player.mismatches[:1]):
        if report is None or message.splitlines()[0] not in report.longreprtext:
            # A client retried, or put another text in its place.
            pytest.fail(message, pytrace=False)
    if report is None or not (report.passed or hasattr(report, "wasxfail")):
        return
    if not player.cassette.entries:
        judge_empty(recording)
    judge_masks(recording, player.matcher.matched)
    _judge_unused(recording, player)


def judge_empty(recording: Recording) -> None:
    """Fail a test that passed without an exchange: nothing of a model was tested.

    One that is expected to fail may fail before it asks.
    """
    call = recording.item.stash.get(REPORTS, {}).get("call")
    if hasattr(call, "wasxfail"):
        return
    what = "recorded nothing" if recording.player is None else "replayed nothing"
    state = (
        f"so {recording.where} is not written"
        if recording.player is None
        else f"since {recording.where} holds no exchange; delete it"
    )
    msg = (
        f"{recording.item.nodeid} {what}, {state}: did the test forget an await, or not use the"
        " fixture? Where it rightly asks nothing, give it a model of its own in place of the"
        " fixture, such as HttpModel('http://nowhere.invalid')."
    )
    pytest.fail(msg, pytrace=False)


def judge_masks(recording: Recording, matched: set[str]) -> None:
    """Fail the test for a mask of its marker that stands over nothing in any request."""
    wrong = [mask for mask in recording.marker.ignore if mask not in matched]
    if wrong:
        msg = (
            f"{recording.item.nodeid} ignores {wrong[0]!r}, but no request has anything there:"
            " correct the path in the marker's ignore=, or take it out."
        )
        pytest.fail(msg, pytrace=False)


def _judge_unused(recording: Recording, player: Player) -> None:
    unused = player.unused()
    # A cassette that a test names may be shared; what one leaves another may ask for.
    if not unused or recording.marker.cassette is not None:
        return
    names = ", ".join(entry.name for entry in unused)
    session = session_of(recording.item.config)
    session.tally.unused += [
        f"{recording.where}: {entry.name}, {entry.method} {entry.path}" for entry in unused
    ]
    if session.options.strict:
        msg = (
            f"{recording.item.nodeid} did not ask for all that its cassette {recording.where}"
            f" holds ({names}); record it again: {recording.command('--synaptum-rerecord')}"
        )
        pytest.fail(msg, pytrace=False)
