"""The command line as typed tools, so that no shell stands between the model and the program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from market_analyst.tools import Format, Period, Ticker
from synaptum import Risk, Tool
from synaptum.surfaces import command_tool

_CLI = str(Path(__file__).with_name("cli.py"))
_CODES = {2: "wrong usage", 3: "unknown ticker: use one of those named", 4: "value out of range"}
_READS = {"risk": Risk.READ, "idempotent": True, "exit_codes": _CODES}


@command_tool(sys.executable, name="market_snapshot", **_READS)
def snapshot(ticker: Ticker, response_format: Format = "concise") -> list[str]:
    """Runs `market snapshot`: price, change, value and P/E of one stock today."""
    detailed = ["--detailed"] if response_format == "detailed" else []
    return [_CLI, "snapshot", "--json", *detailed, "--", ticker]


@command_tool(sys.executable, name="market_history", **_READS)
def history(ticker: Ticker, period: Period = "1mo") -> list[str]:
    """Runs `market history`: closing prices of one stock over a period."""
    return [_CLI, "history", "--json", "--period", period, "--", ticker]


@command_tool(sys.executable, name="market_financials", **_READS)
def financials(ticker: Ticker) -> list[str]:
    """Runs `market financials`: the last four quarters of one company."""
    return [_CLI, "financials", "--json", "--", ticker]


@command_tool(sys.executable, name="market_news", **_READS)
def news(
    query: Annotated[str, "Words to look for"],
    max_results: Annotated[int, "Most results, 1 to 10"] = 5,
) -> list[str]:
    """Runs `market news`: news that fit a query, ranked, with key points."""
    return [_CLI, "news", "--json", "--max-results", str(max_results), "--", query]


@command_tool(sys.executable, name="market_competitors", **_READS)
def competitors(ticker: Ticker) -> list[str]:
    """Runs `market competitors`: the competitors of one company with value and P/E."""
    return [_CLI, "competitors", "--json", "--", ticker]


@command_tool(
    sys.executable,
    name="market_trade",
    risk=Risk.DESTRUCTIVE,
    exit_codes=_CODES,
    environment=("PATH", "MARKET_LEDGER"),
)
def trade(
    ticker: Ticker,
    side: Annotated[Literal["buy", "sell"], "buy or sell"],
    quantity: Annotated[int, "Shares, 1 to 1000"],
) -> list[str]:
    """Runs `market trade --yes`: places a market order, which cannot be taken back."""
    return [_CLI, "trade", "--json", "--yes", "--", side, str(quantity), ticker]


def command_tools() -> list[Tool]:
    """The set; `trade` writes to the file that the variable MARKET_LEDGER names."""
    return [snapshot, history, financials, news, competitors, trade]
