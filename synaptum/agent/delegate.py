"""A sub-agent as a tool of one `brief`.

It runs with a journal of its own under the parent's store, and what it costs counts as the
parent's. Its risk is the highest of what it can reach: whoever calls does not know what
stands behind, and the framework does. Source: seed 000, "El riesgo no se blanquea".
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from synaptum.agent.plan import Plan
from synaptum.vocabulary import ToolDefinition

if TYPE_CHECKING:
    from synaptum.agent.agent import Agent

__all__ = ["Delegate", "child_run_id"]


class Delegate:
    """Offers `agent` to another agent: `Agent(..., delegates=[Delegate(agent)])`.

    Args:
        agent: the sub-agent.
        name: what the model calls it by; the agent's own name where not given.
        description: what the model reads about it.
    """

    def __init__(
        self, agent: Agent, *, name: str | None = None, description: str | None = None
    ) -> None:
        self.agent = agent
        self.name = name or agent.name
        self.description = description if description is not None else agent.description

    def __repr__(self) -> str:
        return f"Delegate({self.name!r})"

    @property
    def plan(self) -> Plan:
        """The sub-agent's configuration."""
        return self.agent.plan

    @cached_property
    def definition(self) -> ToolDefinition:
        """What the model is offered; idempotent where all it can reach is."""
        plan = self.plan
        parameters = {
            "type": "object",
            "properties": {"brief": {"type": "string", "description": plan.wording.delegate_brief}},
            "required": ["brief"],
            "additionalProperties": False,
        }
        idempotent = all(definition.idempotent for definition in plan.definitions)
        return ToolDefinition(
            self.name, self.description, parameters, plan.highest_risk, idempotent
        )


def child_run_id(run_id: str, step_id: str) -> str:
    """The run of the sub-agent that step `step_id` calls: `r1.000001-delegate`."""
    return f"{run_id}.{step_id}"
