"""The prefix of a request, and what broke it.

Servers cache exact prefixes: whatever changes throws away the cache of all that follows. What
must not change within a run is, in this order: the model, the instructions, the tools (names,
descriptions and schemas, in their order) and the output format; messages come after and only
grow. Source: seed 001, "El prefijo estable".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from synaptum.journal.encoding import common_prefix, same
from synaptum.vocabulary import Request, ToolDefinition

__all__ = ["Cause", "prefix_changes"]


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that broke a prefix.

    Attributes:
        code: names the sentence in `EconomyWording.causes`: `model`, `system`,
            `system_date`, `tools_added`, `tools_removed`, `tools_reordered`,
            `tools_changed`, `output`, `messages`.
        facts: what the sentence has fields for, as text.
    """

    code: str
    facts: Mapping[str, str] = field(default_factory=dict)


def prefix_changes(
    old: Request, new: Request, *, answered: tuple[Any, Any] = (None, None)
) -> tuple[Cause, ...]:
    """Why the cache of `old` does not serve `new`; empty where it does.

    Args:
        old: the request before, in the same run.
        new: the request after it.
        answered: who answered either of them, where a chain of models was asked.
    """
    causes: list[Cause] = []
    models = tuple(
        request.model if who is None else str(who)
        for who, request in zip(answered, (old, new), strict=True)
    )
    if models[0] != models[1]:
        causes.append(Cause("model", {"before": models[0], "after": models[1]}))
    if old.system != new.system:
        causes.append(_system_change(old.system or "", new.system or ""))
    causes.extend(_tool_changes(old, new))
    if not same(old.response_format, new.response_format):
        causes.append(Cause("output"))
    kept = common_prefix(old.messages, new.messages)
    if kept < len(old.messages):
        facts = {"kept": str(kept), "count": str(len(old.messages))}
        causes.append(Cause("messages", facts))
    return tuple(causes)


_MONTHS: Final = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|june"
    r"|july|august|september|october|november|december|enero|febrero|marzo|abril|mayo|junio|julio"
    r"|agosto|septiembre|setiembre|octubre|noviembre|diciembre|ene|abr|ago|dic)\.?"
)
_DAYS: Final = (
    r"(?:mon|tue|wed|thu|fri|sat|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo)\b\.?"
)
_TIME: Final = (
    r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?(?:\s?(?:z|utc|gmt|[+-]\d{2}:?\d{2}))?"
)
#: Dates and times as programs and people write them, English and Spanish; longest form first.
_MOMENT: Final = re.compile(
    r"\b(?:" + _DAYS + r",?\s+)?(?:"
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\d{1,2}(?:st|nd|rd|th)?\s+(?:de\s+|of\s+)?" + _MONTHS + r"(?:,?\s+(?:de\s+|del\s+)?\d{4})?"
    r"|" + _MONTHS + r"\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?"
    r")(?:(?:t|,?\s+(?:at\s+|a\s+las\s+)?)" + _TIME + r")?\b"
    r"|\b" + _TIME + r"\b"
    r"|\b1\d{9}(?:\d{3})?(?:\.\d+)?\b"  # seconds or milliseconds since 1970
    r"|\b" + _DAYS,
    re.IGNORECASE,
)


def _system_change(old: str, new: str) -> Cause:
    before, after = _MOMENT.findall(old), _MOMENT.findall(new)
    if before and len(before) == len(after) and _MOMENT.sub("\0", old) == _MOMENT.sub("\0", new):
        first = next(pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])
        return Cause("system_date", {"before": first[0].strip(), "after": first[1].strip()})
    return Cause("system")


def _tool_changes(old: Request, new: Request) -> list[Cause]:
    if old.tools is new.tools:
        return []
    before, after = _by_name(old), _by_name(new)
    causes = []
    for code, names in (
        ("tools_added", [name for name in after if name not in before]),
        ("tools_removed", [name for name in before if name not in after]),
        (
            "tools_changed",
            [n for n in before if n in after and not _same_on_the_wire(before[n], after[n])],
        ),
    ):
        if names:
            causes.append(Cause(code, {"names": ", ".join(names)}))
    if [n for n in before if n in after] != [n for n in after if n in before]:
        facts = {"before": ", ".join(before), "after": ", ".join(after)}
        causes.append(Cause("tools_reordered", facts))
    return causes


def _by_name(request: Request) -> dict[str, ToolDefinition]:
    return {tool.name: tool for tool in request.tools}


def _same_on_the_wire(old: ToolDefinition, new: ToolDefinition) -> bool:
    # Risk and idempotency go to the policy, not to the model.
    return old.description == new.description and same(old.parameters, new.parameters)
