"""Whether a live server still answers in the shapes that were recorded from it.

The recorded questions are asked again and the shapes compared, not the words. A field nobody
knew is information; one that is lost, or of another type, is an error, and so is an answer in
another form (a page for a body, a body for a stream). A question that got no answer, or one
about the moment (429, 502 ...), was not asked: that is no agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pytest_synaptum.corpus.asking import ask_all
from pytest_synaptum.corpus.case import Case
from pytest_synaptum.corpus.checking import load_exchanges
from pytest_synaptum.corpus.facts import Facts, facts_of
from pytest_synaptum.corpus.shapes import Change, compare_shapes, shape_of
from synaptum.errors import NetworkError

__all__ = ["Drift", "drift_of"]

#: Answers about the moment, not about the question.
_PASSING: Final = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What came of one case.

    Attributes:
        case: its id.
        changes: with the ask they are about, from 1.
        statuses: asks whose status changed: ask, recorded, came.
        forms: asks that were answered in another form: ask, what is wrong with it.
        not_asked: why it could not be asked; None where it was.
    """

    case: str
    changes: tuple[tuple[int, Change], ...] = ()
    statuses: tuple[tuple[int, int, int], ...] = ()
    forms: tuple[tuple[int, str], ...] = ()
    not_asked: str | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether an adapter that rests on the recording may fail on what came."""
        changed = bool(self.statuses or self.forms)
        return changed or any(change.is_error for _, change in self.changes)

    def lines(self) -> Iterator[str]:
        """What changed, a line each."""
        if self.not_asked is not None:
            yield f"not asked: {self.not_asked}"
        for ask, recorded, came in self.statuses:
            yield f"ask {ask}: status {recorded} recorded, {came} came"
        for ask, form in self.forms:
            yield f"ask {ask}: {form}"
        for ask, change in self.changes:
            yield f"ask {ask}: {change}"


def drift_of(case: Case, url_for: Callable[[int], str], api_key: str | None) -> Drift:
    """Ask a case again, and compare.

    Raises:
        CaseFailure, FileFormatError: there is no evidence to compare with.
    """
    recorded = [facts_of(exchange) for exchange in load_exchanges(case)]
    try:
        came = [facts_of(exchange) for exchange in ask_all(case, url_for, api_key)]
    except NetworkError as error:
        return Drift(case=case.id, not_asked=str(error))
    changes: list[tuple[int, Change]] = []
    statuses: list[tuple[int, int, int]] = []
    forms: list[tuple[int, str]] = []
    for number, (before, after) in enumerate(zip(recorded, came, strict=True), 1):
        if after.status in _PASSING and after.status != before.status:
            return Drift(case=case.id, not_asked=f"ask {number} got status {after.status}")
        if after.status != before.status:
            statuses.append((number, before.status, after.status))
        elif form := _other_form(before, after):
            forms.append((number, form))
        else:
            changes += [(number, change) for change in _compared(before, after)]
    return Drift(case=case.id, changes=tuple(changes), statuses=tuple(statuses), forms=tuple(forms))


def _other_form(before: Facts, after: Facts) -> str | None:
    """Why the shapes cannot be compared: there is none, or one of another kind of answer."""
    if after.is_stream != before.is_stream:
        forms = ("a body", "a stream")
        return f"{forms[before.is_stream]} was recorded, {forms[after.is_stream]} came"
    if before.values and not after.values:
        return f"JSON was recorded, and in the {len(after.body)} bytes that came is none"
    if after.is_broken and not before.is_broken:
        return "not all of what came is JSON, and all of what was recorded is"
    if before.is_done and not after.is_done:
        return "the stream ended with [DONE] when it was recorded, and without it now"
    return None


def _compared(before: Facts, after: Facts) -> list[Change]:
    return compare_shapes(shape_of(before.values), shape_of(after.values))
