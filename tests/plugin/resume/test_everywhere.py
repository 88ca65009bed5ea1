"""Our own agent, with everything that it can have, on every store, stopped everywhere."""

import pytest
from support.resumable import check, everything, script_of_everything, small, with_approvals
from support.stores import FILE_STORES

from pytest_synaptum import Stop
from synaptum import Decision, Disposition, Limits
from synaptum.testing import calls

OPEN = {"memory": None, **FILE_STORES}
KILLS = {Stop.KILLED_BEFORE, Stop.KILLED_AFTER, Stop.KILLED_EFFECT}


@pytest.mark.parametrize(
    ("store", "streamed"),
    [("memory", False), ("memory", True), ("sqlite", False), ("jsonl", True)],
)
def test_it_is_the_same_run_after_every_stop(store, streamed):
    report = check(
        everything,
        model=script_of_everything(),
        checkpointer=OPEN[store],
        stream=streamed,
    )

    assert report.ok, str(report)
    made = {cell.stop for cell in report.cells}
    assert {Stop.ENDED, Stop.BEFORE, Stop.AFTER, Stop.CANCELLED} <= made
    assert (Stop.IN_STREAM in made) is streamed
    assert (made >= KILLS) is (store != "memory")
    assert {cell.boundary.number for cell in report.cells} == set(range(len(report.boundaries)))
    # `write` alone may not be repeated: stopped after its intent and before its end, by each
    # kind of stop that leaves it there.
    assert report.uncertain == (4 if store == "memory" else 7)
    assert report.asked_again > 0
    assert report.run_again > 0


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_approvals_are_asked_for_and_given_whatever_stops_the_run(store):
    agent, _, gateway = with_approvals()

    report = check(
        agent,
        gateway=gateway,
        checkpointer=OPEN[store],
        stops=None if store == "memory" else {Stop.KILLED_BEFORE, Stop.KILLED_EFFECT},
    )

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
