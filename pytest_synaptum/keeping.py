"""What becomes of a recording when its test is over.

Its exchanges are redacted, looked through for secrets, and held to be written with the rest of
the test's files, if the test passed and no answer says "not now" (429, 5xx, or such an error
inside a good status).
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Final

import pytest

from pytest_synaptum.capture import guard
from pytest_synaptum.cassette.changes import read_before, wrote
from pytest_synaptum.cassette.match import Matcher, body_value
from pytest_synaptum.cassette.recorder import Recorder, Slot
from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.errors import PluginError
from pytest_synaptum.exchange import Exchange
from pytest_synaptum.judging import judge_empty, judge_masks
from pytest_synaptum.live import hint_for
from pytest_synaptum.passing import passing_error
from pytest_synaptum.pending import Write, pending_of, why_not_passed
from pytest_synaptum.session import REPORTS, session_of
from pytest_synaptum.sharing import TESTS, loss, sharers
from synaptum.clock import SystemClock, isoformat
from synaptum.errors import is_retryable_status

if TYPE_CHECKING:
    from pytest_synaptum.recording import Recording

__all__ = ["keep"]

#: From this size, in bytes, the summary says that a cassette is hard to review.
_LARGE: Final = 1_000_000


def keep(recording: Recording, recorder: Recorder) -> None:
    """Hand in the cassette, or say why it is not kept.

    Fails the test where nothing was recorded, what was holds a secret, or other tests would lose.
    """
    pending = pending_of(recording.item)
    reason = _reason_against(recording, recorder)
    if reason is not None:
        pending.refuse(recording.where, reason)
        return
    exchanges = recording.exchanges()
    if not exchanges:
        pending.refuse(recording.where, "the test asked nothing")
        judge_empty(recording)
        return
    try:
        recording.redactor.scan(exchanges, recording.where)
    except PluginError as error:
        pending.refuse(recording.where, "it still holds a secret")
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    text = dump_cassette(exchanges, _header(recording, recorder, exchanges))
    lost = loss(recording, text)
    if lost is not None:
        pending.refuse(recording.where, lost)
        msg = f"The cassette {recording.where} was not written: {lost}."
        raise pytest.fail.Exception(msg, pytrace=False)
    before = read_before(recording.path)

    def done() -> None:
        session = session_of(recording.item.config)
        session.written.add(recording.path)
        session.tally.recorded += len(exchanges)
        session.tally.wrote.append(
            wrote(recording.where, exchanges, len(text.encode("utf-8")), before)
        )
        if len(text) > _LARGE:
            session.tally.notes.append(
                f"{recording.where} has {len(text):,} characters, which nobody reviews: split the"
                " test, or ask for shorter answers"
            )
        # The file stands: a mask is corrected without asking the server again.
        matcher = Matcher(masks=recording.marker.ignore)
        for exchange in exchanges:
            matcher.masked(body_value(exchange.request.body), note=True)
        judge_masks(recording, matcher.matched)

    pending.hold(
        Write(noun="cassette", path=recording.path, where=recording.where, text=text, done=done)
    )


def _reason_against(recording: Recording, recorder: Recorder) -> str | None:
    options = session_of(recording.item.config).options
    slots = recorder.slots
    call = recording.item.stash.get(REPORTS, {}).get("call")
    reason = why_not_passed(recording.item)
    # A test that is expected to fail has its cassette, too.
    if reason is not None and not hasattr(call, "wasxfail"):
        hints = (
            hint_for(
                slot.status,
                slot.request.path,
                options.api_key_variable,
                has_key=options.api_key is not None,
            )
            for slot in slots
            if slot.status is not None
        )
        hint = next((hint for hint in hints if hint), None)
        return reason + (f"; {hint}" if hint else "")
    for slot in slots:
        said = None if options.force else _said_not_now(slot)
        if said is not None:
            return (
                f"the server answered {said}, which is no answer to keep; record again, or"
                " add --synaptum-force if the test is about it"
            )
    return None


def _said_not_now(slot: Slot) -> str | None:
    status, response = slot.status, slot.exchange().response
    if status is None or response is None:
        return None
    if is_retryable_status(status):
        return str(status)
    error = passing_error(response)
    if error is None:
        return None
    return f"{error.status or 'an error that passes'} inside a status {status}"


def _header(
    recording: Recording, recorder: Recorder, exchanges: tuple[Exchange, ...]
) -> dict[str, str]:
    """What is said about the recording, apart from its exchanges."""
    clean = recording.redactor.text
    slots = recorder.slots
    header = {"at": isoformat(SystemClock().now_s())[:19] + "Z"}
    servers = (value for slot in slots for name, value in slot.headers if name == "server")
    server = next(servers, "")
    if server:
        header["server"] = clean(server[:60])
    model = recording.asked_model
    if model is None and exchanges:
        body = body_value(exchanges[0].request.body)
        asked = body.get("model") if isinstance(body, dict) else None
        model = asked if isinstance(asked, str) else None
    if model:
        header["model"] = clean(model)
    header["plugin"] = version("pytest-synaptum")
    if recording.has_asked_live and recording.base_path != "/v1":
        header["base_path"] = clean(recording.base_path)
    # Only where the guard needs it; another host's name is nobody's business.
    origins = {slot.origin for slot in slots if guard.is_loopback(slot.origin.rpartition(":")[0])}
    if origins:
        header["origins"] = " ".join(sorted(origins))
    tests = sharers(recording.item, recording.path)
    if tests:
        header[TESTS] = clean(", ".join(tests))
    return header
