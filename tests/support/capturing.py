"""A capture of this process's clients without pytest around it, to record and to replay."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from pytest_synaptum.capture.clients import captured
from pytest_synaptum.cassette.format import parse_cassette
from pytest_synaptum.cassette.match import Matcher
from pytest_synaptum.cassette.player import Player
from pytest_synaptum.cassette.recorder import Recorder
from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.redact import Redactor

__all__ = ["recording", "replaying"]


@contextlib.contextmanager
def recording() -> Iterator[Recorder]:
    """Keep what the clients of this process ask and get."""
    recorder = Recorder()
    with captured(recorder, None):
        yield recorder


@contextlib.contextmanager
def replaying(recorder: Recorder) -> Iterator[Player]:
    """Answer from what was recorded, by way of the text of a cassette."""
    redactor = Redactor(environ={})
    exchanges = [redactor.exchange(exchange) for exchange in recorder.exchanges()]
    cassette = parse_cassette(dump_cassette(exchanges, {}).encode(), "c.yaml")
    player = Player(cassette, Matcher(), redactor, test="t", command="pytest t")
    with captured(None, player):
        yield player
