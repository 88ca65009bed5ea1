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
from typing import Any, ClassVar

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
    """What a policy, or a person, decided, with a short code and a sentence for people."""

    disposition: Disposition
    reason_code: str = ""
    message: str = ""


ALLOW = Decision(Disposition.ALLOW)


def make_step_id(seq: int, kind: str) -> str:
    """The id of step number `seq` (from 0): `make_step_id(0, "model") == "000000-model"`."""
    return f"{seq:06d}-{kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    run_id: str
    step_id: str
    step_seq: int
    phase: Phase
    at: str
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep(_Base):
    """A question to the model; `response` and `usage` once COMPLETED.

    `meta["attempts"]` of the completed step lists the retries: error, wait, model.
    """

    kind: ClassVar[str] = "model"
    request: Request | None = None
    response: Response | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStep(_Base):
    """A call of a tool; `result` is whole here, the model sees a capped copy."""

    kind: ClassVar[str] = "tool"
    call: ToolCall
    result: ToolResult | None = None
    risk: Risk = Risk.READ
    idempotent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegateStep(_Base):
    """A call handed to a sub-agent, which has the journal `child_run_id` of its own."""

    kind: ClassVar[str] = "delegate"
    call: ToolCall
    child_run_id: str
    result: ToolResult | None = None
    usage: Usage | None = None
    risk: Risk = Risk.READ
    idempotent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalStep(_Base):
    """A call waits for a person (ATTEMPTED) or has their decision (COMPLETED).

    `target` is the id of the step that waits.
    """

    kind: ClassVar[str] = "approval"
    target: str
    call: ToolCall | None = None
    risk: Risk = Risk.READ
    decision: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalStep(_Base):
    """The run is closed: what came out, and what it cost in all.

    `output` is JSON (text, or the encoded object of a structured output); the agent decodes
    it back to its type. `reason` is `finished`, or why it was closed without an answer
    (`length`, `content_filter`, `refused`, `denied`, `terminated`).
    """

    kind: ClassVar[str] = "final"
    output: Any = None
    usage: Usage | None = None
    reason: str = "finished"


Step = ModelStep | ToolStep | DelegateStep | ApprovalStep | FinalStep
