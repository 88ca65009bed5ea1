"""The loop: read the journal, do the next thing, write it down, and again.

    events -> Progress -> next_action -> perform -> append -> events ...

`progress` decides, this module performs. It owns the order that makes a run survive: an
intent is on record before anything happens, a result before anyone sees it. `run` and
`stream` are this same generator; streaming only adds the model's fragments.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final

from synaptum.agent.calls import Caller, Outcome
from synaptum.agent.delegate import child_run_id
from synaptum.agent.foreign import cancellation_told, checked_response
from synaptum.agent.live import hold, let_go, run_key
from synaptum.agent.plan import Plan
from synaptum.agent.progress import (
    Ask,
    AskPerson,
    Call,
    Done,
    EndScript,
    Progress,
    Suspend,
    next_action,
)
from synaptum.agent.recorder import Recorder
from synaptum.agent.retries import Attempts
from synaptum.agent.script_run import Scripts
from synaptum.agent.session import Session
from synaptum.agent.start import begin
from synaptum.agent.verdict import Close, Fail
from synaptum.errors import Denied
from synaptum.gateway.base import CallContext
from synaptum.journal.store import Claimable, Releasable, busy
from synaptum.vocabulary import (
    ApprovalStep,
    DelegateStep,
    Disposition,
    FinalStep,
    Finish,
    Message,
    ModelStep,
    Phase,
    Request,
    Response,
    Step,
    StreamEvent,
    StreamStart,
    ToolStep,
    Usage,
)
from synaptum.vocabulary.codec import to_json
from synaptum.vocabulary.stream import broken_off

__all__ = ["Run"]

Events = AsyncGenerator[Step | StreamEvent, None]

#: A passage that was left inside of another generator is only found to be left when the event
#: loop closes that one, which it does as soon as it comes round.
_ROUNDS_TO_CLOSE: Final = 10


class Run:
    """One passage through a run: from where its journal ends to its end, or to a stop."""

    def __init__(self, plan: Plan, session: Session, *, streaming: bool) -> None:
        self._plan = plan
        self._session = session
        self._streaming = streaming
        self._caller = Caller(plan, session, _start_child)
        self._mark: weakref.ref[Events]
        self._is_alone: bool
        self._progress: Progress
        self._recorder: Recorder
        self._scripts: Scripts

    @property
    def usage(self) -> Usage:
        """Tokens so far, sub-agents included."""
        return self._progress.usage

    @property
    def final(self) -> FinalStep | None:
        """How the run closed, as it is on record; None where it did not."""
        return self._progress.final

    def events(self, task: tuple[Message, ...] | None) -> Events:
        """All events of the run: those on record, then those that happen now."""
        events = self._events(task)
        self._mark = weakref.ref(events)
        return events

    async def _events(self, task: tuple[Message, ...] | None) -> Events:
        run = run_key(self._session.checkpointer, self._session.run_id)
        self._is_alone = hold(run, self._mark)
        for _ in range(_ROUNDS_TO_CLOSE):
            if self._is_alone:
                break
            await asyncio.sleep(0)
            self._is_alone = hold(run, self._mark)
        try:
            async with aclosing(self._passage(task)) as events:
                async for event in events:
                    yield event
        finally:
            # A run that waits, failed or was left may be resumed by another process.
            is_ours = let_go(run, self._mark)
            if is_ours and isinstance(self._session.checkpointer, Releasable):
                await self._session.checkpointer.release(self._session.run_id)

    async def _passage(self, task: tuple[Message, ...] | None) -> Events:
        state = await self._session.checkpointer.load(self._session.run_id)
        opening, configuration = begin(self._plan, self._session.gateway, state, task)
        self._progress = Progress(self._plan, opening)
        self._recorder = Recorder(self._plan, self._session, self._progress, configuration)
        self._scripts = Scripts(self._plan, self._caller, self._progress, self._recorder)
        for step in state.events:
            self._session.announce(step)
            self._progress.apply(step)
            yield self._shown(step)
        self._progress.adopt_recorded_messages()
        # A run that is gone on with is held before any of it happens a second time.
        to_claim: object = self._session.checkpointer if state.events else None
        while True:
            action = next_action(self._progress, self._plan, self._session.run_id)
            if isinstance(action, Done | Suspend):
                return
            if not self._is_alone:
                raise busy(self._session.run_id, "another task of this process")
            if isinstance(to_claim, Claimable):
                await to_claim.claim(self._session.run_id)
            to_claim = None
            if isinstance(action, Fail):
                raise action.error
            async with aclosing(self._perform(action)) as events:
                async for event in events:
                    yield event

    def _perform(self, action: Ask | Call | AskPerson | EndScript | Close) -> Events:
        if isinstance(action, Ask):
            return self._ask(action)
        if isinstance(action, Call):
            return self._call(action)
        if isinstance(action, AskPerson):
            return self._ask_person(action.target)
        if isinstance(action, EndScript):
            return self._end_script(action.step)
        return self._close(action)

    # The model

    async def _ask(self, action: Ask) -> Events:
        step = action.step
        if step is None:
            request = self._plan.request(self._progress.history)
            step = ModelStep(**self._recorder.next("model"), request=request)
            yield await self._recorder.record(step)
        else:
            # The bytes of the first time, under the same key. They are built again and not taken
            # from the journal, which sorts keys: the order of a schema is part of the bytes.
            # Only instructions may come out otherwise now, where a function gives them.
            request = self._plan.request(self._progress.history)
            if step.request is not None:
                request = replace(request, system=step.request.system)
        attempts = Attempts(
            self._plan.limits, self._session.sleep, self._session.random, request.model
        )
        context = CallContext(self._session.run_id, step.step_id, action.approval, attempts.note)
        outcome: Response | Denied | None = None
        while outcome is None:
            opened = False
            try:
                with cancellation_told(f"The question to {request.model!r}"):
                    async with aclosing(self._answer(request, context)) as answer:
                        async for event in answer:
                            if isinstance(event, Response):
                                outcome = event
                            else:
                                opened = opened or isinstance(event, StreamStart)
                                yield event
            except Denied as error:
                outcome = error
            except Exception as error:
                if self._streaming and not opened and attempts.may_retry(error):
                    yield StreamStart()  # so that every attempt shows, also one refused at once
                await attempts.failed(error)
        if isinstance(outcome, Denied):
            async with aclosing(self._denied_model(step, outcome)) as events:
                async for denial in events:
                    yield denial
            return
        completed = replace(
            step,
            phase=Phase.COMPLETED,
            at=self._session.now(),
            meta=attempts.meta(),
            response=outcome,
            usage=outcome.usage,
        )
        yield await self._recorder.record(completed)

    async def _answer(
        self, request: Request, context: CallContext
    ) -> AsyncGenerator[StreamEvent | Response, None]:
        """One attempt: the fragments where they are wanted, and last the whole answer."""
        gateway = self._session.gateway
        response: object = None
        if not self._streaming:
            response = await gateway.invoke_model(request, context)
        else:
            stream = gateway.stream_model(request, context)
            try:
                async for event in stream:
                    yield event
                    if isinstance(event, Finish):
                        response = event.response
            finally:
                await _close_stream(stream)
            if response is None:
                raise broken_off()
        whole = checked_response(response)
        if whole.failure is not None:
            raise whole.failure
        yield whole

    async def _denied_model(self, step: ModelStep, denied: Denied) -> Events:
        decision = denied.decision
        if decision.disposition is Disposition.REQUIRE_APPROVAL:
            yield await self._recorder.record(
                ApprovalStep(
                    **self._recorder.next("approval", {"decision": to_json(decision)}),
                    target=step.step_id,
                )
            )
        elif decision.disposition is Disposition.TERMINATE_RUN:
            close = Close(None, "terminated", {"decision": to_json(decision)})
            async with aclosing(self._close(close)) as events:
                async for event in events:
                    yield event
        else:
            raise denied

    # Calls of the model

    async def _call(self, action: Call) -> Events:
        step = action.step
        if step is None:
            step = self._intent(action)
            yield await self._recorder.record(step)
        outcome: Outcome | None = None
        if isinstance(step, DelegateStep):
            outcome = await self._caller.delegate(step, action)
        elif self._plan.makes_calls(step.call.name):
            async with aclosing(self._scripts.run(step, action)) as events:
                async for event in events:
                    if isinstance(event, Outcome):
                        outcome = event
                    else:
                        yield event
            if outcome is None:
                return  # it waits for a person, or the run ends
        else:
            outcome = await self._caller.tool(step, action)
        if outcome.child_waits is not None:
            yield await self._recorder.record(self._wait_for_child(step, outcome.child_waits))
            return
        ended: dict[str, Any] = {"result": outcome.result, "meta": outcome.meta}
        if isinstance(step, DelegateStep):
            ended["usage"] = outcome.usage
        yield await self._recorder.record_end(step, **ended)

    def _intent(self, action: Call) -> ToolStep | DelegateStep:
        call = action.call
        delegate = self._plan.delegates.get(call.name)
        if delegate is not None and call.unreadable_arguments is None:
            common = self._recorder.next("delegate")
            return DelegateStep(
                **common,
                call=call,
                child_run_id=child_run_id(self._session.run_id, common["step_id"]),
                risk=delegate.definition.risk,
                idempotent=delegate.definition.idempotent,
            )
        tool = self._plan.tools.get(call.name)
        idempotent = tool is not None and tool.definition.idempotent
        # Whoever reads the journal is to know that calls of its own may follow.
        kind = {"script": True} if self._plan.makes_calls(call.name) else {}
        return ToolStep(
            **self._recorder.next("tool", kind),
            call=call,
            risk=self._plan.risk_of(call.name),
            idempotent=idempotent,
        )

    async def _end_script(self, step: ToolStep) -> Events:
        yield await self._scripts.end(step)

    # People

    async def _ask_person(self, target: ToolStep | DelegateStep) -> Events:
        why = {key: target.meta[key] for key in ("decision", "message") if key in target.meta}
        yield await self._recorder.record(
            ApprovalStep(
                **self._recorder.next("approval", why),
                target=target.step_id,
                call=target.call,
                risk=target.risk,
            )
        )

    def _wait_for_child(self, step: ToolStep | DelegateStep, waits: ApprovalStep) -> ApprovalStep:
        place = {"child_run_id": waits.run_id, "child_step_id": waits.step_id}
        why = {key: waits.meta[key] for key in ("decision", "message") if key in waits.meta}
        return ApprovalStep(
            **self._recorder.next("approval", {**why, **place}),
            target=step.step_id,
            call=waits.call,
            risk=waits.risk,
        )

    # The end

    async def _close(self, close: Close) -> Events:
        step = self._progress.open
        if not isinstance(step, FinalStep):
            step = FinalStep(**self._recorder.next("final", close.meta), reason=close.reason)
            yield await self._recorder.record(step)
        final = replace(
            step,
            phase=Phase.COMPLETED,
            at=self._session.now(),
            output=close.output,
            usage=self._progress.usage,
        )
        yield self._shown(await self._recorder.record(final))

    # What the caller sees

    def _shown(self, event: Step) -> Step:
        """The event as the caller sees it: a final output in its own type."""
        output = self._plan.output
        if output is None or not isinstance(event, FinalStep) or event.reason != "finished":
            return event
        if event.phase is Phase.ATTEMPTED:
            return event
        return replace(event, output=output.read(event.output))


def _start_child(plan: Plan, session: Session) -> Run:
    return Run(plan, session, streaming=False)


async def _close_stream(stream: AsyncIterator[StreamEvent]) -> None:
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()
