"""Carrying out the calls that a script makes, while it runs; see `synaptum.agent.scripts`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from synaptum.agent.calls import Caller, Outcome
from synaptum.agent.plan import Plan
from synaptum.agent.progress import Call, Progress, uncertain_effect
from synaptum.agent.recorder import Recorder
from synaptum.agent.scripts import Asked, ScriptBridge, call_of, is_carried_out
from synaptum.vocabulary import Step, ToolResult, ToolStep

__all__ = ["Scripts"]


class Scripts:
    """Runs the tools that make calls, for one passage through a run."""

    def __init__(self, plan: Plan, caller: Caller, progress: Progress, recorder: Recorder) -> None:
        self._plan = plan
        self._caller = caller
        self._progress = progress
        self._recorder = recorder

    async def run(self, step: ToolStep, action: Call) -> AsyncGenerator[Step | Outcome, None]:
        """Run a tool that makes calls: the steps of its calls, and last what came of it.

        Without an outcome the script was stopped at a call, and that call is what comes next.
        """
        bridge = ScriptBridge()
        script = asyncio.create_task(self._caller.tool(step, action, bridge))
        try:
            while (asked := await bridge.next_of(script)) is not None:
                async with aclosing(self._call(step, asked)) as events:
                    async for event in events:
                        yield event
                ended = self._progress.script.on_record(asked)
                if ended is None or ended.result is None or self._progress.ending is not None:
                    return
                if not asked.answer.done():
                    asked.answer.set_result(ended.result)
            yield await script
        finally:
            script.cancel()
            await asyncio.wait({script})
            if not script.cancelled():
                script.exception()  # seen, where it ended by itself meanwhile

    async def end(self, step: ToolStep) -> Step:
        """Record the end of a script that the run's end has stopped."""
        text = self._plan.wording.surfaces.script_stopped.format(name=step.call.name)
        result = ToolResult.of(step.call.id, text, is_error=True)
        return await self._recorder.record_end(step, result=result, meta={})

    async def _call(self, script: ToolStep, asked: Asked) -> AsyncGenerator[Step, None]:
        """Carry out a call of a script, or find that it is on record already."""
        calls = self._progress.script
        if calls.strays(asked):
            raise uncertain_effect(script, self._plan)
        step = calls.on_record(asked)
        if step is not None and step.result is not None:
            return
        approval, given = calls.decision_on(asked)
        if step is not None and step is calls.open:
            if not step.idempotent and is_carried_out(approval, given):
                raise uncertain_effect(step, self._plan)
        else:
            definition = self._plan.script_tools[asked.name].definition
            place = {"within": script.step_id, "number": asked.number}
            step = ToolStep(
                **self._recorder.next("tool", place),
                call=call_of(script, asked),
                risk=definition.risk,
                idempotent=definition.idempotent,
            )
            yield await self._recorder.record(step)
        outcome = await self._caller.tool(step, Call(step.call, step, approval, given))
        meta = {**outcome.meta, "within": step.meta["within"], "number": step.meta["number"]}
        yield await self._recorder.record_end(step, result=outcome.result, meta=meta)
