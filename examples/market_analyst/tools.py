"""The tools: five of reading and one of trading, each an action that a task needs.

What they give is short and ready to use: a `summary` line, key points, ranked results. Ids and
links, which only a later action needs, come with `response_format="detailed"`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from market_analyst import market
from synaptum import Risk, Tool, ToolExecutionError, tool

Ticker = Annotated[str, "Stock ticker, such as NVDA, BRK.B or BF-B; case and blanks do not matter"]
Period = Annotated[
    Literal["1d", "5d", "1mo", "3mo", "6mo", "1y"], "How far back: one of the listed periods"
]
Format = Annotated[
    Literal["concise", "detailed"],
    "concise (default) for reading; detailed adds ids, links and context for a later action",
]


@tool(
    idempotent=True,
    description=(
        "Gives price, day's change, volume, market value and P/E of one stock in one call."
        " Use it when the question is how a stock stands today; it needs a ticker, and the"
        " format is optional. Returns an object with a `summary` line for reports; pe_ratio is"
        " null where the company makes no profit, and an unknown ticker is an error that lists"
        " the known ones."
    ),
)
def get_stock_snapshot(ticker: Ticker, response_format: Format = "concise") -> dict[str, Any]:
    """How one stock stands today."""
    ticker, found = _company(ticker)
    price, change = found["price"], found["change_pct"]
    direction = "up" if change > 0 else "down" if change < 0 else "unchanged"
    moved = direction if change == 0 else f"{direction} {abs(change):.1f}%"
    snapshot = {
        "ticker": ticker,
        "price": price,
        "change_pct": round(change, 2),
        "volume": found["volume"],
        "market_cap_b": round(found["market_cap"] / 1e9, 1),
        "pe_ratio": found["pe"],
        "summary": f"{ticker} at ${price:.2f} ({moved})",
    }
    if response_format == "detailed":
        prices = market.closing_prices(ticker, "1y")
        snapshot |= {
            "instrument_id": found["id"],
            "exchange": found["exchange"],
            "name": found["name"],
            "sector": found["sector"],
            "currency": "USD",
            "year_low": min(prices),
            "year_high": max(prices),
            "as_of": market.as_of(),
        }
    return snapshot


@tool(
    idempotent=True,
    description=(
        "Gives the closing prices of one stock over a period, with its change, low and high."
        " Use it when the question is about a trend; for today alone use get_stock_snapshot."
        " The ticker is required and the period optional. Returns at most 20 closes, evenly"
        " spaced and the oldest first, so a long period is thinned out."
    ),
)
def get_price_history(ticker: Ticker, period: Period = "1mo") -> dict[str, Any]:
    """Closing prices over a period."""
    ticker, _ = _company(ticker)
    prices = market.closing_prices(ticker, period)
    step = -(-len(prices) // 20)
    change = 100 * (prices[-1] / prices[0] - 1)
    return {
        "ticker": ticker,
        "period": period,
        "closes": prices[::-1][::step][::-1],
        "change_pct": round(change, 2),
        "low": min(prices),
        "high": max(prices),
        "summary": f"{ticker} moved {change:+.1f}% over {period}",
    }


@tool(
    idempotent=True,
    description=(
        "Gives revenue and net income of one company for the last four quarters, in billions."
        " Use it when the question is how the business does rather than its share. It needs a"
        " ticker. Returns the quarters from oldest to newest with the margin of the last one; a"
        " loss is a negative number, and an unknown ticker an error."
    ),
)
def get_financials(ticker: Ticker) -> dict[str, Any]:
    """The last four quarters."""
    ticker, found = _company(ticker)
    revenue, income = found["revenue"], found["net_income"]
    margin = round(100 * income[-1] / revenue[-1], 1)
    return {
        "ticker": ticker,
        "revenue_b": revenue,
        "net_income_b": income,
        "net_margin_pct": margin,
        "summary": f"{ticker}: revenue ${revenue[-1]}B, net margin {margin}% last quarter",
    }


@tool(
    idempotent=True,
    description=(
        "Searches recent news about a stock or a company, the most relevant first. Use it when"
        " the question is why a stock moved, or about events; for competitors use"
        " search_competitors. The query is required; the number of results (1 to 10, default 5)"
        " and the format are optional. Returns headline, source, date, relevance and key points"
        " of each, and an empty list where nothing fits."
    ),
    input_examples=[{"query": "NVDA export rule"}, {"query": "Broadcom", "max_results": 2}],
)
def search_news(
    query: Annotated[str, "Words to look for, such as 'NVDA earnings' or 'Intel plant'"],
    max_results: Annotated[int, "Most results to give, 1 to 10"] = 5,
    response_format: Format = "concise",
) -> dict[str, Any]:
    """News, ranked."""
    if not 1 <= max_results <= 10:
        raise ToolExecutionError(f"max_results is {max_results}; it goes from 1 to 10")
    found = market.news(query)[:max_results]
    results = []
    for relevance, item in found:
        result = {
            "headline": item["headline"],
            "source": item["source"],
            "date": item["date"],
            "relevance_score": relevance,
            "key_points": [point.strip() for point in item["text"].split(". ")][:2],
        }
        if response_format == "detailed":
            result |= {"news_id": item["id"], "url": item["url"], "tickers": item["tickers"]}
            result["text"] = item["text"]
        results.append(result)
    top = f"; first: {results[0]['headline']}" if results else ""
    return {
        "query": query,
        "results": results,
        "summary": f"{len(results)} news for {query!r}{top}",
    }


@tool(
    idempotent=True,
    description=(
        "Lists the competitors of one company with their market value and P/E, the largest"
        " first. Use it when the question compares a company with others; one call is enough to"
        " choose among them. It needs a ticker. Returns an empty list where none are known, and"
        " pe_ratio null where a competitor makes no profit."
    ),
)
def search_competitors(ticker: Ticker) -> dict[str, Any]:
    """Competitors, the largest first."""
    ticker, found = _company(ticker)
    rows = []
    for other in found["competitors"]:
        _, data = market.company(other)
        rows.append(
            {
                "ticker": other,
                "name": data["name"],
                "market_cap_b": round(data["market_cap"] / 1e9, 1),
                "pe_ratio": data["pe"],
            }
        )
    rows.sort(key=lambda row: -row["market_cap_b"])
    names = ", ".join(row["ticker"] for row in rows) or "none"
    return {"ticker": ticker, "competitors": rows, "summary": f"{ticker} competes with {names}"}


def trading(ledger: Path) -> Tool:
    """`execute_trade` over a ledger; DESTRUCTIVE, so that a policy stops it for a person."""
    book = market.Ledger(ledger)

    @tool(
        risk=Risk.DESTRUCTIVE,
        description=(
            "Places a market order, which cannot be taken back. Use it only when the user asked"
            " for this very trade; a person is asked before it runs. Ticker, side and a whole"
            " number of shares from 1 to 1000 are required. Returns the order as it was placed,"
            " with its price."
        ),
    )
    def execute_trade(
        ticker: Ticker,
        side: Annotated[Literal["buy", "sell"], "buy or sell"],
        quantity: Annotated[int, "Shares, 1 to 1000"],
    ) -> dict[str, Any]:
        """Place an order."""
        if not 1 <= quantity <= 1000:
            raise ToolExecutionError(f"quantity is {quantity}; it goes from 1 to 1000")
        _company(ticker)
        return book.place(ticker, side, quantity)

    return execute_trade


def market_tools(ledger: Path) -> list[Tool]:
    """The consolidated set, in the order in which it is offered."""
    return [
        get_stock_snapshot,
        get_price_history,
        get_financials,
        search_news,
        search_competitors,
        trading(ledger),
    ]


def _company(ticker: str) -> tuple[str, dict[str, Any]]:
    try:
        return market.company(ticker)
    except market.MarketError as error:
        raise ToolExecutionError(str(error)) from None
