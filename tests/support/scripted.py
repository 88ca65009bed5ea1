"""An agent whose script calls tools, one of which a person must allow."""

from __future__ import annotations

from typing import Any

from support.agents import MODEL
from synaptum import Agent, Decision, Disposition, code_tool, tool
from synaptum.testing import ScriptedModel, calls

__all__ = ["PAYMENT", "READS", "agent_with_scripts"]

#: Calls that may be repeated.
READS = "print(await look(1), await look(2))"
#: A call between them that may not, and that somebody must allow.
PAYMENT = "print(await look(1), await pay(5), await look(2))"


@tool(idempotent=True)
async def look(n: int) -> int:
    """Look."""
    return n * 10


@tool
async def pay(n: int) -> str:
    """Pay."""
    return f"paid {n}"


def _asks(check: Any) -> Decision:
    needs_person = check.name == "pay"
    return Decision(Disposition.REQUIRE_APPROVAL if needs_person else Disposition.ALLOW)


def agent_with_scripts(script: str) -> tuple[Agent, Any]:
    """The agent, and what makes its gateway: the model writes `script` once, and is done."""
    code = code_tool([look, pay])
    model = ScriptedModel(calls("run_python", script=script), "Done.")
    return Agent("a", model=MODEL, tools=[code]), lambda: model.gateway([code], _asks)
