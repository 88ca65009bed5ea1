"""The gateway seam: the agent asks, whoever governs decides and carries out.

A gateway in the process enforces nothing: it holds the keys itself and calls whom it is
told to. It is for development and tests (seed 001, "Transporte HTTP directo").
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from synaptum.vocabulary import Request, Response, StreamEvent, ToolCall, ToolResult

__all__ = ["CallContext", "Gateway"]


@dataclass(frozen=True, slots=True)
class CallContext:
    """Which step of which run a call belongs to; the idempotency key is made of it."""

    run_id: str
    step_id: str


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
