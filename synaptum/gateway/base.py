"""The gateway seam: the agent asks, whoever governs decides and carries out.

A gateway in the process enforces nothing: it holds the keys itself and calls whom it is
told to. It is for development and tests (seed 001, "Transporte HTTP directo").
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from synaptum.tools.base import CallBridge
from synaptum.vocabulary import (
    Decision,
    Request,
    Response,
    Risk,
    Step,
    StreamEvent,
    ToolCall,
    ToolResult,
)

__all__ = ["CallContext", "Gateway", "GatewayExtras"]


@dataclass(frozen=True, slots=True)
class CallContext:
    """Which step of which run a call belongs to; the idempotency key is made of it.

    Attributes:
        run_id: the run.
        step_id: the step, such as `000003-tool`.
        approval: what a person decided about this very call, once they did. It answers a
            policy's REQUIRE_APPROVAL and nothing else.
        note: takes what a model tells of itself for the step's record: each model of a chain
            that failed (`error`, `wait_s`, `model`), and which one answered (`answered_by`).
        within: the step of the script that makes this call; None for a call of the model.
        bridge: takes the calls that a tool makes while it runs. A tool that makes calls must
            get it; one run without would act outside of the journal and the policy.
    """

    run_id: str
    step_id: str
    approval: Decision | None = None
    note: Callable[[Mapping[str, Any]], None] | None = field(
        default=None, compare=False, repr=False
    )
    within: str | None = None
    bridge: CallBridge | None = field(default=None, compare=False, repr=False)


class Gateway(Protocol):
    """Carries out the calls of an agent.

    Every method raises `Denied` where the policy refuses, with the decision.
    """

    async def invoke_model(self, request: Request, context: CallContext) -> Response:
        """Ask the model and wait for the whole answer."""
        ...

    def stream_model(self, request: Request, context: CallContext) -> AsyncIterator[StreamEvent]:
        """Ask the model and give the answer's events as they come."""
        ...

    async def invoke_tool(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Run a tool. Raises `InvalidToolCallError`, `ToolExecutionError`, `NeedsHumanError`."""
        ...


class GatewayExtras(Protocol):
    """What a gateway may offer besides; the loop uses each method that is there.

    A gateway without them still runs agents: unknown tools are then found when they are
    called, delegates are not put before a policy, and the model behind the gateway is not
    part of a run's configuration.
    """

    def runs_tool(self, name: str) -> bool:
        """Whether `invoke_tool` can run a tool of that name."""
        ...

    async def authorize_delegate(self, call: ToolCall, risk: Risk, context: CallContext) -> None:
        """Put a delegation before the policy. `risk` is the highest it can reach.

        Raises:
            Denied: the policy refuses, ends the run, or wants a person.
        """
        ...

    def journalled(self, event: Step) -> None:
        """Be told of a step that is on record, once a phase, and of nothing before it is.

        A run that is resumed tells its journal from the start. It is for those who watch:
        what is raised here stops the run.
        """
        ...

    def model_configuration(self) -> object:
        """JSON that tells this model from another (provider, profile, chain); None: unknown."""
        ...
