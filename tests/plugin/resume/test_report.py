"""The report: a table, the four facts, and the same as JSON."""

import itertools
import json

from support.resumable import check, small
from support.stores import FILE_STORES

from pytest_synaptum import Stop
from pytest_synaptum.resume.boundaries import Boundary, sampled
from synaptum import tool
from synaptum.testing import ScriptedModel, calls


def counting():
    count = itertools.count(1)

    @tool(idempotent=True)
    async def book(seat: str) -> str:
        """Book a seat."""
        return f"booking {next(count)}"

    return small(book)


def red():
    model = ScriptedModel(calls("book", seat="1A"), "Done.")
    return check(counting, gateway=lambda: model.gateway(counting().plan.tools.values()))


def test_the_table_has_a_row_a_boundary_and_a_column_a_stop():
    lines = str(red()).splitlines()

    head = next(line for line in lines if line.startswith("boundary"))
    assert head.split(maxsplit=1) == [
        "boundary",
        "iteration ended  error before write  error after write  task cancelled",
    ]
    row = next(line for line in lines if line.startswith("   3 "))
    assert row.split() == ["3", "000001-tool", "completed", "ok", "FAILED", "ok", "ok"]


def test_the_json_holds_what_the_table_shows_and_the_four_facts():
    plain = json.loads(json.dumps(red().to_json()))

    assert plain["synaptum"] == "resume-report/1"
    assert plain["ok"] is False
    assert plain["stops"] == [
        "iteration ended",
        "error before write",
        "error after write",
        "task cancelled",
    ]
    assert plain["boundaries"][3] == {"number": 3, "run": "run", "step": "000001-tool completed"}
    assert plain["cells"][3] == ["ok", "failed", "ok", "ok"]
    finding = plain["findings"][0]
    assert (finding["step"], finding["recorded"], finding["came"]) == (
        "000001-tool completed",
        '"booking 1"',
        '"booking 2"',
    )
    assert (finding["boundary"], finding["stop"]) == (3, "error before write")
    assert finding["cause"].startswith("a tool wrongly declared idempotent")
    assert finding["path"] == "result.content[0].text"


def test_a_long_run_is_stopped_at_all_boundaries_in_chains():
    script = [calls("read", path=str(number)) for number in range(12)]

    report = check(
        small, *script, "Done.", checkpointer=FILE_STORES["sqlite"], stops={Stop.KILLED_AFTER}
    )

    assert report.ok, str(report)
    assert (len(report.boundaries), len(report.cells)) == (52, 52)
    assert report.notes == [
        "a long run: all 52 boundaries one after the other in one run a kind of stop, 12 of them"
        " also each in a run of its own"
    ]


def test_a_chain_that_breaks_is_told_by_runs_of_their_own():
    model = ScriptedModel(*[calls("book", seat=str(n)) for n in range(10)], "Done.")

    report = check(
        counting,
        gateway=lambda: model.gateway(counting().plan.tools.values()),
        stops={Stop.BEFORE, Stop.AFTER},
    )

    # Every boundary in a run of its own: the ends of the ten bookings, where the error came
    # before the write, are red, and nothing else.
    assert len(report.cells) == 2 * len(report.boundaries) == 88
    assert [finding.cell.boundary.number for finding in report.findings] == list(range(3, 43, 4))


def test_a_sample_is_as_asked_for_and_says_so():
    script = [calls("read", path=str(number)) for number in range(12)]

    report = check(small, *script, "Done.", sample=6, stops={Stop.AFTER})

    assert report.notes[-1] == "sampled: 6 of 52 boundaries"
    assert [cell.boundary.number for cell in report.cells] == [0, 1, 25, 26, 50, 51]


def test_a_sample_of_everything_is_everything():
    boundaries = [Boundary(number, "run", "x") for number in range(7)]

    assert sampled(boundaries, 7) == set(range(7))
    assert sampled(boundaries, 100) == set(range(7))
    assert sampled(boundaries, 1) == {0, 1}


def test_a_sample_is_taken_of_what_can_be_stopped():
    script = [calls("read", path=str(number)) for number in range(3)]

    report = check(small, *script, "Done.", sample=1, stops={Stop.IN_STREAM}, stream=True)

    assert [cell.boundary.what for cell in report.cells] == [
        "000000-model completed",
        "000002-model completed",
    ]
    assert report.notes[-1] == "sampled: 2 of 4 boundaries"
