"""One test's exchanges: recorded or replayed, and what becomes of them when the test is over.

Life: the fixture opens a recording before the test and closes it after. While recording,
exchanges are kept in memory; at the end they are redacted, looked through for secrets and
written whole, if the test passed and no answer says "not now" (429, 5xx). While replaying,
what was asked in vain or never asked fails the test or is listed.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pytest_synaptum.capture import guard
from pytest_synaptum.cassette.changes import read_before, wrote
from pytest_synaptum.cassette.format import Cassette, load_cassette, parse_cassette
from pytest_synaptum.cassette.match import Matcher, body_value
from pytest_synaptum.cassette.player import Player
from pytest_synaptum.cassette.recorder import Recorder, Slot
from pytest_synaptum.cassette.writing import about_exchange, dump_cassette, write_atomically
from pytest_synaptum.errors import PluginError
from pytest_synaptum.exchange import Exchange
from pytest_synaptum.failures import REDACTOR
from pytest_synaptum.live import LiveServer, hint_for, live_server
from pytest_synaptum.marker import Marker, marker_of
from pytest_synaptum.naming import CASSETTES, inside
from pytest_synaptum.redact import Redactor
from pytest_synaptum.report.parts import Parts, parts_of
from pytest_synaptum.session import REPORTS, Session, session_of
from pytest_synaptum.terminal import LINES, say
from synaptum.clock import SystemClock, isoformat
from synaptum.errors import is_retryable_status

__all__ = ["Recording", "open_recording", "redactor_of"]

#: From this size, in bytes, the summary says that a cassette is hard to review.
_LARGE = 1_000_000


class Recording:
    """The exchanges of one test.

    Attributes:
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
        self._marker: Marker = marker_of(item)
        self._base_url = self._marker.base_url or base_url
        self._model = model
        self._path = _cassette_path(item, self._marker, path)
        self._live: LiveServer | None = None
        self._redactor = redactor_of(item.config)
        item.stash[REDACTOR] = self._redactor
        self.recorder: Recorder | None = None
        self.player: Player | None = None
        if self._is_to_be_recorded():
            self.recorder = Recorder(ended=self._show)
        else:
            self.player = self._play(self._load())

    @property
    def where(self) -> str:
        """The cassette, as messages name it: from the root of the project."""
        with contextlib.suppress(ValueError):
            return self._path.relative_to(self.item.config.rootpath).as_posix()
        return str(self._path)

    def command(self, flag: str) -> str:
        """What a user types to record this test."""
        return f"pytest {flag} {shlex.quote(self.item.nodeid)}"

    @property
    def model(self) -> str | None:
        """The model's name: of the mark, a fixture, the cassette or the options, in that order."""
        if self._marker.model is not None:
            return self._marker.model
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
        parts.redactor = self._redactor
        state = "replayed" if self.recorder is None else "recorded"
        parts.exchanges += [(state, exchange) for exchange in self.exchanges()]
        if self.player is not None and self._marker.cassette is None:
            parts.unused += [
                f"{entry.name}, {entry.method} {entry.path}" for entry in self.player.unused()
            ]

    def _show(self, slot: Slot) -> None:
        """Tell the terminal of an exchange that was recorded, as it comes."""
        if self.recorder is None or slot.status is None:
            return
        self._redactor.learn(slot.request.headers)
        number = self.recorder.slots.index(slot) + 1
        line = _line(self._redactor.exchange(slot.exchange()))
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
        if self._path in self._session.written:
            return False
        absent = not self._path.exists()
        return self._options.rerecord or (self._options.record and absent)

    def _player(self) -> Player:
        assert self.player is not None
        return self.player

    def _load(self) -> Cassette:
        try:
            return load_cassette(self._path, self.where)
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

    def _play(self, cassette: Cassette) -> Player:
        volatile = self.item.config.hook.pytest_synaptum_volatile(config=self.item.config)
        masks = (*self._marker.ignore, *self._options.ignore, *_flat(volatile))
        matcher = Matcher(self._marker.match, masks)
        command = self.command("--synaptum-rerecord")
        return Player(cassette, matcher, self._redactor, test=self.item.nodeid, command=command)

    def _redacted(self, recorder: Recorder) -> tuple[Exchange, ...]:
        self._redactor.refresh()
        raw = recorder.exchanges()
        for exchange in raw:
            self._redactor.learn(exchange.request.headers)
        return tuple(self._redactor.exchange(exchange) for exchange in raw)

    def close(self, report: pytest.TestReport | None) -> None:
        """Write what was recorded, or judge what was replayed; fails the test where it must."""
        passed = report is not None and (report.passed or hasattr(report, "wasxfail"))
        if self.recorder is not None:
            self._finish_recording(self.recorder, passed)
        else:
            self._finish_replay(self._player(), passed, report)

    def _finish_recording(self, recorder: Recorder, passed: bool) -> None:
        tally = self._session.tally
        reason = self._reason_to_keep_back(recorder, passed)
        if reason is not None:
            tally.kept_back.append(f"{self.where}: {reason}")
            return
        exchanges = self._redacted(recorder)
        try:
            self._redactor.scan(exchanges, self.where)
            text = dump_cassette(exchanges, self._header(recorder, exchanges))
            before = read_before(self._path)
            write_atomically(self._path, text)
        except PluginError as error:
            tally.kept_back.append(f"{self.where}: it still holds a secret")
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        except OSError as error:
            cause = error.strerror or str(error)
            tally.kept_back.append(f"{self.where}: {cause}")
            msg = (
                f"The cassette {self.where} cannot be written ({cause}): make its folder"
                " writable, and record again."
            )
            raise pytest.fail.Exception(msg, pytrace=False) from None
        self._session.written.add(self._path)
        tally.recorded += len(exchanges)
        # An earlier attempt of a test that is run again may not have passed.
        tally.kept_back[:] = [
            line for line in tally.kept_back if not line.startswith(f"{self.where}: ")
        ]
        tally.wrote.append(wrote(self.where, exchanges, len(text.encode("utf-8")), before))
        if len(text) > _LARGE:
            tally.notes.append(
                f"{self.where} has {len(text):,} characters, which nobody reviews: split the"
                " test, or ask for shorter answers"
            )
        # The file stands: a mask is corrected without asking the server again.
        matcher = Matcher(masks=self._marker.ignore)
        for exchange in exchanges:
            matcher.masked(body_value(exchange.request.body), note=True)
        self._judge_masks(matcher.matched)

    def _reason_to_keep_back(self, recorder: Recorder, passed: bool) -> str | None:
        slots = recorder.slots
        if not passed:
            hints = (
                hint_for(slot.status, slot.request.path, self._options.api_key_variable)
                for slot in slots
                if slot.status is not None
            )
            hint = next((hint for hint in hints if hint), None)
            return "the test did not pass" + (f"; {hint}" if hint else "")
        for slot in slots:
            status = slot.status
            if status is not None and is_retryable_status(status) and not self._options.force:
                return (
                    f"the server answered {status}, which is no answer to keep; record again, or"
                    " add --synaptum-force if the test is about it"
                )
        return None

    def _header(self, recorder: Recorder, exchanges: tuple[Exchange, ...]) -> dict[str, str]:
        """What is said about the recording, apart from its exchanges."""
        slots = recorder.slots
        header = {"at": isoformat(SystemClock().now_s())[:19] + "Z"}
        servers = (value for slot in slots for name, value in slot.headers if name == "server")
        server = next(servers, "")
        if server:
            header["server"] = self._redactor.text(server[:60])
        model = self._marker.model or (self._live.model if self._live else None)
        if model is None and exchanges:
            body = body_value(exchanges[0].request.body)
            asked = body.get("model") if isinstance(body, dict) else None
            model = asked if isinstance(asked, str) else None
        if model:
            header["model"] = self._redactor.text(model)
        header["plugin"] = version("pytest-synaptum")
        if self._live is not None and self.base_path != "/v1":
            header["base_path"] = self._redactor.text(self.base_path)
        # Only where the guard needs it; another host's name is nobody's business.
        origins = {
            slot.origin for slot in slots if guard.is_loopback(slot.origin.rpartition(":")[0])
        }
        if origins:
            header["origins"] = " ".join(sorted(origins))
        return header

    def _finish_replay(
        self, player: Player, passed: bool, report: pytest.TestReport | None
    ) -> None:
        tally = self._session.tally
        served = len(player.served())
        tally.replayed += served
        if served:
            tokens, unknown, seconds = player.cost()
            tally.tokens += tokens
            tally.tokens_unknown += unknown
            tally.seconds += seconds
        if player.mismatches:
            message = player.mismatches[0]
            if report is None or message.splitlines()[0] not in report.longreprtext:
                # A client retried, or put another text in its place.
                pytest.fail(message, pytrace=False)
        if not passed:
            return
        self._judge_masks(player.matcher.matched)
        self._judge_unused(player)

    def _judge_masks(self, matched: set[str]) -> None:
        wrong = [mask for mask in self._marker.ignore if mask not in matched]
        if wrong:
            msg = (
                f"{self.item.nodeid} ignores {wrong[0]!r}, but no request has anything there:"
                " correct the path in the marker's ignore=, or take it out."
            )
            pytest.fail(msg, pytrace=False)

    def _judge_unused(self, player: Player) -> None:
        unused = player.unused()
        # A cassette that a test names may be shared; what one leaves another may ask for.
        if not unused or self._marker.cassette is not None:
            return
        names = ", ".join(entry.name for entry in unused)
        self._session.tally.unused += [
            f"{self.where}: {entry.name}, {entry.method} {entry.path}" for entry in unused
        ]
        if self._options.strict:
            msg = (
                f"{self.item.nodeid} did not ask for all that its cassette {self.where} holds"
                f" ({names}); record it again: {self.command('--synaptum-rerecord')}"
            )
            pytest.fail(msg, pytrace=False)

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
    recording.close(item.stash.get(REPORTS, {}).get("call"))


def redactor_of(config: pytest.Config) -> Redactor:
    """What replaces secrets in this run: those of the project, of the environment, and shapes."""
    options = session_of(config).options
    secrets = _flat(config.hook.pytest_synaptum_redact(config=config))
    return Redactor(secrets, (options.api_key_variable,), keep_headers=options.keep_headers)


def _flat(answers: Iterable[Any]) -> list[Any]:
    """What the implementations of a hook named; one that gives a single thing is understood."""
    return [
        one
        for named in answers
        for one in ([named] if isinstance(named, str | re.Pattern) else named)
    ]


def _line(exchange: Exchange) -> str:
    """An exchange in a line: what was asked and answered, how much and how long it took."""
    about, response = about_exchange(exchange), exchange.response
    if response is None:
        return about
    seconds = (response.headers_after_s or 0.0) + sum(response.delays_s)
    return f"{about}; {len(response.body):,} bytes, {seconds:.1f} s"


def _cassette_path(item: pytest.Item, marker: Marker, path: Path) -> Path:
    if marker.cassette is None:
        return path
    chosen = inside(item.path.parent / CASSETTES, marker.cassette)
    if chosen is None:
        msg = (
            f"{item.nodeid}: cassette={marker.cassette!r} is no name inside the cassettes folder;"
            " use letters, digits, - and _, and / for folders."
        )
        pytest.fail(msg, pytrace=False)
    return chosen
