"""Our own agent, with everything that it can have, stopped everywhere.

Every store by every kind of stop is in `suites/resume`.
"""

import pytest
from support.resumable import check, everything, script_of_everything, small, with_approvals
from support.stores import FILE_STORES

from pytest_synaptum import Stop
from synaptum import Decision, Disposition, Limits
from synaptum.testing import calls

KILLS = {Stop.KILLED_BEFORE, Stop.KILLED_AFTER, Stop.KILLED_EFFECT}


@pytest.mark.parametrize("streamed", [False, True])
def test_it_is_the_same_run_after_every_stop_in_the_process(streamed):
    report = check(everything, model=script_of_everything(), stream=streamed)

    assert report.ok, str(report)
    in_process = {Stop.ENDED, Stop.BEFORE, Stop.AFTER, Stop.CANCELLED}
    assert {cell.stop for cell in report.cells} == in_process | (
        {Stop.IN_STREAM} if streamed else set()
    )
    assert {cell.boundary.number for cell in report.cells} == set(range(34))
    # `write` alone may not be repeated: stopped after its intent and before its end, by each
    # kind of stop that leaves it there.
    assert report.uncertain == 4
    assert report.asked_again > 0
    assert report.run_again > 0


def test_it_is_the_same_run_after_every_kill():
    report = check(
        everything,
        model=script_of_everything(),
        checkpointer=FILE_STORES["sqlite"],
        stops=KILLS,
    )

    assert report.ok, str(report)
    assert {cell.stop for cell in report.cells} == KILLS
    assert {cell.boundary.number for cell in report.cells} == set(range(34))
    assert report.uncertain == 3
    assert report.asked_again > 0


def test_approvals_are_asked_for_and_given_whatever_stops_the_run():
    agent, _, gateway = with_approvals()

    report = check(agent, gateway=gateway)

    assert report.ok, str(report)
    assert sum("approval" in boundary.what for boundary in report.boundaries) == 8


def test_a_person_who_refuses_is_heard_whatever_stops_the_run():
    agent, _, gateway = with_approvals()
    report = check(
        agent,
        gateway=gateway,
        decide=lambda approval: Decision(Disposition.TERMINATE_RUN, "no"),
    )

    assert report.ok, str(report)
    assert report.boundaries[-1].what.endswith("final completed")


def test_a_run_that_fails_fails_the_same_way_after_every_stop():
    report = check(
        lambda: small(limits=Limits(max_steps=4)), *[calls("read", path=str(n)) for n in range(2)]
    )

    assert report.ok, str(report)
    assert report.boundaries[-1].what == "000003-tool completed"
