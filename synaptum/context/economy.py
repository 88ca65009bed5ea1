"""What a run cost in tokens, and why: computed from its journal alone.

So it works on a run that is over, on one that was resumed, and without the agent. It exports
nothing, and it speaks of no money: tokens are known, prices are not. Source: seed 001, "Qué
costó un run, y por qué".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from synaptum.context.prefix import Cause, prefix_changes
from synaptum.journal.store import RunState
from synaptum.vocabulary import DelegateStep, ModelStep, Phase, Usage
from synaptum.wording import EconomyWording, Wording, current_wording

__all__ = ["Economy", "PrefixChange", "economy"]


@dataclass(frozen=True, slots=True)
class PrefixChange:
    """A turn whose request did not begin as the one before it did.

    Attributes:
        step_id: the turn whose cache was thrown away.
        causes: what changed, in the order in which it stands in the prefix.
    """

    step_id: str
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class Economy:
    """The economy of one run.

    Attributes:
        run_id: the run.
        turns: answers of the model on record.
        total: tokens of all turns, and of sub-agents; a counter that one of them did not
            measure is None.
        input_growth: tokens that the input grew by, a turn: (last - first) / (turns - 1).
            The slope between the first and the last, not a regression. None with fewer than
            two turns, or where one of the two was not measured.
        prefix_changes: the turns that rewrote the prefix, and why.
    """

    run_id: str
    turns: int
    total: Usage
    input_growth: float | None
    prefix_changes: tuple[PrefixChange, ...] = ()

    @property
    def cache_hit_ratio(self) -> float | None:
        """Part of the whole input served from cache, 0.0 to 1.0; None: not measured.

        Over the totals, not as a mean of turns, which would weigh a turn of 50 tokens as one
        of 50,000.
        """
        return self.total.cache_hit_ratio

    @property
    def prefix_rewrites(self) -> int:
        """How many turns rewrote the prefix; should be zero."""
        return len(self.prefix_changes)

    def report(self, wording: Wording | None = None) -> str:
        """The report for people, lines joined by newlines, none at the end.

        Args:
            wording: `ENGLISH` or `SPANISH`; without one, the wording in use.
        """
        words = (wording or current_wording()).economy
        lines = [words.title.format(run_id=self.run_id, turns=words.turns(self.turns))]
        lines.append(_line(words.cache, self._cache(words)))
        lines.append(_line(words.growth, self._growth(words)))
        if not self.prefix_changes:
            lines.append(_line(words.prefix, words.prefix_stable))
        else:
            times = words.times(self.prefix_rewrites)
            lines.append(_line(f"⚠ {words.prefix}", words.prefix_rewritten.format(times=times)))
            for change in self.prefix_changes:
                for cause in change.causes:
                    what = words.causes[cause.code].format(**cause.facts)
                    lines.append(f"      · {change.step_id}: {what}")
        counts = {
            name: words.not_measured if value is None else value
            for name, value in (
                ("input", self.total.input),
                ("output", self.total.output),
                ("cached", self.total.cache_read),
            )
        }
        lines.append(_line(words.total, words.counts.format(**counts)))
        return "\n".join(lines)

    def _cache(self, words: EconomyWording) -> str:
        ratio = self.cache_hit_ratio
        return words.not_measured if ratio is None else words.cache_served.format(ratio=ratio)

    def _growth(self, words: EconomyWording) -> str:
        if self.input_growth is not None:
            return words.growth_tokens.format(tokens=self.input_growth)
        return words.growth_too_short if self.turns < 2 else words.not_measured


def economy(state: RunState) -> Economy:
    """The economy of a run, from its journal alone.

    In: `state`, as `store.load(run_id)` gives it: over, suspended, resumed or cut short.
    Out: tokens and causes; `.report()` is the text. A run without turns cost nothing.
    Source: seed 001, "Qué costó un run, y por qué".
    """
    turns: list[ModelStep] = []
    total = Usage.zero()
    for event in state.events:
        if event.phase is not Phase.COMPLETED:
            continue
        if isinstance(event, ModelStep) and event.response is not None:
            turns.append(event)
            total += _usage(event)
        elif isinstance(event, DelegateStep):
            total += event.usage or Usage()
    changes = [
        PrefixChange(new.step_id, causes)
        for old, new in pairwise(turns)
        if old.request is not None and new.request is not None
        if (
            causes := prefix_changes(
                old.request,
                new.request,
                answered=(old.meta.get("answered_by"), new.meta.get("answered_by")),
            )
        )
    ]
    return Economy(state.run_id, len(turns), total, _growth(turns), tuple(changes))


def _usage(turn: ModelStep) -> Usage:
    if turn.usage is not None:
        return turn.usage
    return turn.response.usage if turn.response is not None else Usage()


def _growth(turns: list[ModelStep]) -> float | None:
    if len(turns) < 2:
        return None
    first, last = _usage(turns[0]).input, _usage(turns[-1]).input
    return None if first is None or last is None else (last - first) / (len(turns) - 1)


def _line(label: str, text: str) -> str:
    return f"  {label:<10} {text}"
