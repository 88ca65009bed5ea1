"""A straight run as a file, for a fresh process: its answers and its journals, exactly.

Requests travel in the order of their keys, since that order is part of their bytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_synaptum.resume.baseline import Baseline
from pytest_synaptum.resume.passage import End
from pytest_synaptum.resume.tape import Answer, Tape
from pytest_synaptum.resume.world import World
from synaptum import canonical, errors
from synaptum.errors import SynaptumError
from synaptum.journal.jsonl import JsonlCheckpointer
from synaptum.vocabulary import Decision, Message, Request, Response, StreamEvent
from synaptum.vocabulary.codec import from_json, to_json

__all__ = ["dumps", "load_baseline", "load_task", "pack_baseline", "pack_task"]


def pack_task(task: Any) -> Any:
    """A task as JSON."""
    return task if task is None or isinstance(task, str) else [to_json(item) for item in task]


def load_task(plain: Any) -> Any:
    """The inverse of `pack_task`."""
    if plain is None or isinstance(plain, str):
        return plain
    from synaptum.vocabulary import ContentPart

    return [from_json(Message if "role" in item else ContentPart, item) for item in plain]


async def pack_baseline(baseline: Baseline, folder: Path) -> dict[str, Any]:
    """Write the journals into `folder`; what else there is, as JSON."""
    with JsonlCheckpointer(folder / "straight.jsonl", durable=False) as store:
        for event in baseline.world.written:
            await store.append(event.run_id, event)
    return {
        "run_id": baseline.world.run_id,
        "writes": list(baseline.writes),
        "effects": baseline.world.effects,
        "end": [baseline.end.kind, _pack_error(baseline.end.error)],
        "answers": [_pack_answer(answer) for answer in baseline.tape.answers],
    }


async def load_baseline(plain: dict[str, Any], folder: Path) -> Baseline:
    """The inverse of `pack_baseline`."""
    world = World(plain["run_id"], effects=[tuple(place) for place in plain["effects"]])
    writes = [tuple(key) for key in plain["writes"]]
    journals = {}
    with JsonlCheckpointer(folder / "straight.jsonl", durable=False) as store:
        for run in dict.fromkeys(key[0] for key in writes):
            journals[run] = (await store.load(world.id_of(run))).events
    by_key = {
        (run, event.step_id, event.phase.value): event
        for run, events in journals.items()
        for event in events
    }
    for key in writes:
        world.wrote(by_key[key])
    tape = Tape()
    for answer in plain["answers"]:
        tape.add(_load_answer(answer))
    kind, error = plain["end"]
    return Baseline.of(world, tape, journals, End(kind, _load_error(error)))


def dumps(plain: Any) -> str:
    """JSON text in ASCII, whatever the surroundings, that keeps the order of keys."""
    return json.dumps(plain)


def _pack_answer(answer: Answer) -> dict[str, Any]:
    events = answer.events
    return {
        "run": answer.run,
        "step_id": answer.step_id,
        "request": canonical.wire_text(to_json(answer.request)),
        "is_approved": answer.is_approved,
        "response": None if answer.response is None else to_json(answer.response),
        "events": None if events is None else [to_json(event) for event in events],
        "error": _pack_error(answer.error),
    }


def _load_answer(plain: dict[str, Any]) -> Answer:
    events = plain["events"]
    return Answer(
        run=plain["run"],
        step_id=plain["step_id"],
        request=from_json(Request, canonical.loads(plain["request"])),
        is_approved=plain["is_approved"],
        response=None if plain["response"] is None else from_json(Response, plain["response"]),
        events=None if events is None else [from_json(StreamEvent, event) for event in events],
        error=_load_error(plain["error"]),
    )


def _pack_error(error: Exception | None) -> dict[str, Any] | None:
    if error is None:
        return None
    known = {k: v for k, v in vars(error).items() if v is None or isinstance(v, str | int | float)}
    decision = getattr(error, "decision", None)
    return {
        "type": type(error).__name__,
        "message": str(error),
        "known": {"retryable": getattr(error, "retryable", False), **known},
        "decision": None if decision is None else to_json(decision),
    }


def _load_error(plain: dict[str, Any] | None) -> Exception | None:
    if plain is None:
        return None
    kind: Any = getattr(errors, plain["type"], None) or type(plain["type"], (SynaptumError,), {})
    error: Exception = kind.__new__(kind, plain["message"])
    Exception.__init__(error, plain["message"])
    vars(error).update(plain["known"])
    if plain["decision"] is not None:
        vars(error)["decision"] = from_json(Decision, plain["decision"])
    return error
