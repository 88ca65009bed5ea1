"""OpenTelemetry spans of the loop's structure, and of nothing else.

    async for step in traced(agent.run(task, session=session)):
        ...

One span a run, one inside it a step, from its intent to its end. They say which step, of which
kind, which tool, how it ended; never what was said, asked or returned: a trace goes to people
who may not read the conversation. Tokens are `synaptum.economy`'s business.

Needs the extra `otel`; this module imports it only when `traced` is called.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from synaptum.errors import ConfigurationError
from synaptum.vocabulary import (
    ApprovalStep,
    DelegateStep,
    FinalStep,
    ModelStep,
    Phase,
    Step,
    ToolStep,
)

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

__all__ = ["traced"]

_Item = TypeVar("_Item")


def traced(items: AsyncIterator[_Item], *, tracer: Tracer | None = None) -> AsyncGenerator[_Item]:
    """The same items, with a span for the run and for each step among them.

    The span `synaptum.run` has `synaptum.run_id` and `synaptum.outcome`: the reason of the
    final step, `suspended` (ended without one), `closed` (the caller stopped iterating) or
    `failed`. A step's span is named after its kind, with the tool's name (`tool leer`), and has
    `synaptum.step_id`, `.step_seq`, `.at` (the journal's time: old for a step that was read
    from it), and where they apply `.tool`, `.risk`, `.is_error`, `.finish_reason`,
    `.attempts`, `.child_run_id`, `.target`, `.disposition`. A failure is recorded by its type.

    While a step is carried out its span is the current one, so that what a tool traces itself
    hangs below it.

    Args:
        items: what `agent.run(...)` or `agent.stream(...)` gives; fragments pass through.
        tracer: the tracer to use; without one, the global provider's.

    Raises:
        ConfigurationError: OpenTelemetry is not installed.
    """
    try:
        from opentelemetry import trace
    except ImportError:
        msg = (
            "traced() needs OpenTelemetry: install the extra, pip install 'pytest-synaptum[otel]'."
        )
        raise ConfigurationError(msg) from None
    return _traced(items, tracer or trace.get_tracer("synaptum"))


async def _traced(items: AsyncIterator[_Item], tracer: Tracer) -> AsyncGenerator[_Item]:
    run = _Run(tracer)
    try:
        while True:
            with run.current():
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    break
            if isinstance(item, Step):
                run.saw(item)
            yield item
        run.end(run.reason)
    except GeneratorExit:
        run.end("closed")
        raise
    except BaseException as error:
        run.end("failed", error)
        raise
    finally:
        close = getattr(items, "aclose", None)
        if close is not None:
            await close()


class _Run:
    """The span of a run and those of the steps that are open in it."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._span = tracer.start_span("synaptum.run")
        #: Open steps, the innermost last: a script, and the call that it makes.
        self._steps: list[tuple[str, Span]] = []
        self.reason = "suspended"

    def current(self) -> AbstractContextManager[object]:
        """A block whose spans hang below the open step, or else below the run."""
        from opentelemetry import trace

        span = self._steps[-1][1] if self._steps else self._span
        return trace.use_span(span, record_exception=False, set_status_on_exception=False)

    def saw(self, step: Step) -> None:
        """An intent opens a span; an end closes it."""
        from opentelemetry import trace

        self._span.set_attribute("synaptum.run_id", step.run_id)
        while self._steps and self._steps[-1][0] not in (step.step_id, step.meta.get("within")):
            self._steps.pop()[1].end()
        if not self._steps or self._steps[-1][0] != step.step_id:
            above = self._steps[-1][1] if self._steps else self._span
            parent = trace.set_span_in_context(above)
            opened = self._tracer.start_span(_name(step), context=parent)
            self._steps.append((step.step_id, opened))
        span = self._steps[-1][1]
        for key, value in _attributes(step).items():
            span.set_attribute(f"synaptum.{key}", value)
        if step.phase is Phase.COMPLETED:
            span.end()
            self._steps.pop()
            if isinstance(step, FinalStep):
                self.reason = step.reason

    def end(self, outcome: str, error: BaseException | None = None) -> None:
        """Close what is open."""
        from opentelemetry.trace import Status, StatusCode

        self._span.set_attribute("synaptum.outcome", outcome)
        for span in (*(span for _, span in reversed(self._steps)), self._span):
            if error is not None:
                # The type alone: a message may quote what the model or a tool said.
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            span.end()


def _name(step: Step) -> str:
    call = None if isinstance(step, ModelStep | FinalStep) else step.call
    return step.kind if call is None else f"{step.kind} {call.name}"


def _attributes(step: Step) -> dict[str, str | int | bool]:
    found: dict[str, str | int | bool] = {
        "step_id": step.step_id,
        "step_seq": step.step_seq,
        "at": step.at,
    }
    if isinstance(step, ModelStep):
        if step.response is not None:
            found["finish_reason"] = step.response.finish_reason.value
            found["attempts"] = 1 + len(step.meta.get("attempts", ()))
    elif isinstance(step, ApprovalStep):
        found["target"] = step.target
        if step.decision is not None:
            found["disposition"] = step.decision.disposition.value
    elif isinstance(step, ToolStep | DelegateStep):
        found["tool"] = step.call.name
        found["risk"] = step.risk.value
        if step.result is not None:
            found["is_error"] = step.result.is_error
        if isinstance(step, DelegateStep):
            found["child_run_id"] = step.child_run_id
    return found
