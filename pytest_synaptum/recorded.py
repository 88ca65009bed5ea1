"""What the recorded fixtures give a test: a model, or a capture of any HTTP client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Final

import pytest

from pytest_synaptum.capture.linting import LintingTransport
from pytest_synaptum.capture.synaptum import RecordingTransport, ReplayTransport
from pytest_synaptum.cassette.player import Player
from pytest_synaptum.exchange import Exchange
from pytest_synaptum.recording import Recording
from pytest_synaptum.report.parts import journalled_by
from synaptum.gateway.local import LocalGateway, Policy
from synaptum.models.http import HttpModel
from synaptum.transport.base import Transport
from synaptum.transport.urllib import UrllibTransport
from synaptum.vocabulary import Request, Response, StreamEvent

if TYPE_CHECKING:
    from synaptum.gateway.base import CallContext
    from synaptum.tools.base import Tool

__all__ = ["RecordedHttp", "RecordedProvider"]

#: Where a replay pretends to send; no such host can exist (RFC 6761, section 6.4).
_NOWHERE: Final = "http://recorded.invalid"


class RecordedProvider:
    """A model behind an OpenAI-compatible server, recorded once and replayed from then on.

    `complete` and `stream` fit wherever a model fits.

    Attributes:
        http_model: the `HttpModel` underneath.
        waits: seconds of each wait that was asked for by `sleep`.
    """

    def __init__(self, recording: Recording, player: Player | None = None) -> None:
        self._recording = recording
        self.waits: list[float] = []
        # A fresh view is for runs that are repeated; the page of the run shows the first.
        self._journalled = journalled_by(recording.item) if player is None else None
        player = player or recording.player
        #: How much of a wait is waited; None while recording, when all of it is.
        self._pace = None if player is None else recording.pace
        transport: Transport
        if player is not None:
            transport = ReplayTransport(player, recording.pace)
            base_url, key = _NOWHERE + recording.base_path, None
        else:
            assert recording.recorder is not None
            live = recording.live()
            transport = RecordingTransport(UrllibTransport(), recording.recorder)
            base_url, key = live.base_url, live.api_key
        self.http_model = HttpModel(base_url, key, transport=LintingTransport(transport))

    def __repr__(self) -> str:
        state = "recording" if self._recording.player is None else "replaying"
        return f"<recorded_provider {state} {self._recording.where}>"

    @property
    def model_name(self) -> str:
        """The model's name as it travels, for `Request(model=...)`."""
        return _model_name(self._recording)

    @property
    def model(self) -> str:
        """The model with its provider's prefix, for `Agent(model=...)`."""
        return f"{self.http_model.name}:{self.model_name}"

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges so far, redacted, in the order they were asked."""
        return self._recording.exchanges()

    async def complete(self, request: Request, context: CallContext | None = None) -> Response:
        """Ask and wait for the whole answer. Raises what `HttpModel.complete` raises."""
        return await self.http_model.complete(request, context)

    def stream(
        self, request: Request, context: CallContext | None = None
    ) -> AsyncIterator[StreamEvent]:
        """Ask and give the answer's events as they come."""
        return self.http_model.stream(request, context)

    def wire_body(self, request: Request, *, stream: bool) -> bytes:
        """The body that would travel for a request."""
        return self.http_model.wire_body(request, stream=stream)

    def gateway(self, tools: Iterable[Tool] = (), policy: Policy | None = None) -> LocalGateway:
        """A gateway to this model and to `tools`, for a `Session`."""
        return LocalGateway(
            model=self.complete,
            stream=self.stream,
            tools=tools,
            policy=policy,
            journalled=self._journalled,
        )

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts, for `Session(sleep=)`: on replay as little as for the answers."""
        self.waits.append(seconds)
        # Other tasks get their turn where nothing is waited, too.
        await asyncio.sleep(seconds if self._pace is None else seconds * self._pace)

    def fresh(self) -> RecordedProvider:
        """The same model over a fresh view of the exchanges so far, which counts for nothing.

        For runs that are repeated: each gets every answer again, from the first.
        """
        return RecordedProvider(self._recording, self._recording.view())


class RecordedHttp:
    """Any HTTP client of the test's process, recorded once and replayed from then on.

    The capture is on for as long as the test runs; `with recorded_http as ex:` is there for
    those who like to see where.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @classmethod
    @contextlib.contextmanager
    def capturing(cls, recording: Recording) -> Iterator[RecordedHttp]:
        """Capture until the block ends."""
        from pytest_synaptum.capture.clients import captured

        with captured(recording.recorder, recording.player, recording.pace):
            yield cls(recording)

    def __enter__(self) -> RecordedHttp:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __repr__(self) -> str:
        state = "recording" if self._recording.player is None else "replaying"
        return f"<recorded_http {state} {self._recording.where}>"

    @property
    def base_url(self) -> str:
        """Where to send requests: the live server while recording, an address nowhere after.

        A client that has its own base URL keeps it; hosts do not count in a replay.
        """
        if self._recording.player is not None:
            return _NOWHERE + self._recording.base_path
        return self._recording.live().base_url

    @property
    def model(self) -> str:
        """The model's name as it travels."""
        return _model_name(self._recording)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges so far, redacted, in the order they were asked."""
        return self._recording.exchanges()


def _model_name(recording: Recording) -> str:
    name = recording.model
    if not name:
        msg = (
            "There is no model to ask: give its name with --synaptum-model or"
            " SYNAPTUM_MODEL, in the marker's model=, or in the fixture synaptum_model."
        )
        pytest.fail(msg, pytrace=False)
    return name
