"""One finished test as plain JSON: what the page knows of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from pytest_synaptum.cassette.writing import about_exchange, is_stream
from pytest_synaptum.exchange import Exchange
from pytest_synaptum.report.parts import GoldenPart, Parts
from pytest_synaptum.report.runs import plain_run
from pytest_synaptum.report.sides import plain_sides
from pytest_synaptum.report.texts import body_text, shortened, value_text
from synaptum import canonical
from synaptum.vocabulary import Request, Response

__all__ = ["outcome_of", "plain_exchange", "plain_test"]

#: Of each kind of part, how many one test shows; what is left out is counted.
_SHOWN: Final = 60
_FAILURE_CHARS: Final = 20_000


def plain_test(
    nodeid: str,
    order: int,
    reports: Mapping[str, pytest.TestReport],
    parts: Parts,
    cleaned: Callable[[Any], Any],
) -> dict[str, Any]:
    """A test, its outcome and its parts.

    Args:
        nodeid: the test.
        order: its place among all tests.
        reports: its phases.
        parts: what it handed in.
        cleaned: a value without secrets. A golden's values pass it before they are written as
            texts, in which the fragments of a secret could not be told any more; what is
            returned here is to be cleaned as a whole all the same.
    """
    outcome, failed = outcome_of(reports)
    lists: dict[str, list[Any]] = {
        "exchanges": [plain_exchange(state, one) for state, one in parts.exchanges[:_SHOWN]],
        "scripted": [_scripted(*one) for one in parts.scripted[:_SHOWN]],
        "runs": [
            plain_run(run, [*steps.values()]) for run, steps in [*parts.runs.items()][:_SHOWN]
        ],
        "goldens": [_golden(one, cleaned) for one in parts.goldens[:_SHOWN]],
        "resumes": parts.resumes[:_SHOWN],
    }
    left_out = {name: len(getattr(parts, name)) - len(shown) for name, shown in lists.items()}
    return {
        "id": nodeid,
        "order": order,
        "outcome": outcome,
        "took_s": round(sum(report.duration for report in reports.values()), 3),
        "failure": "" if failed is None else shortened(_text(failed), _FAILURE_CHARS),
        "unused": parts.unused,
        **lists,
        "left_out": {name: number for name, number in left_out.items() if number},
    }


def outcome_of(
    reports: Mapping[str, pytest.TestReport],
) -> tuple[str, pytest.TestReport | None]:
    """A test's outcome in one word, and the phase that has something to say about it."""
    for when in ("setup", "teardown"):
        report = reports.get(when)
        if report is not None and report.failed:
            call = reports.get("call")
            return "error", call if call is not None and call.failed else report
    setup, call = reports.get("setup"), reports.get("call")
    if setup is not None and setup.skipped:
        return ("xfailed" if hasattr(setup, "wasxfail") else "skipped"), setup
    if call is None:
        return "error", None
    if hasattr(call, "wasxfail"):
        return ("xfailed" if call.skipped else "xpassed"), call
    return call.outcome, None if call.passed else call


def _text(report: pytest.TestReport) -> str:
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    reason = getattr(report, "wasxfail", "")
    return "\n".join(text for text in (reason, report.longreprtext) if text)


def plain_exchange(state: str, exchange: Exchange) -> dict[str, Any]:
    """An exchange in its redacted form, with the bodies as they travelled."""
    request, response = exchange.request, exchange.response
    kind, text = body_text(request.body)
    plain: dict[str, Any] = {
        "state": state,
        "about": about_exchange(exchange),
        "request": {"kind": kind, "text": text, "headers": [list(h) for h in request.headers]},
        "response": None,
    }
    if response is not None:
        kind, text = body_text(response.body, stream=is_stream(response.headers))
        plain["response"] = {
            "kind": kind,
            "text": text,
            "headers": [list(header) for header in response.headers],
            "bytes": len(response.body),
            "chunks": len(response.chunks),
            "took_s": round((response.headers_after_s or 0.0) + sum(response.delays_s), 3),
        }
        plain["failed"] = response.status >= 400
    return plain


def _scripted(request: Request, wire: Any, response: Response | None) -> dict[str, Any]:
    answer = "" if response is None else f", {response.finish_reason.value}"
    return {
        "about": f"asked {request.model}, messages: {len(request.messages)}{answer}",
        "request": {"kind": "json", "text": body_text(canonical.wire_bytes(wire))[1]},
        "response": None if response is None else {"kind": "json", "text": value_text(response)},
    }


def _golden(part: GoldenPart, cleaned: Callable[[Any], Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "file": part.file,
        "name": part.name,
        "status": part.status,
        "command": part.command,
    }
    expected, actual = cleaned(part.expected), cleaned(part.actual)
    if part.status == "differs":
        plain["sides"] = plain_sides(expected, actual)
    elif part.status == "missing":
        plain["came"] = value_text(actual)
    return plain
