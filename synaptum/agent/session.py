"""One run of an agent: its name, who carries out its calls, and where its journal is kept.

A session also holds the doors to time and chance, and is where a person steps in: `waiting`
says what the run waits for, `decide` answers it, `resolve` settles a call whose fate nobody
knows. Both are journalled before they count.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from synaptum.agent.live import is_live, run_key
from synaptum.agent.scripts import script_of
from synaptum.clock import (
    Clock,
    Random,
    Sleep,
    SystemClock,
    isoformat,
    system_random,
    system_sleep,
)
from synaptum.errors import ConfigurationError
from synaptum.gateway.base import Gateway
from synaptum.journal.memory import MemoryCheckpointer
from synaptum.journal.store import Checkpointer, Releasable, RunState, busy
from synaptum.vocabulary import (
    ALLOW,
    ApprovalStep,
    Decision,
    Disposition,
    Phase,
    Step,
    ToolResult,
    ToolStep,
)
from synaptum.vocabulary.codec import to_json

__all__ = ["Session"]


class Session:
    """A run, wherever it is continued.

    Args:
        run_id: the run's name; the same name continues the same run.
        gateway: carries out the calls.
        checkpointer: keeps the journal; in memory where none is given.
        clock: tells the times that the journal keeps; they never count in a comparison.
        sleep: waits between attempts.
        random: jitter of those waits.
    """

    def __init__(
        self,
        run_id: str,
        gateway: Gateway,
        checkpointer: Checkpointer | None = None,
        *,
        clock: Clock | None = None,
        sleep: Sleep = system_sleep,
        random: Random = system_random,
    ) -> None:
        given: object = run_id
        if not isinstance(given, str) or not given:
            msg = f"Session(run_id={run_id!r}): a run needs a name, a text that is not empty."
            raise ConfigurationError(msg)
        if not (hasattr(gateway, "invoke_model") or hasattr(gateway, "stream_model")):
            msg = (
                f"Session(gateway=...): a {type(gateway).__name__} is no gateway, it has no"
                " invoke_model. A model is put behind one by LocalGateway(model=..., tools=[...])"
                " or, where it has that, by its own gateway(tools=[...])."
            )
            raise ConfigurationError(msg)
        self.run_id = run_id
        self.gateway = gateway
        self.checkpointer: Checkpointer = (
            MemoryCheckpointer() if checkpointer is None else checkpointer
        )
        self.clock: Clock = SystemClock() if clock is None else clock
        self.sleep = sleep
        self.random = random

    def __repr__(self) -> str:
        return f"Session({self.run_id!r})"

    def now(self) -> str:
        """The time as the journal writes it."""
        return isoformat(self.clock.now_s())

    def child(self, run_id: str) -> Session:
        """A session of another run on the same gateway and store, such as a sub-agent's."""
        return Session(
            run_id,
            self.gateway,
            self.checkpointer,
            clock=self.clock,
            sleep=self.sleep,
            random=self.random,
        )

    async def state(self) -> RunState:
        """The journal so far."""
        return await self.checkpointer.load(self.run_id)

    async def record(self, event: Step) -> None:
        """Write a step of this run, then tell the gateway. For the loop and this class.

        Raises: what `Checkpointer.append` raises.
        """
        await self.checkpointer.append(self.run_id, event)
        self.announce(event)

    def announce(self, event: Step) -> None:
        """Tell the gateway of a step on record, if it wants to know (`GatewayExtras`)."""
        told = getattr(self.gateway, "journalled", None)
        if told is not None:
            told(event)

    async def waiting(self) -> ApprovalStep | None:
        """What the run waits for a person to decide, or None.

        The step names the waiting one (`target`), the call, and its risk; `meta["decision"]`
        or `meta["message"]` says why a person is needed.
        """
        state = await self.state()
        return _open_approval(state.events)

    async def decide(self, step_id: str, decision: Decision) -> None:
        """Answer an approval, for good; the run goes on when it is resumed.

        In: the id of the approval step or of the step that waits. ALLOW carries the call
        out, DENY_STEP gives the model an error with the reason, TERMINATE_RUN closes the run.

        Raises:
            ConfigurationError: nothing of that name waits, it was decided otherwise before,
                or the decision decides nothing.
        """
        given: object = decision
        if not isinstance(given, Decision) or given.disposition is Disposition.REQUIRE_APPROVAL:
            msg = (
                "A person decides ALLOW, DENY_STEP or TERMINATE_RUN, as a Decision; asking again is"
                f" none, nor is {given!r}."
            )
            raise ConfigurationError(msg)
        approval = await self._approval(step_id)
        if approval.phase is Phase.COMPLETED:
            if approval.decision == decision:
                return
            msg = f"Run {self.run_id!r}: {approval.step_id} was decided before, and that is final."
            raise ConfigurationError(msg)
        if "child_run_id" in approval.meta:
            # The sub-agent's journal first: it is what counts when the process ends in between.
            child = self.child(approval.meta["child_run_id"])
            await child.decide(approval.meta["child_step_id"], decision)
        await self._complete_approval(approval, decision, approval.meta)

    async def resolve(
        self, step_id: str, *, result: ToolResult | str | None = None, rerun: bool = False
    ) -> None:
        """Settle a call: say what came of it, or that it is to be run again.

        For a call left by `UncertainEffect`, and, with `result=`, for one that waits for a
        person, who then did it themselves.

        Raises:
            ConfigurationError: not exactly one of `result=` and `rerun=True`, or no call of
                that name is open.
            JournalBusyError: the run is going on, here or in another process.
        """
        if (result is None) != rerun:
            msg = "Session.resolve takes result=... or rerun=True, exactly one of the two."
            raise ConfigurationError(msg)
        state = await self.state()
        approval = _open_approval(state.events)
        if approval is not None and step_id in (approval.step_id, approval.target):
            await self._answer_for_the_tool(approval, result)
            return
        opened = _open_calls(state.events)
        step = opened.get(step_id)
        if step is None:
            last = next(reversed(opened), None)
            found = "no call is open" if last is None else f"the open call is {last}"
            msg = f"Run {self.run_id!r} has no open call {step_id!r}: {found}."
            raise ConfigurationError(msg)
        if is_live(run_key(self.checkpointer, self.run_id)):
            # It carries that call out, or is about to.
            raise busy(self.run_id, "another task of this process")
        if result is None:
            meta: dict[str, Any] = {"needs": "rerun"}
            whole = None
        else:
            meta = {"resolved": True}
            whole = _as_result(step, result)
        if script_of(step) is not None:
            meta |= {name: step.meta[name] for name in ("within", "number")}
        await self._settle(
            replace(step, phase=Phase.COMPLETED, at=self.now(), result=whole, meta=meta)
        )

    async def _answer_for_the_tool(
        self, approval: ApprovalStep, result: ToolResult | str | None
    ) -> None:
        if result is None or approval.call is None or "child_run_id" in approval.meta:
            msg = (
                f"Run {self.run_id!r}: {approval.step_id} waits for a decision; use"
                " Session.decide, or resolve a call of this run with result=..."
            )
            raise ConfigurationError(msg)
        whole = ToolResult.of(approval.call.id, result) if isinstance(result, str) else result
        meta = {**approval.meta, "result": to_json(replace(whole, call_id=approval.call.id))}
        await self._complete_approval(approval, ALLOW, meta)

    async def _complete_approval(
        self, approval: ApprovalStep, decision: Decision, meta: Any
    ) -> None:
        await self._settle(
            replace(approval, phase=Phase.COMPLETED, at=self.now(), decision=decision, meta=meta)
        )

    async def _settle(self, event: Step) -> None:
        """Write what a person said, and leave the run to whoever goes on with it."""
        try:
            await self.record(event)
        finally:
            if isinstance(self.checkpointer, Releasable):
                await self.checkpointer.release(self.run_id)

    async def _approval(self, step_id: str) -> ApprovalStep:
        found: ApprovalStep | None = None
        for event in (await self.state()).events:
            if isinstance(event, ApprovalStep) and step_id in (event.step_id, event.target):
                found = event
        if found is None:
            msg = (
                f"Run {self.run_id!r} has no approval {step_id!r}, and no step that waits for one."
            )
            raise ConfigurationError(msg)
        return found


def _open_approval(events: tuple[Step, ...]) -> ApprovalStep | None:
    last = events[-1] if events else None
    if isinstance(last, ApprovalStep) and last.phase is Phase.ATTEMPTED:
        return last
    return None


def _open_calls(events: tuple[Step, ...]) -> dict[str, ToolStep]:
    """The calls without an end, by step: at most a script and one call that it made."""
    opened: dict[str, ToolStep] = {}
    for event in events:
        if isinstance(event, ToolStep) and event.phase is Phase.ATTEMPTED:
            opened[event.step_id] = event
        else:
            opened.pop(event.step_id, None)
    return opened


def _as_result(step: ToolStep, result: ToolResult | str) -> ToolResult:
    if isinstance(result, str):
        return ToolResult.of(step.call.id, result)
    return replace(result, call_id=step.call.id)
