"""The market analyst's task on each surface, scripted: the turns that a model would take.

Everything here is scripted (we wrote the model's turns); the tools, the processes, the policy
and the ledger are real.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from market_analyst.analyst import TASK, analyst, trades_need_a_person

from support.agents import MODEL, run, session_of
from synaptum import ALLOW, Session, Tool, Usage
from synaptum.testing import ScriptedModel, calls, says

ANSWER = says("NVDA fell on a new export rule. I bought 10 shares of AVGO (P/E 27.5).")

SCRIPT = """\
import asyncio

async def main():
    snapshot, news, found = await asyncio.gather(
        get_stock_snapshot("NVDA"), search_news("NVDA", 2), search_competitors("NVDA")
    )
    earning = [c for c in found["competitors"] if c["pe_ratio"] is not None]
    cheapest = min(earning, key=lambda c: c["pe_ratio"])
    order = await execute_trade(cheapest["ticker"], "buy", 10)
    print(snapshot["summary"])
    print(news["results"][0]["headline"])
    print("bought", order["quantity"], order["ticker"], "at P/E", cheapest["pe_ratio"])

asyncio.run(main())
"""

_JSON = [
    [
        calls("get_stock_snapshot", ticker=" nvda "),
        calls("search_news", query="NVDA", max_results=2),
        calls("search_competitors", ticker="NVDA"),
    ],
    calls("execute_trade", ticker="AVGO", side="buy", quantity=10),
    ANSWER,
]

TURNS: dict[str, list[Any]] = {
    "json": _JSON,
    "mcp": _JSON,
    "unconsolidated": [
        [
            calls("get_stock_price", ticker="NVDA"),
            calls("get_company_metrics", ticker="NVDA"),
            calls("search_news", query="NVDA"),
            calls("search_competitors", query="NVDA"),
        ],
        [calls("get_company_metrics", ticker=t) for t in ("AMD", "INTC", "AVGO")],
        calls("execute_trade", ticker="AVGO", side="buy", quantity=10),
        ANSWER,
    ],
    "skills": [
        calls("read_skill", name="stock-report", argument="NVDA"),
        calls("read_skill_file", name="stock-report", path="references/choosing.md"),
        *_JSON,
    ],
    "command": [
        [
            calls("market_snapshot", ticker="nvda"),
            calls("market_news", query="NVDA", max_results=2),
            calls("market_competitors", ticker="NVDA"),
        ],
        calls("market_trade", ticker="AVGO", side="buy", quantity=10),
        ANSWER,
    ],
    "code": [calls("run_python", script=SCRIPT), ANSWER],
}


def session_on(surface: str, tools: list[Tool]) -> tuple[ScriptedModel, Session]:
    """A scripted model for the surface, and a session with the policy of the example."""
    model = ScriptedModel(*TURNS[surface])
    session = session_of(model, tools, policy=trades_need_a_person, run_id=f"market-{surface}")
    return model, session


async def do_the_task(surface: str, tools: list[Tool]) -> tuple[list[Any], list[Any], Session]:
    """The run until it waits for a person, its end after they allowed it, and its session."""
    _, session = session_on(surface, tools)
    agent = analyst(tools, MODEL)
    first = await run(agent, TASK, session)
    waiting = await session.waiting()
    assert waiting is not None, f"{surface}: nobody was asked about the trade"
    await session.decide(waiting.step_id, ALLOW)
    return first, await run(agent, TASK, session), session


#: What a server would measure; a double measures nothing.
MEASURED = Usage(1_000, 50, 0, 400, 0)


def ledger_in(folder: Path) -> Path:
    """Where a run's orders are written."""
    return folder / "ledger.jsonl"
