"""The market analyst on the MCP surface: its tools in a server process. The model is scripted."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp", reason="needs the extra pytest-synaptum[mcp]")

from market_analyst import analyst, market
from support.agents import final_of
from support.market import do_the_task, ledger_in

from synaptum import Risk


@pytest.mark.asyncio
async def test_the_task_is_done_over_mcp_and_the_trade_waits_for_a_person(tmp_path):
    ledger = ledger_in(tmp_path)

    async with analyst.sidecar(ledger) as server:
        offered = list(server)
        first, steps, _ = await do_the_task("mcp", offered)

    assert [tool.name for tool in offered if tool.definition.risk is Risk.DESTRUCTIVE] == [
        "execute_trade"
    ]
    assert first[-1].call.arguments == {"ticker": "AVGO", "side": "buy", "quantity": 10}
    assert market.Ledger(ledger).orders() == analyst.EXPECTED
    assert final_of(steps).output.startswith("NVDA fell on a new export rule.")
