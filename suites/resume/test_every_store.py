"""The whole grid: an agent that has everything, by every kind of stop, on stores on disk."""

import pytest
from support.resumable import check, everything, script_of_everything, with_approvals
from support.stores import FILE_STORES

from pytest_synaptum import Stop


@pytest.mark.parametrize(("store", "streamed"), [("sqlite", False), ("jsonl", True)])
def test_it_is_the_same_run_after_every_stop(store, streamed):
    report = check(
        everything,
        model=script_of_everything(),
        checkpointer=FILE_STORES[store],
        stream=streamed,
    )

    assert report.ok, str(report)
    assert {cell.stop for cell in report.cells} == set(Stop) - (
        set() if streamed else {Stop.IN_STREAM}
    )
    assert {cell.boundary.number for cell in report.cells} == set(range(34))
    assert report.uncertain == 7


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_approvals_are_asked_for_and_given_whatever_kills_the_run(store):
    agent, _, gateway = with_approvals()

    report = check(
        agent,
        gateway=gateway,
        checkpointer=FILE_STORES[store],
        stops={Stop.KILLED_BEFORE, Stop.KILLED_AFTER, Stop.KILLED_EFFECT},
    )

    assert report.ok, str(report)
    assert sum("approval" in boundary.what for boundary in report.boundaries) == 8
