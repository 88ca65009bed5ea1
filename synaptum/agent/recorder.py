"""Writing the steps of a run: each is numbered, put on record, and then taken by the fold.

In this order, always: what `Progress` has taken is on record, and nobody is shown a step that
is not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from synaptum.agent.foreign import unusable_result
from synaptum.agent.plan import Plan
from synaptum.agent.progress import Progress
from synaptum.agent.session import Session
from synaptum.errors import EncodingError
from synaptum.tools.base import unwritable
from synaptum.vocabulary import DelegateStep, Phase, Step, ToolStep, make_step_id

__all__ = ["Recorder"]


class Recorder:
    """Writes for one passage through a run.

    Args:
        plan: whose wording the model is told a value in that nobody can keep.
        session: the run, its store and its clock.
        progress: takes every event once it is on record.
        configuration: what the run's first event records; None where it is on record.
    """

    def __init__(
        self,
        plan: Plan,
        session: Session,
        progress: Progress,
        configuration: dict[str, Any] | None,
    ) -> None:
        self._plan = plan
        self._session = session
        self._progress = progress
        self._configuration = configuration

    def next(self, kind: str, meta: Any = None) -> dict[str, Any]:
        """The fields that every step has, for the intent of the next one."""
        seq = self._progress.next_seq
        first = {} if self._configuration is None else {"configuration": self._configuration}
        return {
            "run_id": self._session.run_id,
            "step_id": make_step_id(seq, kind),
            "step_seq": seq,
            "phase": Phase.ATTEMPTED,
            "at": self._session.now(),
            "meta": {**(meta or {}), **first},
        }

    async def record(self, event: Step) -> Step:
        """Put an event on record; gives it back. Raises what `Checkpointer.append` raises."""
        await self._session.record(event)
        self._configuration = None
        self._progress.apply(event)
        return event

    async def record_end(self, step: ToolStep | DelegateStep, **ended: Any) -> Step:
        """Record the end of a call.

        A value without a JSON form is told to the model: the call has happened, and left open
        it would look as if nobody knew.
        """
        end = replace(step, phase=Phase.COMPLETED, at=self._session.now(), **ended)
        try:
            return await self.record(end)
        except EncodingError as error:
            if end.result is None:
                raise
            kind = type(end.result).__name__
            words = self._plan.wording
            told = unusable_result(step.call, kind, words, unwritable(error, words))
            return await self.record(replace(end, result=told))
