"""What a model's answer means for the run: a pure function of the answer and the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from synaptum.agent.plan import Plan
from synaptum.errors import NoObjectGeneratedError
from synaptum.schema.problems import SchemaProblemError
from synaptum.vocabulary import (
    Audio,
    Document,
    FinishReason,
    Image,
    Response,
    Text,
    ToolCall,
)

__all__ = ["AskAgain", "Close", "Fail", "RunCalls", "Verdict", "judge"]


@dataclass(frozen=True, slots=True)
class RunCalls:
    """The answer asks for tools."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class AskAgain:
    """The turn was no answer; `text` is the user message that says so.

    `is_sample` tells an answer that did not fit the output type from a turn that showed
    nothing: the first is bounded by `max_retries`, the second by `max_steps`.
    """

    text: str
    is_sample: bool


@dataclass(frozen=True, slots=True)
class Close:
    """The run ends. `output` is JSON; `reason` as in `FinalStep`."""

    output: Any
    reason: str
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fail:
    """The run cannot go on; resuming it fails the same way."""

    error: Exception


Verdict = RunCalls | AskAgain | Close | Fail


def judge(plan: Plan, response: Response, samples: int) -> Verdict:
    """What follows on a whole answer.

    In: `samples` is how many answers of this run did not fit the output type before this.

    A turn that was cut closes the run even with calls in it: asking again would be the same
    question with a longer context, cut in the same place and paid again. Source: seed 001,
    "Un turno que solo razona". A refusal is an answer too, and closes it with its own words.
    """
    if response.finish_reason is FinishReason.LENGTH:
        return _unfinished(plan, response, "length", plan.wording.no_object_cut)
    if response.finish_reason is FinishReason.CONTENT_FILTER:
        return _unfinished(plan, response, "content_filter", plan.wording.no_object_filtered)
    if response.tool_calls:
        return RunCalls(response.tool_calls)
    if response.refusal is not None:
        return _unfinished(plan, response, "refused", plan.wording.no_object_refused)
    if not _shows_something(response):
        return AskAgain(plan.wording.ask_again, is_sample=False)
    if plan.output is None:
        return Close(response.text, "finished")
    try:
        value = plan.output.read_text(response.text)
        return Close(plan.output.dump(value), "finished")
    except SchemaProblemError as problem:
        error = problem.problem.text(plan.wording.problems)
        if samples < plan.limits.max_retries:
            text = plan.wording.output_invalid.format(error=error)
            return AskAgain(text, is_sample=True)
        msg = plan.wording.no_object.format(samples=samples + 1, path=problem.problem.path)
        return Fail(NoObjectGeneratedError(msg, response.text))


def _unfinished(plan: Plan, response: Response, reason: str, message: str) -> Verdict:
    said = response.text or response.refusal or ""
    if plan.output is not None:
        return Fail(NoObjectGeneratedError(message, said))
    return Close(said, reason)


def _shows_something(response: Response) -> bool:
    return any(
        (isinstance(part, Text) and part.text != "") or isinstance(part, Image | Audio | Document)
        for part in response.message.content
    )
