"""What the model answered in the straight run, for all the other runs of the same task.

The straight run speaks to the real gateway: it records, and counts for what is unused. Every
other run, in whatever process, gets a fresh view of the same answers: each step of each run is
answered as it was the first time, a failed attempt included. Tools are really run.

A request that the straight run did not make, or made with other bytes, is not answered.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_synaptum.resume.requests import RequestComparer, Texts, wire_form
from pytest_synaptum.resume.stops import Gate
from synaptum.errors import NetworkError
from synaptum.gateway.base import CallContext, Gateway
from synaptum.vocabulary import Finish, Request, Response, StreamEvent, ToolCall, ToolResult, unfold

__all__ = ["Answer", "DivergedError", "RecordingGateway", "ReplayingGateway", "Tape", "Watch"]


class DivergedError(Exception):
    """A request that the straight run did not make; not retryable, so that the run ends here."""


@dataclass(slots=True)
class Answer:
    """One question to the model and what came of it.

    Attributes:
        run: `run`, or `run.000003-delegate` for a sub-agent's.
        is_approved: whether a person's decision came with it.
        events: the answer as a stream; None where it was asked for whole.
        error: what was raised, after the events if there were any.
    """

    run: str
    step_id: str
    request: Request
    is_approved: bool
    response: Response | None = None
    events: list[StreamEvent] | None = None
    error: Exception | None = None


@dataclass(slots=True)
class Tape:
    """The answers of the straight run, in the order in which they were asked for."""

    answers: list[Answer] = field(default_factory=list)
    wire_texts: Texts = field(default_factory=lambda: Texts(wire_form))
    _places: dict[tuple[str, str, bool], list[Answer]] = field(default_factory=dict)

    def add(self, answer: Answer) -> None:
        """Keep one more."""
        self.answers.append(answer)
        key = (answer.run, answer.step_id, answer.is_approved)
        self._places.setdefault(key, []).append(answer)

    def of(self, run: str, step_id: str, is_approved: bool) -> list[Answer]:
        """The attempts of one step."""
        return self._places.get((run, step_id, is_approved), [])


class Watch(Protocol):
    """Who is told what a run does."""

    def name_of(self, run_id: str) -> str:
        """The run's name without what tells one stopped run from another."""
        ...

    def asked(self, run: str, step_id: str, request: Request) -> None:
        """The model was asked."""
        ...

    def effect(self, run: str, step_id: str, call: ToolCall) -> None:
        """A tool is about to be run."""
        ...

    def strayed(self, run: str, step_id: str, request: Request, expected: Request | None) -> None:
        """The request is not that of the straight run, or that run made none."""
        ...


class _Tapped:
    """A gateway in front of another; what the other offers besides is offered too."""

    def __init__(self, inner: Gateway, watch: Watch, gate: Gate) -> None:
        self._inner = inner
        self._watch = watch
        self._gate = gate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def invoke_tool(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Run the tool for real."""
        self._watch.effect(self._watch.name_of(context.run_id), context.step_id, call)
        try:
            return await self._inner.invoke_tool(call, context)
        finally:
            self._gate.effect_happened()


class RecordingGateway(_Tapped):
    """The gateway of the straight run: passes everything on and keeps the answers."""

    def __init__(self, inner: Gateway, watch: Watch, gate: Gate, tape: Tape) -> None:
        super().__init__(inner, watch, gate)
        self._tape = tape

    async def invoke_model(self, request: Request, context: CallContext) -> Response:
        """Ask the real model."""
        answer = self._begin(request, context)
        try:
            answer.response = await self._inner.invoke_model(request, context)
        except Exception as error:
            answer.error = error
            raise
        return answer.response

    async def stream_model(
        self, request: Request, context: CallContext
    ) -> AsyncGenerator[StreamEvent, None]:
        """Ask the real model for a stream."""
        answer = self._begin(request, context)
        answer.events = []
        events = self._inner.stream_model(request, context)
        try:
            async for event in events:
                answer.events.append(event)
                yield event
        except Exception as error:
            answer.error = error
            raise
        finally:
            await _close(events)

    def _begin(self, request: Request, context: CallContext) -> Answer:
        run = self._watch.name_of(context.run_id)
        self._watch.asked(run, context.step_id, request)
        answer = Answer(run, context.step_id, request, context.approval is not None)
        self._tape.add(answer)
        return answer


class ReplayingGateway(_Tapped):
    """The gateway of every other run: a fresh view of the tape, and real tools."""

    def __init__(self, inner: Gateway, watch: Watch, gate: Gate, tape: Tape) -> None:
        super().__init__(inner, watch, gate)
        self._tape = tape
        self._taken: dict[tuple[str, str, bool], int] = {}
        self._comparer = RequestComparer(tape.wire_texts)
        self._by_bytes = False

    def follow_bytes(self) -> None:
        """From now on find answers by the bytes of the request: steps have other numbers."""
        self._by_bytes = True

    async def invoke_model(self, request: Request, context: CallContext) -> Response:
        """Answer as the straight run was answered. Raises `DivergedError`."""
        answer = self._take(request, context)
        if answer.error is not None:
            raise answer.error
        if answer.response is not None:
            return answer.response
        for event in answer.events or ():
            if isinstance(event, Finish):
                return event.response
        msg = "The stream of the straight run ended before its answer was whole."
        raise NetworkError(msg)

    async def stream_model(
        self, request: Request, context: CallContext
    ) -> AsyncGenerator[StreamEvent, None]:
        """The same, fragment by fragment."""
        answer = self._take(request, context)
        events = answer.events
        if events is None:
            events = [] if answer.response is None else list(unfold(answer.response))
        for event in events:
            yield event
        if answer.error is not None:
            raise answer.error

    def _take(self, request: Request, context: CallContext) -> Answer:
        run, is_approved = self._watch.name_of(context.run_id), context.approval is not None
        self._watch.asked(run, context.step_id, request)
        key = (run, context.step_id, is_approved)
        place = self._taken.get(key, 0)
        self._taken[key] = place + 1
        attempts = self._tape.of(*key)
        if self._by_bytes:
            found = [one for one in self._tape.answers if self._is_same(one, request, is_approved)]
            if found:
                return found[-1]
        if place < len(attempts):
            answer = attempts[place]
            if self._comparer.are_same(run, answer.request, request):
                return answer
            self._watch.strayed(run, context.step_id, request, answer.request)
        else:
            self._watch.strayed(run, context.step_id, request, None)
        msg = f"{context.step_id}: the straight run made no such request."
        raise DivergedError(msg)

    @staticmethod
    def _is_same(answer: Answer, request: Request, is_approved: bool) -> bool:
        if answer.is_approved is not is_approved:
            return False
        return wire_form(answer.request) == wire_form(request)


async def _close(events: AsyncIterator[StreamEvent]) -> None:
    close = getattr(events, "aclose", None)
    if close is not None:
        await close()
