"""The steps of a run: what the journal holds and what `agent.run` yields.

A step is written twice: as ATTEMPTED (the intent, before anything happens) and as
COMPLETED (with what came of it). Ids are positional and deterministic: `000000-model`,
`000001-tool`. `at` is UTC text of `synaptum.clock.isoformat`; it never counts when two
journals are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Literal

from synaptum.vocabulary.content import ToolCall, ToolResult
from synaptum.vocabulary.request import Request, Risk
from synaptum.vocabulary.response import Response
from synaptum.vocabulary.usage import Usage

__all__ = [
    "ALLOW",
    "ApprovalStep",
    "Decision",
    "DelegateStep",
    "Disposition",
    "FinalStep",
    "ModelStep",
    "Phase",
    "Step",
    "ToolStep",
    "make_step_id",
]


class Phase(Enum):
    """Where a step stands: its intent, or its end."""

    ATTEMPTED = "attempted"
    COMPLETED = "completed"


class Disposition(Enum):
    """What a policy says of a call."""

    ALLOW = "allow"
    DENY_STEP = "deny_step"
    TERMINATE_RUN = "terminate_run"
    REQUIRE_APPROVAL = "require_approval"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy, or a person, decided.

    Attributes:
        disposition: what is to happen.
        reason_code: a short code, for programs; `""` where there is none.
        message: a sentence for people, which the model is told too.

    Raises:
        ValueError: a disposition that is no `Disposition`; a word would be taken for a no.
    """

    disposition: Disposition
    reason_code: str = ""
    message: str = ""

    def __post_init__(self) -> None:
        given: object = self.disposition
        if not isinstance(given, Disposition):
            msg = f"Decision({given!r}): give a Disposition, such as Disposition.DENY_STEP."
            raise ValueError(msg)


ALLOW = Decision(Disposition.ALLOW)


def make_step_id(seq: int, kind: str) -> str:
    """The id of step number `seq` (from 0) of a `kind`.

    `make_step_id(0, "model") == "000000-model"`: ids sort as their numbers do.
    """
    return f"{seq:06d}-{kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """What every step has.

    Attributes:
        run_id: the run.
        step_id: the step, such as `000003-tool`; see `make_step_id`.
        step_seq: its number, from 0.
        phase: the intent, or the end.
        at: when it was written, UTC text such as `2026-11-30T12:00:00.000Z`; it never counts
            when journals are compared.
        meta: further facts as JSON. The run's first event has its `configuration`.
    """

    run_id: str
    step_id: str
    step_seq: int
    phase: Phase
    at: str
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep(_Base):
    """A question to the model: its `request`; `response` and `usage` once COMPLETED.

    `meta["attempts"]` of the completed step lists the retries: error, wait, model.
    """

    kind: ClassVar[Literal["model"]] = "model"
    request: Request | None = None
    response: Response | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStep(_Base):
    """A `call` of a tool; `result` is whole here, the model sees a capped copy.

    `risk` and `idempotent` are what the tool declared, as the policy saw it.
    """

    kind: ClassVar[Literal["tool"]] = "tool"
    call: ToolCall
    result: ToolResult | None = None
    risk: Risk = Risk.READ
    idempotent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegateStep(_Base):
    """A `call` handed to a sub-agent, which has the journal `child_run_id` of its own.

    `result` is its answer, `usage` the tokens of its whole run; `risk` is the highest that it
    can reach, `idempotent` whether all of that may be repeated.
    """

    kind: ClassVar[Literal["delegate"]] = "delegate"
    call: ToolCall
    child_run_id: str
    result: ToolResult | None = None
    usage: Usage | None = None
    risk: Risk = Risk.READ
    idempotent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalStep(_Base):
    """A call waits for a person (ATTEMPTED) or has their decision (COMPLETED).

    `target` is the id of the step that waits, `call` and `risk` what it is about (no call:
    a question to the model). `decision` is there once COMPLETED.
    """

    kind: ClassVar[Literal["approval"]] = "approval"
    target: str
    call: ToolCall | None = None
    risk: Risk = Risk.READ
    decision: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalStep(_Base):
    """The run is closed: what came out, and what it cost in all.

    `output` is JSON (text, or the encoded object of a structured output); the agent decodes
    it back to its type. `usage` is that of all turns, sub-agents included. `reason` is
    `finished`, or why it was closed without an answer (`length`, `content_filter`, `refused`,
    `denied`, `terminated`).
    """

    kind: ClassVar[Literal["final"]] = "final"
    output: Any = None
    usage: Usage | None = None
    reason: str = "finished"


Step = ModelStep | ToolStep | DelegateStep | ApprovalStep | FinalStep
