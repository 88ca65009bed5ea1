"""What makes two configurations different, kept in a run's first event and compared on resume.

Going on with another configuration would record one run that no configuration ever made.
Texts and schemas are kept as digests: the journal has them whole in its requests. Source:
seed 001, "Reanudar con otra configuración está prohibido".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synaptum import canonical
from synaptum.agent.plan import Instructions, Plan
from synaptum.tools.base import Tool
from synaptum.vocabulary.codec import to_json
from synaptum.wording import Wording

__all__ = ["configuration_of", "differences"]


def configuration_of(plan: Plan, served_by: object = None) -> dict[str, Any]:
    """The configuration as JSON.

    In: `served_by` is what the gateway says of its model (provider, profile, chain), or None.
    A difference that only the gateway knows counts where both sides know it.
    """
    return {
        "model": {"name": plan.model, "served_by": served_by},
        "instructions": _instructions(plan.instructions),
        "tools": [
            *([tool.name, _tool_digest(tool)] for tool in plan.tools.values()),
            *(
                [name, canonical.digest([to_json(item.definition), configuration_of(item.plan)])]
                for name, item in plan.delegates.items()
            ),
        ],
        "output": None
        if plan.output is None
        else [plan.output.name, canonical.digest(plan.output.schema)],
        "sampling": to_json(plan.sampling),
        "max_tool_chars": plan.limits.max_tool_chars,
        "wording": plan.wording.name,
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any], wording: Wording) -> list[str]:
    """What differs, a phrase each; empty where nothing does.

    A part that one side does not know (an older journal) is not a difference.
    """
    phrases: list[str] = []
    for part, phrase in _PHRASES.items():
        if part in before and part in now and not _same(part, before[part], now[part]):
            phrases.append(phrase(before[part], now[part], wording))
    return phrases


def _same(part: str, before: Any, now: Any) -> bool:
    if part == "model" and (before["served_by"] is None or now["served_by"] is None):
        return bool(before["name"] == now["name"])
    return canonical.encode(before) == canonical.encode(now)


def _instructions(instructions: Instructions | None) -> str | None:
    if instructions is None or isinstance(instructions, str):
        return None if instructions is None else canonical.digest(instructions)
    module = getattr(instructions, "__module__", "")
    return f"{module}.{getattr(instructions, '__qualname__', type(instructions).__name__)}"


def _tool_digest(tool: Tool) -> str:
    # What stands behind a tool that hands calls on is part of it: a deferred catalogue whole.
    behind = getattr(tool, "catalogue", ())
    definitions = [to_json(tool.definition), *(to_json(inner.definition) for inner in behind)]
    return canonical.digest(definitions)


def _model(before: Any, now: Any, wording: Wording) -> str:
    if before["name"] != now["name"]:
        return _from_to(wording.part_model, repr(before["name"]), repr(now["name"]), wording)
    served = (canonical.encode(before["served_by"]), canonical.encode(now["served_by"]))
    return _from_to(wording.part_model, *served, wording)


def _instruction_texts(before: Any, now: Any, wording: Wording) -> str:
    return wording.changed.format(what=wording.part_instructions)


def _tools(before: Any, now: Any, wording: Wording) -> str:
    names_before, names_now = [item[0] for item in before], [item[0] for item in now]
    if names_before != names_now:
        return _from_to(wording.part_tools, repr(names_before), repr(names_now), wording)
    changed = [old[0] for old, new in zip(before, now, strict=True) if old != new]
    return wording.changed.format(what=f"{wording.part_tools} {changed!r}")


def _output(before: Any, now: Any, wording: Wording) -> str:
    name_before, name_now = (item and item[0] for item in (before, now))
    if name_before != name_now:
        return _from_to(wording.part_output, repr(name_before), repr(name_now), wording)
    return wording.changed.format(what=f"{wording.part_output} {name_now!r}")


def _sampling(before: Any, now: Any, wording: Wording) -> str:
    # By their JSON, as they were compared: 0 and 0.0 are two requests.
    keys = [key for key in now if canonical.encode(before.get(key)) != canonical.encode(now[key])]
    text_before, text_now = (
        canonical.encode({key: side.get(key) for key in keys}) for side in (before, now)
    )
    return _from_to(wording.part_sampling, text_before, text_now, wording)


def _max_tool_chars(before: Any, now: Any, wording: Wording) -> str:
    return _from_to(wording.part_max_tool_chars, repr(before), repr(now), wording)


def _wording(before: Any, now: Any, wording: Wording) -> str:
    return _from_to(wording.part_wording, repr(before), repr(now), wording)


def _from_to(what: str, before: str, after: str, wording: Wording) -> str:
    return wording.changed_from_to.format(what=what, before=before, after=after)


_PHRASES = {
    "model": _model,
    "instructions": _instruction_texts,
    "tools": _tools,
    "output": _output,
    "sampling": _sampling,
    "max_tool_chars": _max_tool_chars,
    "wording": _wording,
}
