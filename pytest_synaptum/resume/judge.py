"""The promises of a resumed run, each held against the straight run.

Every function gives the first thing that is wrong, as a `Finding`, or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest

from pytest_synaptum.golden.compare import same
from pytest_synaptum.resume.baseline import Baseline, Journals, Key, keys_of, shown
from pytest_synaptum.resume.findings import difference
from pytest_synaptum.resume.passage import End
from pytest_synaptum.resume.report import Finding
from pytest_synaptum.resume.requests import RequestComparer
from pytest_synaptum.resume.scripts import is_script
from pytest_synaptum.resume.world import Stray, World
from synaptum import canonical
from synaptum.errors import (
    ConfigurationError,
    JournalDivergedError,
    JournalError,
    UncertainEffect,
)
from synaptum.vocabulary import FinalStep, Step, ToolStep
from synaptum.vocabulary.codec import to_json

__all__ = [
    "asked_once",
    "effects_once",
    "ended_alike",
    "kept_whole",
    "same_events",
    "same_journals",
    "same_output",
    "same_wire",
    "stray",
    "uncertain_exactly",
]

LOST = "the store: it acknowledged a write and did not keep it"
DUPLICATED = "the store: it kept one write twice"
REORDERED = "the store: it gives events back in another order than they were written"
INVENTED = "the store: it holds what nobody wrote"

#: The bytes that travel for a request, where the gateway's model knows them.
WireBody = Callable[..., bytes | None]


def kept_whole(where: str, expected: Sequence[Key], journals: Journals) -> Finding | None:
    """The store holds what it acknowledged: every write once, in order."""
    for run in dict.fromkeys([*journals, *(key[0] for key in expected)]):
        wanted = [key for key in expected if key[0] == run]
        found = keys_of(run, journals.get(run, ()))
        if found == wanted:
            continue
        missing, extra = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
        place = next(
            (i for i, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b),
            min(len(wanted), len(found)),
        )
        key = next(iter(missing or extra), (wanted or found)[min(place, len(wanted or found) - 1)])
        cause = LOST if missing else DUPLICATED if _twice(extra, wanted) else INVENTED
        if not missing and not extra:
            cause = REORDERED
        return Finding(
            check="store",
            message="the journal is not what was written",
            where=where,
            run=run,
            step=f"{key[1]} {key[2]}",
            path=f"event {place}",
            recorded=_named(wanted, place),
            came=_named(found, place),
            cause=cause,
        )
    return None


def _twice(extra: Counter[Key], wanted: Sequence[Key]) -> bool:
    return any(key in wanted for key in extra)


def _named(keys: Sequence[Key], place: int) -> str:
    return " ".join(keys[place][1:]) if place < len(keys) else "(absent)"


def stray(where: str, baseline: Baseline, world: World) -> Finding | None:
    """Every request has the bytes of the straight run's."""
    if not world.strays:
        return None
    one = world.strays[0]
    if one.expected is not None:
        return difference(
            "request",
            "the model is asked something else",
            where,
            to_json(one.expected),
            to_json(one.came),
            run=one.run,
            step=f"{one.step_id} attempted",
        )
    return Finding(
        check="request",
        message="the model is asked what the straight run never asked, or more often",
        where=where,
        run=one.run,
        step=f"{one.step_id} attempted",
        recorded="no such request",
        came=_last_words(one),
        cause=_why_more(baseline, one),
    )


def _last_words(one: Stray) -> str:
    last = one.came.messages[-1] if one.came.messages else None
    return "a request without messages" if last is None else f"{last.role.value}: {last.text!r}"


def _why_more(baseline: Baseline, one: Stray) -> str:
    if baseline.step(one.run, one.step_id, "attempted") is None:
        return "hidden state: the run took another way after the stop"
    return "hidden state: the step needed more attempts than in the straight run"


def same_journals(
    where: str, baseline: Baseline, world: World, journals: Journals
) -> Finding | None:
    """The journals are those of the straight run, apart from times and settled calls."""
    uncertain, comparer = set(world.uncertain), RequestComparer(baseline.stored_texts)
    for run, expected in baseline.journals.items():
        events = journals.get(run, ())
        for before, event in zip_longest(expected, events):
            if before is not None and event is not None:
                is_settled = (run, event.step_id) in uncertain and _is_settled(event)
                came = _as_if_run(event) if is_settled else event
                if comparer.are_same_events(run, before, came, world):
                    continue
                if _is_named_otherwise(baseline, world, before, came):
                    continue
            return _event_differs(where, baseline, world, run, before, event)
    return None


def _is_named_otherwise(baseline: Baseline, world: World, before: Step, event: Step) -> bool:
    """Whether two events differ in the names of their runs only, wherever they stand."""
    recorded = canonical.encode(shown(before, baseline.world))
    return recorded == canonical.encode(shown(event, world))


def same_events(where: str, baseline: Baseline, world: World) -> Finding | None:
    """What was written here, before the stop and after it, is what the straight run wrote.

    The step of a request that is not the straight run's is left out: `stray` tells of it.
    """
    if world.is_shifted:
        return None
    uncertain, comparer = set(world.uncertain), RequestComparer(baseline.stored_texts)
    strayed = {(one.run, one.step_id) for one in world.strays}
    for event in world.written:
        key = (world.name_of(event.run_id), event.step_id, event.phase.value)
        expected = baseline.written.get(key)
        if key[:2] in strayed:
            continue
        if expected is not None:
            if comparer.are_same_events(key[0], expected, event, world):
                continue
            is_settled = key[:2] in uncertain and _is_settled(event)
            if is_settled and comparer.are_same_events(key[0], expected, _as_if_run(event), world):
                continue
        return _event_differs(where, baseline, world, key[0], expected, event)
    return None


def same_output(where: str, baseline: Baseline, world: World) -> Finding | None:
    """After a call that was run again as a step of its own, the output is the same.

    Such a run has a step more than the straight one, and what follows has other numbers. That
    every request has the bytes of one of the straight run was seen when it was made.
    """
    last = [event for event in world.written if isinstance(event, FinalStep)]
    expected = [event for event in baseline.written.values() if isinstance(event, FinalStep)]
    outputs = [to_json(events[-1].output) if events else None for events in (expected, last)]
    if same(*outputs):
        return None
    return difference("journal", "the output differs", where, *outputs)


def same_wire(
    where: str, baseline: Baseline, first: WireBody | None, second: WireBody | None
) -> Finding | None:
    """The model's adapter makes the same bytes of the same request each time."""
    if first is None or second is None:
        return None
    for answer in baseline.tape.answers:
        is_stream = answer.events is not None
        recorded, came = (make(answer.request, stream=is_stream) for make in (first, second))
        if recorded != came and recorded is not None and came is not None:
            return difference(
                "wire",
                "the same request becomes another body",
                where,
                canonical.loads(recorded),
                canonical.loads(came),
                run=answer.run,
                step=f"{answer.step_id} attempted",
            )
    return None


def _is_settled(event: Step) -> bool:
    return isinstance(event, ToolStep) and event.meta.get("resolved") is True


def _as_if_run(event: Step) -> Step:
    """A settled call as it would stand there had it run."""
    return replace(event, meta={k: v for k, v in event.meta.items() if k != "resolved"})


def _event_differs(
    where: str,
    baseline: Baseline,
    world: World,
    run: str,
    recorded: Step | None,
    came: Step | None,
) -> Finding:
    named = recorded or came
    assert named is not None
    tool = named.call.name if isinstance(named, ToolStep) else None
    ran_again = (
        isinstance(named, ToolStep)
        and named.idempotent
        and world.times_run()[run, named.step_id] > 1
    )
    return difference(
        "journal",
        "the journal differs",
        where,
        None if recorded is None else shown(recorded, baseline.world),
        None if came is None else shown(came, world),
        run=run,
        step=f"{named.step_id} {named.phase.value}",
        tool=tool,
        ran_again=ran_again,
    )


def asked_once(
    where: str, world: World, before: int, answered: set[tuple[str, str]]
) -> Finding | None:
    """No answer on record is asked for again.

    In: how many questions there were before the stop, and the steps answered on record then.
    """
    for run, step_id in world.asks[before:]:
        if (run, step_id) in answered:
            return Finding(
                check="asked again",
                message="the model is asked again for an answer that is on record",
                where=where,
                run=run,
                step=f"{step_id} completed",
                recorded="an answer",
                came="the same question again",
                cause="the agent does not go on from its journal: tokens are paid twice",
            )
    return None


def effects_once(where: str, baseline: Baseline, world: World) -> Finding | None:
    """A tool that may not be repeated is run at most once."""
    for (run, step_id), times in world.times_run().items():
        step = baseline.step(run, step_id, "attempted")
        if times > 1 and not baseline.is_idempotent(run, step_id) and not is_script(step):
            return Finding(
                check="effect",
                message=f"the tool {baseline.tool_of(run, step_id)!r} took effect {times} times",
                where=where,
                run=run,
                step=f"{step_id} completed",
                recorded="once, and not declared idempotent",
                came=f"{times} times",
                cause="the agent repeats a call whose fate it cannot know, or does not know that"
                " it was made",
            )
    return None


def uncertain_exactly(
    where: str, baseline: Baseline, world: World, expected: set[tuple[str, str]]
) -> Finding | None:
    """`UncertainEffect` is raised where the fate of a call cannot be known, and nowhere else.

    A call that a run did not get over is no matter here: how it ended tells why.
    """
    told, over = set(world.uncertain), {key[:2] for key in world.acknowledged if _is_end(key)}
    for run, step_id in sorted(((expected & over) - told) | (told - expected)):
        missing = (run, step_id) in expected
        return Finding(
            check="uncertain",
            message="UncertainEffect was not raised"
            if missing
            else "UncertainEffect was raised where the fate of the call is known",
            where=where,
            run=run,
            step=f"{step_id} attempted",
            recorded=f"a call of {baseline.tool_of(run, step_id)!r} "
            + ("that was begun, its end not on record" if missing else "that may be repeated"),
            came="the run went on" if missing else "UncertainEffect",
            cause="the call was run again or passed over without anybody deciding"
            if missing
            else "a call is taken for begun that was not, or for one that may not be repeated",
        )
    return None


def _is_end(key: Key) -> bool:
    return key[2] == "completed"


def ended_alike(where: str, baseline: Baseline, end: End, world: World) -> Finding | None:
    """The run ends as the straight one did."""
    expected = baseline.end
    alike = end.kind == expected.kind and type(end.error) is type(expected.error)
    if alike:
        return None
    recorded, came = baseline.world.names(str(expected)), world.names(str(end))
    cause = "changed code or hidden state: the run took another way after the stop"
    if isinstance(end.error, ConfigurationError):
        cause = f"changed code: the agent is not the one that began the run ({came})"
    elif isinstance(end.error, JournalDivergedError):
        cause = "the conversation rebuilt from the journal is another one: " + cause
    elif isinstance(end.error, JournalError):
        cause = "the store: what it leaves behind when a run is stopped here"
    elif isinstance(end.error, UncertainEffect):
        cause = "the run stays at a call although it was settled"
    return Finding(
        check="end",
        message="the run ends otherwise",
        where=where,
        step=getattr(end.error, "step_id", ""),
        recorded=recorded,
        came=came,
        cause=cause,
    )
