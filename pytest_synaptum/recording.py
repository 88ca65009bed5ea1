"""One test's exchanges while it runs: recorded from a live server, or replayed from its cassette.

Life: the fixture opens a recording before the test and closes it after. While recording,
exchanges are kept in memory, and `keeping` decides at the end what becomes of them; what a
replay was asked in vain, or was never asked, is for `judging`.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pytest_synaptum.capture import guard
from pytest_synaptum.cassette.format import Cassette, load_cassette, parse_cassette
from pytest_synaptum.cassette.match import Matcher
from pytest_synaptum.cassette.player import Player
from pytest_synaptum.cassette.recorder import Recorder, Slot
from pytest_synaptum.cassette.writing import about_exchange, dump_cassette
from pytest_synaptum.errors import PluginError
from pytest_synaptum.exchange import Exchange
from pytest_synaptum.golden.paths import PathSyntaxError, parse_path
from pytest_synaptum.judging import judge
from pytest_synaptum.keeping import keep
from pytest_synaptum.live import LiveServer, live_server
from pytest_synaptum.marker import Marker, marker_of, named_cassette
from pytest_synaptum.naming import shown
from pytest_synaptum.options import given_server
from pytest_synaptum.redacting import named_by, redactor_of_test
from pytest_synaptum.report.parts import Parts, parts_of
from pytest_synaptum.session import DAMAGE, Session, session_of
from pytest_synaptum.sharing import claim, sharers, tests_in, together
from pytest_synaptum.terminal import LINES, say

__all__ = ["Recording", "open_recording"]


class Recording:
    """The exchanges of one test.

    Attributes:
        path: the cassette.
        where: the cassette, as messages name it: from the root of the project.
        redactor: knows the secrets of the test.
        masks: paths in request bodies that do not count, of the mark and of everywhere else.
        recorder: keeps them, while recording; else None.
        player: answers from them, while replaying; else None.
        pace: how much of the recorded delays a replay waits.
    """

    def __init__(
        self,
        item: pytest.Item,
        *,
        base_url: str | None,
        model: str | None,
        path: Path,
        pace: float,
    ) -> None:
        self.pace = pace
        self.item = item
        self._session: Session = session_of(item.config)
        self._options = self._session.options
        self.marker: Marker = marker_of(item)
        self._base_url = self.marker.base_url or base_url
        self._model = model
        self.path = named_cassette(item) or path
        self.where = shown(self.path, item.config)
        self.masks = self._all_masks()
        self._live: LiveServer | None = None
        self.redactor = redactor_of_test(item)
        self.recorder: Recorder | None = None
        self.player: Player | None = None
        if self._is_to_be_recorded():
            self.recorder = Recorder(ended=self._show)
        else:
            self.player = self._play(self._load())
            item.stash[DAMAGE] = self.player.damage

    def command(self, flag: str, others: Sequence[str] = ()) -> str:
        """What a user types to record this test, with all that are known to share its cassette."""
        tests = [*others, *sharers(self.item, self.path)]
        asked = given_server(self.item.config)
        return shlex.join(["pytest", flag, *asked, *together(tests or [self.item.nodeid])])

    @property
    def model(self) -> str | None:
        """The model's name: of the mark, a fixture, the cassette or the options, in that order."""
        if self.marker.model is not None:
            return self.marker.model
        if self.player is None:
            return self.live().model
        if self._model is not None and self._model != self._options.model:
            return self._model  # a fixture of the project's says so
        return self.player.cassette.recorded.get("model", self._model)

    @property
    def base_path(self) -> str:
        """Path of the base URL, such as `/v1`, as it was when recorded."""
        if self.player is None:
            return urlsplit(self.live().base_url).path
        return self.player.cassette.recorded.get("base_path", "/v1")

    @property
    def asked_model(self) -> str | None:
        """The model that was asked while recording, where mark or server told it."""
        return self.marker.model or (self._live.model if self._live else None)

    @property
    def has_asked_live(self) -> bool:
        """Whether a live server was looked for and found."""
        return self._live is not None

    def live(self) -> LiveServer:
        """The live server, found to be there. Fails the test, with what to do, where it is not."""
        if self._live is None:
            try:
                self._live = live_server(self._session, self._base_url, self._model)
            except PluginError as error:
                raise pytest.fail.Exception(str(error), pytrace=False) from None
        return self._live

    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges so far, in their redacted form, while recording and on replay alike."""
        if self.recorder is None:
            return self._player().served()
        return self._redacted(self.recorder)

    def hand_in(self, parts: Parts) -> None:
        """Give the page of the run what this test exchanged, and what knows its secrets."""
        parts.redactor = self.redactor
        state = "replayed" if self.recorder is None else "recorded"
        parts.exchanges += [(state, exchange) for exchange in self.exchanges()]
        if self.player is not None and self.marker.cassette is None:
            parts.unused += [
                f"{entry.name}, {entry.method} {entry.path}" for entry in self.player.unused()
            ]

    def _show(self, slot: Slot) -> None:
        """Tell the terminal of an exchange that was recorded, as it comes."""
        if self.recorder is None or slot.status is None:
            return
        exchange = slot.exchange()
        self.redactor.learn_exchange(exchange)
        number = self.recorder.slots.index(slot) + 1
        line = _line(self.redactor.exchange(exchange))
        say(self.item.config, f"  {self.item.name}: exchange {number} recorded, {line}")

    def tell(self) -> None:
        """Leave a line for each exchange, which `-v` shows behind the test."""
        config = self.item.config
        if config.get_verbosity() < 1:
            return
        if self.recorder is not None and not hasattr(config, "workerinput"):
            return  # they were shown as they came
        state = "replayed" if self.recorder is None else "recorded"
        self.item.stash[LINES] = [f"{state} {_line(one)}" for one in self.exchanges()]

    def view(self) -> Player:
        """A fresh view of the exchanges so far, that counts for nothing: for runs repeated."""
        if self.recorder is None:
            cassette = self._player().cassette
        else:
            text = dump_cassette(self._redacted(self.recorder), {})
            cassette = parse_cassette(text.encode("utf-8"), self.where)
        return self._play(cassette)

    def _is_to_be_recorded(self) -> bool:
        if self.path in self._session.written:
            return False
        if not self._options.recording or not claim(self.item, self.path):
            return False
        return self._options.rerecord or not self.path.exists()

    def _player(self) -> Player:
        assert self.player is not None
        return self.player

    def _load(self) -> Cassette:
        try:
            return load_cassette(self.path, self.where)
        except FileNotFoundError:
            msg = (
                f"{self.item.nodeid} has no cassette at {self.where}; record it once, with a"
                f" server at hand: {self.command('--synaptum-record')}"
            )
        except PluginError as error:
            msg = str(error)
        except OSError as error:
            msg = (
                f"The cassette {self.where} cannot be read ({error.strerror or error}); check what"
                " stands there and its permissions."
            )
        pytest.fail(msg, pytrace=False)

    def _all_masks(self) -> tuple[str, ...]:
        volatile = named_by(self.item.config.hook.pytest_synaptum_volatile(config=self.item.config))
        try:
            for mask in volatile:
                parse_path(mask)
        except PathSyntaxError as error:
            # The marker and the ini file were read before.
            pytest.fail(f"In the hook pytest_synaptum_volatile: {error}", pytrace=False)
        return (*self.marker.ignore, *self._options.ignore, *volatile)

    def _play(self, cassette: Cassette) -> Player:
        matcher = Matcher(self.marker.match, self.masks)
        noted = tests_in(cassette.recorded)
        running = sharers(self.item, self.path)
        others = [name for name in noted if name not in running]
        return Player(
            cassette,
            matcher,
            self.redactor,
            test=self.item.nodeid,
            command=self.command("--synaptum-rerecord", others),
            shared_by=[*others, *running],
        )

    def _redacted(self, recorder: Recorder) -> tuple[Exchange, ...]:
        self.redactor.refresh()
        raw = recorder.exchanges()
        for exchange in raw:
            self.redactor.learn_exchange(exchange)
        return tuple(self.redactor.exchange(exchange) for exchange in raw)

    def close(self) -> None:
        """Hand in what was recorded, or judge what was replayed; fails the test where it must."""
        if self.recorder is not None:
            keep(self, self.recorder)
        else:
            judge(self, self._player())

    def addresses(self) -> set[tuple[str, int]]:
        """Loopback addresses that the replay stands in for."""
        origins = self._player().cassette.recorded.get("origins", "").split()
        if self._base_url:
            origins.append(urlsplit(self._base_url).netloc.rpartition("@")[2])
        addresses = set()
        for origin in origins:
            host, _, port = origin.rpartition(":")
            if port.isdecimal() and guard.is_loopback(host.strip("[]")):
                addresses.add(("loopback", int(port)))
        return addresses


@contextlib.contextmanager
def open_recording(
    item: pytest.Item, *, base_url: str | None, model: str | None, path: Path, pace: float
) -> Iterator[Recording]:
    """Record or replay for as long as the block lasts, then write or judge."""
    recording = Recording(item, base_url=base_url, model=model, path=path, pace=pace)
    if recording.recorder is not None:
        access = guard.opened()
    else:
        access = guard.forbidden(recording.addresses())
    with access:
        yield recording
    parts = parts_of(item)
    if parts is not None:
        recording.hand_in(parts)
    recording.tell()
    recording.close()


def _line(exchange: Exchange) -> str:
    """An exchange in a line: what was asked and answered, how much and how long it took."""
    about, response = about_exchange(exchange), exchange.response
    if response is None:
        return about
    seconds = (response.headers_after_s or 0.0) + sum(response.delays_s)
    return f"{about}; {len(response.body):,} bytes, {seconds:.1f} s"
