"""The resume check on agents whose scripts call tools: every stop, inside a script too."""

from __future__ import annotations

import pytest
from support.agents import MODEL

from pytest_synaptum.resume.fixture import check_resume
from pytest_synaptum.resume.stops import Stop
from synaptum import Agent, Decision, Disposition, code_tool, tool
from synaptum.testing import ScriptedModel, calls


def asks(check):
    needs = check.name == "pay"
    return Decision(Disposition.REQUIRE_APPROVAL if needs else Disposition.ALLOW)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("script", "policy", "uncertain"),
    [
        ("print(await look(1), await look(2))", None, False),
        ("print(await look(1), await pay(5), await look(2))", asks, True),
    ],
    ids=["repeatable calls", "an approved payment"],
)
async def test_a_run_with_a_script_is_the_same_after_every_stop(script, policy, uncertain):
    @tool(idempotent=True)
    async def look(n: int) -> int:
        """Look."""
        return n * 10

    @tool
    async def pay(n: int) -> str:
        """Pay."""
        return f"paid {n}"

    code = code_tool([look, pay])
    agent = Agent("a", model=MODEL, tools=[code])
    model = ScriptedModel(calls("run_python", script=script), "Done.")

    report = await check_resume(
        agent, "Go", gateway=lambda: model.gateway([code], policy), stops={Stop.AFTER}
    )

    assert report.ok, str(report)
    assert (report.uncertain > 0) is uncertain
