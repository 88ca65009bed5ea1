"""What is settled before a run begins, or goes on: that it is this run, and that it can run.

Resuming is continuing: the same configuration, the same task. Every refusal here comes
before anything is asked or written.
"""

from __future__ import annotations

from typing import Any

from synaptum.agent.configuration import configuration_of, differences
from synaptum.agent.plan import Plan
from synaptum.errors import ConfigurationError, LimitExceeded
from synaptum.gateway.base import Gateway
from synaptum.journal.store import RunState
from synaptum.vocabulary import FinalStep, Message, ModelStep, Step
from synaptum.vocabulary.codec import to_json

__all__ = ["begin"]

Opening = tuple[Message, ...]


def begin(
    plan: Plan, gateway: Gateway, state: RunState, task: Opening | None
) -> tuple[Opening, dict[str, Any] | None]:
    """The messages a run opens with, and the configuration its first event is to record.

    Out: the configuration is None where it is on record already.

    Raises:
        ConfigurationError: another configuration or task than the one on record, no task at
            all, or a tool that the gateway cannot run.
        LimitExceeded: sub-agents nest deeper than they may.
    """
    first = state.events[0] if state.events else None
    configuration = configuration_of(plan, _served_by(gateway))
    if first is not None:
        _refuse_another(plan, state.run_id, first.meta.get("configuration"), configuration)
    opening = _opening(plan, state.run_id, first, task)
    if not isinstance(state.events[-1] if state.events else None, FinalStep):
        _refuse_unknown_tools(plan, gateway)
        _refuse_depth(plan, state.run_id)
    return opening, configuration if first is None else None


def _opening(plan: Plan, run_id: str, first: Step | None, task: Opening | None) -> Opening:
    recorded = None
    if isinstance(first, ModelStep) and first.request is not None:
        recorded = tuple(first.request.messages) or None
    # By their JSON: a tuple in a call's arguments comes back as the list that it is there.
    if (
        task is not None
        and recorded is not None
        and task != recorded
        and to_json(task) != to_json(recorded)
    ):
        raise ConfigurationError(plan.wording.other_task.format(run_id=run_id))
    opening = recorded or task
    if opening is None:
        msg = f"Run {run_id!r} has no journal to go on with: give it a task."
        raise ConfigurationError(msg)
    return opening


def _refuse_another(plan: Plan, run_id: str, before: Any, now: dict[str, Any]) -> None:
    changes = differences(before or {}, now, plan.wording)
    if changes:
        template = plan.wording.other_configuration
        raise ConfigurationError(template.format(run_id=run_id, changes="; ".join(changes)))


def _refuse_unknown_tools(plan: Plan, gateway: Gateway) -> None:
    runs_tool = getattr(gateway, "runs_tool", None)
    unknown = [] if runs_tool is None else [name for name in plan.tools if not runs_tool(name)]
    if unknown:
        raise ConfigurationError(plan.wording.unknown_to_gateway.format(tools=unknown))
    for delegate in plan.delegates.values():
        _refuse_unknown_tools(delegate.plan, gateway)


def _refuse_depth(plan: Plan, run_id: str) -> None:
    value = plan.limits.max_delegation_depth
    if plan.depth > value:
        msg = plan.wording.delegates_too_deep.format(run_id=run_id, depth=plan.depth, value=value)
        raise LimitExceeded(msg, "max_delegation_depth", value)


def _served_by(gateway: Gateway) -> object:
    said = getattr(gateway, "model_configuration", None)
    return None if said is None else said()
