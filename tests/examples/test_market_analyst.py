"""The market analyst does the same task on each surface. Scripted: we wrote the model's turns.

The MCP surface is in tests/extras/mcp, which has the SDK.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from market_analyst import analyst, market, tools, unconsolidated
from support.agents import done, final_of
from support.market import do_the_task, ledger_in

from synaptum import Risk, ToolCall
from synaptum.gateway.base import CallContext
from synaptum.gateway.local import LocalGateway
from synaptum.surfaces import SurfaceRun, surface_report

SURFACES = ["json", "unconsolidated", "skills", "command", "code"]
CLI = Path(market.__file__).with_name("cli.py")


@pytest.mark.asyncio
@pytest.mark.parametrize("surface", SURFACES)
async def test_the_task_is_done_on_the_surface_and_the_trade_waits_for_a_person(
    surface, tmp_path, monkeypatch
):
    ledger = ledger_in(tmp_path)
    monkeypatch.setenv("MARKET_LEDGER", str(ledger))

    first, steps, _ = await do_the_task(surface, analyst.surface_tools(surface, ledger))

    waiting = first[-1]
    assert waiting.risk is Risk.DESTRUCTIVE
    assert waiting.call.arguments == {"ticker": "AVGO", "side": "buy", "quantity": 10}
    assert market.Ledger(ledger).orders() == analyst.EXPECTED
    assert final_of(steps).output.startswith("NVDA fell on a new export rule.")
    assert [s.result.text for s in done(steps, "tool") if s.result and s.result.is_error] == []


@pytest.mark.asyncio
async def test_nothing_is_traded_before_a_person_allowed_it(tmp_path):
    from support.market import session_on

    ledger = ledger_in(tmp_path)
    offered = analyst.surface_tools("code", ledger)
    _, session = session_on("code", offered)

    _ = [s async for s in analyst.analyst(offered, "m").run(analyst.TASK, session=session)]

    assert market.Ledger(ledger).orders() == []
    assert (await session.waiting()).call.name == "execute_trade"


@pytest.mark.asyncio
async def test_the_surfaces_are_compared_on_the_same_task(tmp_path, monkeypatch):
    runs = []
    for surface in SURFACES:
        ledger = ledger_in(tmp_path / surface)
        ledger.parent.mkdir()
        monkeypatch.setenv("MARKET_LEDGER", str(ledger))
        _, _, session = await do_the_task(surface, analyst.surface_tools(surface, ledger))
        runs.append(
            SurfaceRun(
                surface=surface,
                state=await session.state(),
                operations=analyst.OPERATIONS,
                server="scripted",
                right=analyst.is_right(ledger),
            )
        )

    report = surface_report(runs)
    table = report.table()

    by_name = {row.surface: row for row in report.rows}
    assert [row.right for row in report.rows] == [1] * 5
    assert "- server: scripted" in table
    assert "Why did NVDA move today?" in table
    assert all(row.mean(lambda m: m.escalations) == 1 for row in report.rows)
    assert by_name["code"].mean(lambda m: m.turns) == 2
    assert by_name["json"].mean(lambda m: m.turns) == 3
    assert by_name["unconsolidated"].mean(lambda m: m.turns) == 4
    # What the script read stayed out of the context.
    assert by_name["code"].mean(lambda m: m.execution) < 60
    assert by_name["json"].mean(lambda m: m.execution) > 200
    assert by_name["skills"].mean(lambda m: m.discovery) > 100
    assert by_name["json"].mean(lambda m: m.discovery) == 0
    assert by_name["json"].mean(lambda m: m.input) is None  # a double measures nothing
    assert report.svg().startswith("<svg ")


@pytest.mark.parametrize("form", [" nvda ", "NVDA", "Nvda\n"])
def test_a_ticker_is_trimmed_and_put_in_capitals(form):
    assert tools.get_stock_snapshot(form)["ticker"] == "NVDA"


@pytest.mark.parametrize("ticker", ["BRK.B", "BF-B", "brk.b", " bf-b"])
def test_tickers_with_a_suffix_are_accepted(ticker):
    assert tools.get_stock_snapshot(ticker)["ticker"] == ticker.strip().upper()


@pytest.mark.asyncio
@pytest.mark.parametrize("ticker", ["", "TOOLONGTICKER", "NV DA", "NVDA;", "../etc", "BRK..B"])
async def test_what_is_no_ticker_is_told_to_the_model(ticker):
    result = await tools.get_stock_snapshot.invoke("c", {"ticker": ticker})

    assert result.is_error
    assert "is no ticker" in result.text


@pytest.mark.asyncio
async def test_an_unknown_ticker_is_told_with_the_known_ones():
    result = await tools.get_financials.invoke("c", {"ticker": "ZZZ"})

    assert "no data on ZZZ; there is data on AMD, AVGO, BF-B, BRK.B, INTC, NVDA" in result.text


def test_a_snapshot_has_the_fields_a_report_needs_and_a_line_to_quote():
    assert tools.get_stock_snapshot("NVDA") == {
        "ticker": "NVDA",
        "price": 118.4,
        "change_pct": -3.42,
        "volume": 41200300,
        "market_cap_b": 2894.0,
        "pe_ratio": 41.2,
        "summary": "NVDA at $118.40 (down 3.4%)",
    }
    assert tools.get_stock_snapshot("AMD")["summary"] == "AMD at $96.20 (up 1.1%)"
    assert tools.get_stock_snapshot("INTC")["summary"] == "INTC at $21.70 (unchanged)"
    assert tools.get_stock_snapshot("INTC")["pe_ratio"] is None


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("made", "arguments", "ids"),
    [
        (tools.get_stock_snapshot, {"ticker": "NVDA"}, "7d1f0c52"),
        (tools.search_news, {"query": "NVDA"}, "news-8f2"),
    ],
)
async def test_ids_stand_in_the_detailed_form_alone_and_it_costs_more(made, arguments, ids):
    concise = (await made.invoke("c", arguments)).text
    detailed = (await made.invoke("c", arguments | {"response_format": "detailed"})).text

    assert ids not in concise
    assert ids in detailed
    assert 1.5 < len(detailed) / len(concise) < 4


@pytest.mark.parametrize(
    ("period", "closes"), [("1d", 1), ("5d", 5), ("1mo", 11), ("3mo", 16), ("6mo", 18), ("1y", 20)]
)
def test_a_history_ends_today_and_stays_short(period, closes):
    history = tools.get_price_history("NVDA", period)

    assert len(history["closes"]) == closes
    assert history["closes"][-1] == 118.4
    assert history["low"] <= 118.4 <= history["high"]


@pytest.mark.parametrize("period", ["2d", "1mo", "max"])
def test_the_schema_names_the_periods(period):
    allowed = tools.get_price_history.definition.parameters["properties"]["period"]["enum"]

    assert allowed == ["1d", "5d", "1mo", "3mo", "6mo", "1y"]
    assert (period in allowed) == (period == "1mo")


def test_news_are_ranked_with_key_points_and_five_by_default():
    found = tools.search_news("NVDA export rule")
    scores = [item["relevance_score"] for item in found["results"]]

    assert found["results"][0]["headline"].startswith("New export rule")
    assert scores == sorted(scores, reverse=True)
    assert found["results"][0]["key_points"][0].startswith("A rule published this morning")
    parameters = tools.search_news.definition.parameters["properties"]
    assert parameters["max_results"]["default"] == 5
    assert tools.search_news("weather")["results"] == []


@pytest.mark.asyncio
@pytest.mark.parametrize(("count", "refused"), [(0, True), (1, False), (10, False), (11, True)])
async def test_news_come_one_to_ten_at_a_time(count, refused):
    result = await tools.search_news.invoke("c", {"query": "NVDA", "max_results": count})

    assert result.is_error == refused
    assert refused or len(result.structured["results"]) <= count


def test_competitors_are_ranked_with_what_a_choice_needs():
    found = tools.search_competitors("NVDA")["competitors"]

    assert [row["ticker"] for row in found] == ["AVGO", "AMD", "INTC"]
    assert found[0] == {
        "ticker": "AVGO",
        "name": "Broadcom",
        "market_cap_b": 808.1,
        "pe_ratio": 27.5,
    }


@pytest.mark.asyncio
@pytest.mark.parametrize("quantity", [0, -5, 1001])
async def test_an_order_out_of_range_is_refused_and_nothing_placed(quantity, tmp_path):
    trade = tools.trading(ledger_in(tmp_path))

    result = await trade.invoke("c", {"ticker": "AMD", "side": "buy", "quantity": quantity})

    assert result.is_error
    assert market.Ledger(ledger_in(tmp_path)).orders() == []


def test_consolidation_makes_one_call_of_two(tmp_path):
    before = [t.name for t in unconsolidated.unconsolidated_tools(tmp_path)]
    after = [t.name for t in tools.market_tools(tmp_path)]

    assert {"get_stock_price", "get_company_metrics"} <= set(before)
    assert after == [
        "get_stock_snapshot",
        "get_price_history",
        "get_financials",
        "search_news",
        "search_competitors",
        "execute_trade",
    ]


@pytest.mark.asyncio
async def test_the_trade_is_denied_where_the_policy_has_no_person(tmp_path):
    offered = tools.market_tools(ledger_in(tmp_path))
    gateway = LocalGateway(tools=offered, policy=analyst.trades_need_a_person)
    call = ToolCall("c", "execute_trade", {"ticker": "AMD", "side": "buy", "quantity": 1})

    with pytest.raises(Exception, match="A person approves every trade"):
        await gateway.invoke_tool(call, CallContext("r", "s"))


def market_cli(*arguments, **environment):
    return subprocess.run(
        [sys.executable, str(CLI), *arguments],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", **environment},
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["snapshot", "NVDA", "--json"], 0),
        (["snapshot", "ZZZ"], 3),
        (["snapshot", "no ticker!"], 3),
        (["news", "NVDA", "--max-results", "99"], 4),
        (["fly"], 2),
        (["--version"], 0),
        (["trade", "buy", "5", "AMD"], 0),
    ],
)
def test_the_command_line_tells_failures_apart_by_exit_code(arguments, code):
    assert market_cli(*arguments).returncode == code


def test_the_command_line_speaks_json_quiet_and_help_with_an_example():
    snapshot = json.loads(market_cli("snapshot", "nvda", "--json").stdout)

    assert snapshot["summary"] == "NVDA at $118.40 (down 3.4%)"
    assert market_cli("snapshot", "nvda", "--quiet").stdout == "NVDA at $118.40 (down 3.4%)\n"
    assert "example: market snapshot NVDA --json" in market_cli("--help").stdout


def test_the_command_line_places_nothing_without_yes(tmp_path):
    ledger = ledger_in(tmp_path)

    asked = market_cli("trade", "buy", "5", "AMD", "--json", MARKET_LEDGER=str(ledger))
    dry = market_cli("trade", "buy", "5", "AMD", "--yes", "--dry-run", MARKET_LEDGER=str(ledger))
    before = market.Ledger(ledger).orders()
    market_cli("trade", "buy", "5", "AMD", "--yes", MARKET_LEDGER=str(ledger))

    assert (asked.returncode, dry.returncode, before) == (0, 0, [])
    assert [order["quantity"] for order in market.Ledger(ledger).orders()] == [5]


def test_the_data_says_that_it_is_invented():
    assert "Invented figures" in json.loads(market.DATA.read_text(encoding="utf-8"))["about"]
