"""Why two runs differ: a guess from where they do, and how; good guesses save an afternoon.

A guess is a phrase that names a cause and what to do. The first rule that fits is taken, from
the most particular to the most general.
"""

from __future__ import annotations

import re
from typing import Any, Final

from synaptum.canonical import decode
from synaptum.errors import EncodingError

__all__ = ["cause_of"]

CLOCK: Final = (
    "the clock: a time or date came from the machine; take it from what is journalled, or fix it"
    " for the run"
)
RANDOMNESS: Final = (
    "randomness: an id or number was drawn anew; derive it from what is journalled (run and step)"
)
SET_ORDER: Final = (
    "the order of a set or of results: the same items came in another order; sort them"
)
SEARCH: Final = (
    "a search of the deferred catalogue that is not deterministic: the same words found other"
    " tools; make ties and order fixed"
)
CUT_ELSEWHERE: Final = (
    "a truncation that depends on more than the text (time, space left): the same text was cut at"
    " another place; cut by length alone"
)
CHANGED_TOOLS: Final = (
    "changed code: other tools are offered than before, or in another order; offer the same ones"
    " for the whole run"
)
NOT_IDEMPOTENT: Final = (
    "a tool wrongly declared idempotent: run again after the stop, it gave another result; declare"
    " it without idempotent=True"
)
STATE: Final = (
    "state that outlives a run: a count went on from an earlier one; give the agent and the gateway"
    " as factories that start anew"
)
UNKNOWN: Final = "changed code or hidden state: nothing in the two values tells more"

#: What a tool that was run again explains better.
_SAYS_LITTLE: Final = frozenset({STATE, RANDOMNESS, UNKNOWN})

_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?|\b1[0-9]{9}(?:\.\d+)?\b|\b1[0-9]{12}\b|\b1[0-9]{18}\b"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*\b"
)
_ID: Final = re.compile(r"\b(?=[\w-]*\d)[0-9A-Za-z_-]{6,}\b|\b[0-9a-f]{6,}\b|\d+\.\d{6,}")
_NUMBER: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"[\w'-]+")
_SEARCH_TOOL: Final = "buscar_herramientas"


def cause_of(
    recorded: Any, came: Any, path: str, *, tool: str | None = None, ran_again: bool = False
) -> str:
    """The likely cause of one difference.

    In: two JSON values and the path where they stand; the tool whose result they are, if so,
    and whether it was run again after the stop.
    """
    if tool == _SEARCH_TOOL and not _differ_only_in(_TIME, recorded, came):
        return SEARCH
    cause = _natural(recorded, came, path)
    return NOT_IDEMPOTENT if ran_again and cause in _SAYS_LITTLE else cause


def _natural(recorded: Any, came: Any, path: str) -> str:
    if path.startswith("tools") or ".tools" in path:
        return CHANGED_TOOLS
    if isinstance(recorded, bool) or isinstance(came, bool):
        return UNKNOWN
    if isinstance(recorded, int | float) and isinstance(came, int | float):
        recorded, came = str(recorded), str(came)
    if not isinstance(recorded, str) or not isinstance(came, str):
        return SET_ORDER if _same_items(recorded, came) else UNKNOWN
    return _of_texts(recorded, came)


def _of_texts(recorded: str, came: str) -> str:
    if _same_items(_json(recorded), _json(came)) or _same_words(recorded, came):
        return SET_ORDER
    if _differ_only_in(_TIME, recorded, came):
        return CLOCK
    if _is_cut_elsewhere(recorded, came):
        return CUT_ELSEWHERE
    if _counts_on(recorded, came):
        return STATE
    if _differ_only_in(_ID, recorded, came) or _differ_only_in(_NUMBER, recorded, came):
        return RANDOMNESS
    return UNKNOWN


def _differ_only_in(pattern: re.Pattern[str], recorded: Any, came: Any) -> bool:
    if not isinstance(recorded, str) or not isinstance(came, str):
        return False
    return recorded != came and pattern.sub("~", recorded) == pattern.sub("~", came)


def _json(text: str) -> Any:
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return decode(text)
    except EncodingError:
        return None


def _same_items(recorded: Any, came: Any) -> bool:
    if not isinstance(recorded, list) or not isinstance(came, list) or recorded == came:
        return False
    return sorted(map(repr, recorded)) == sorted(map(repr, came))


def _same_words(recorded: str, came: str) -> bool:
    words = _WORD.findall(recorded)
    return len(words) > 1 and sorted(words) == sorted(_WORD.findall(came))


def _is_cut_elsewhere(recorded: str, came: str) -> bool:
    same = 0
    for left, right in zip(recorded, came, strict=False):
        if left != right:
            break
        same += 1
    shorter = min(len(recorded), len(came))
    return len(recorded) != len(came) and shorter > 0 and same >= max(8, shorter - 64)


def _counts_on(recorded: str, came: str) -> bool:
    """Whether the texts differ in small numbers that went up, such as `ticket 1`, `ticket 2`."""
    if not _differ_only_in(_NUMBER, recorded, came):
        return False
    pairs = zip(_NUMBER.findall(recorded), _NUMBER.findall(came), strict=True)
    changed = [(int(a), int(b)) for a, b in pairs if a != b]
    return all(a < 10_000 and a < b <= a + 10_000 for a, b in changed)
