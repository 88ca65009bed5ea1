"""The set before consolidation, kept for comparison: what `lint_tools` has much to say about.

Price and metrics are two calls of one question, and the two searches overlap.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from market_analyst import market
from market_analyst.tools import trading
from synaptum import Tool, ToolExecutionError, tool


def _company(ticker: str) -> dict[str, Any]:
    try:
        return market.company(ticker)[1]
    except market.MarketError as error:
        raise ToolExecutionError(str(error)) from None


@tool(idempotent=True)
def get_stock_price(ticker: str) -> float:
    """Get the stock price."""
    return float(_company(ticker)["price"])


@tool(idempotent=True)
def get_company_metrics(ticker: str) -> dict[str, Any]:
    """Get company metrics."""
    return _company(ticker)


@tool(idempotent=True)
def get_price_history(
    ticker: str, period: Literal["1d", "5d", "1mo", "3mo", "6mo", "1y"] = "1mo"
) -> list[float]:
    """Get the price history."""
    _company(ticker)
    return market.closing_prices(ticker, period)


@tool(idempotent=True)
def search_news(query: str) -> list[dict[str, Any]]:
    """Search for news."""
    return [item for _, item in market.news(query)]


@tool(idempotent=True)
def search_competitors(query: str) -> list[str]:
    """Search for competitors."""
    return list(_company(query)["competitors"])


def unconsolidated_tools(ledger: Path) -> list[Tool]:
    """The set, in the order in which it was offered."""
    return [
        get_stock_price,
        get_company_metrics,
        get_price_history,
        search_news,
        search_competitors,
        trading(ledger),
    ]
