"""An agent whose scripts call tools, by every kind of stop; each script runs for real."""

from __future__ import annotations

import pytest
from support.resumable import check
from support.scripted import PAYMENT, READS, agent_with_scripts
from support.stores import FILE_STORES


@pytest.mark.parametrize("script", [READS, PAYMENT], ids=["repeatable calls", "a payment"])
@pytest.mark.parametrize("store", [None, FILE_STORES["sqlite"]], ids=["memory", "sqlite"])
def test_a_run_with_a_script_is_the_same_after_every_stop(script, store):
    agent, gateway = agent_with_scripts(script)

    report = check(agent, gateway=gateway, checkpointer=store)

    assert report.ok, str(report)
    assert (report.uncertain > 0) is (script is PAYMENT)
