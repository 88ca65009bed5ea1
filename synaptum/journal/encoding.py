"""Steps to records and back: the form every store keeps, linear in the length of the run.

A record is the plain JSON of a step (`vocabulary.codec`) without its `run_id`, which the store
keeps beside it. A conversation of n turns makes n requests, each holding all messages before
it; written out they would take O(n²). So the first request of a run is written whole, and a
later one as what changed since the last request on record:

    {"as_in": "000002-model", "kept": 5, "messages": [...], "temperature": 0.5}

reads "as in step 000002-model, but only its first 5 messages are kept, these follow, and the
temperature is 0.5". Reading such records back gives requests that share one `History`.

Two values count as the same here only if their canonical JSON is: `1`, `1.0` and `True` are
equal to Python and three different things to a server.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import EncodingError, JournalFormatError
from synaptum.vocabulary import History, Message, ModelStep, Request, Step
from synaptum.vocabulary.codec import are_identical, from_json, to_json

__all__ = ["RunCodec", "common_prefix", "first_difference", "same"]

_FIELDS: Final = tuple(
    field.name for field in dataclasses.fields(Request) if field.name != "messages"
)


class RunCodec:
    """Turns the steps of one run, in order, into records, and records back into steps.

    Neither `encode` nor `decode` changes it; `advance` tells it that a step is on record, so
    that a write that failed leaves no trace.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._base: tuple[str, Request] | None = None

    def advance(self, step: Step) -> None:
        """Take `step` for the last one on record."""
        if isinstance(step, ModelStep) and step.request is not None:
            self._base = (step.step_id, step.request)

    def encode(self, step: Step) -> dict[str, Any]:
        """The record of `step` as plain JSON, against the last request on record.

        Raises:
            EncodingError: the step holds something without a JSON form.
        """
        if isinstance(step, ModelStep) and step.request is not None and self._base is not None:
            record: dict[str, Any] = to_json(dataclasses.replace(step, request=None))
            record["request"] = _delta(*self._base, step.request)
        else:
            record = to_json(step)
        del record["run_id"]
        return record

    def decode(self, record: Any) -> Step:
        """The step that `encode` made this record of, with the same steps on record before it.

        Raises:
            JournalFormatError: the record is not one this version writes, or the request it
                builds on is not the last one before it.
        """
        if not isinstance(record, dict):
            msg = f"A record of run {self._run_id!r} is no JSON object."
            raise JournalFormatError(msg)
        plain = {**record, "run_id": self._run_id}
        try:
            if record.get("kind") == ModelStep.kind and record.get("request") is not None:
                plain["request"] = None
                bare: ModelStep = from_json(ModelStep, plain)
                return dataclasses.replace(bare, request=self._request(record["request"]))
            step: Step = from_json(Step, plain)
        except EncodingError as error:
            place = record.get("step_id", "without a step_id")
            msg = f"Record {place} of run {self._run_id!r} cannot be read: {error}"
            raise JournalFormatError(msg) from None
        return step

    def _request(self, plain: Any) -> Request:
        if not isinstance(plain, dict) or "as_in" not in plain:
            request: Request = from_json(Request, plain)
            return dataclasses.replace(request, messages=History(request.messages))
        if self._base is None or self._base[0] != plain["as_in"]:
            last = "none" if self._base is None else self._base[0]
            msg = f"its request builds on {plain['as_in']!r}, but the last one on record is {last}."
            raise EncodingError(msg)
        base = self._base[1]
        changed = {name: value for name, value in plain.items() if name in _FIELDS}
        kept, messages = plain.get("kept"), plain.get("messages")
        known = len(changed) + 3 == len(plain)
        if (
            not known
            or not isinstance(kept, int)
            or isinstance(kept, bool)
            or not 0 <= kept <= len(base.messages)
            or not isinstance(messages, list)
        ):
            msg = f"its request is no change of {plain['as_in']!r} that this version writes."
            raise EncodingError(msg)
        # The codec reads the changed fields and the new messages as it would a whole request.
        read: Request = from_json(Request, {"model": base.model, **changed, "messages": messages})
        history = base.messages
        if not isinstance(history, History) or kept != len(history):
            history = History(history[:kept])
        return dataclasses.replace(
            base,
            messages=history.append(*read.messages),
            **{name: getattr(read, name) for name in changed},
        )


def common_prefix(old: Sequence[Message], new: Sequence[Message]) -> int:
    """How many messages both begin with; O(1) for a `History` grown from the other."""
    for shorter, longer in ((old, new), (new, old)):
        if (
            isinstance(shorter, History)
            and isinstance(longer, History)
            and shorter.shares_storage_with(longer)
            and len(shorter) <= len(longer)
        ):
            return len(shorter)
    count = 0
    for mine, theirs in zip(old, new, strict=False):
        if mine is not theirs and not same(mine, theirs):
            break
        count += 1
    return count


def same(old: Any, new: Any) -> bool:
    """Whether two vocabulary values have the same canonical JSON."""
    if are_identical(old, new):
        return True
    # Python's own comparison first: it is fast, and never says "different" of the same JSON.
    return bool(old == new) and canonical.encode(to_json(old)) == canonical.encode(to_json(new))


def first_difference(old: Any, new: Any, pointer: str = "") -> str | None:
    """JSON pointer (RFC 6901) of the first place where two plain JSON values differ, or None."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            inner = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in old or key not in new:
                return inner
            found = first_difference(old[key], new[key], inner)
            if found is not None:
                return found
        return None
    if isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            inner = f"{pointer}/{index}"
            if index >= min(len(old), len(new)):
                return inner
            found = first_difference(old[index], new[index], inner)
            if found is not None:
                return found
        return None
    if type(old) is type(new) and canonical.encode(old) == canonical.encode(new):
        return None
    return pointer


def _delta(step_id: str, old: Request, new: Request) -> dict[str, Any]:
    kept = common_prefix(old.messages, new.messages)
    record: dict[str, Any] = {"as_in": step_id, "kept": kept}
    record["messages"] = [to_json(message) for message in new.messages[kept:]]
    for name in _FIELDS:
        value = getattr(new, name)
        if not same(getattr(old, name), value):
            record[name] = to_json(value)
    return record
