"""The resume check on agents whose scripts call tools; by every kind of stop in `suites/resume`."""

from __future__ import annotations

import pytest
from support.resumable import check
from support.scripted import PAYMENT, READS, agent_with_scripts

from pytest_synaptum import Stop


@pytest.mark.parametrize("script", [READS, PAYMENT], ids=["repeatable calls", "a payment"])
def test_a_run_with_a_script_is_the_same_after_every_write(script):
    agent, gateway = agent_with_scripts(script)

    report = check(agent, gateway=gateway, stops={Stop.AFTER})

    assert report.ok, str(report)
    assert (report.uncertain > 0) is (script is PAYMENT)
