"""The market as a command line, made for programs that read it.

Each action has `--json`; `--help` shows examples; exit codes tell failures apart: 0 done,
2 usage, 3 unknown ticker, 4 a value out of range. `trade` does nothing without `--yes`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from market_analyst import market, tools  # noqa: E402
from synaptum import ToolResult  # noqa: E402

VERSION = "1.0"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="market",
        description=__doc__,
        epilog="example: market snapshot NVDA --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"market {VERSION}")
    actions = made.add_subparsers(dest="action", required=True)
    for name in ("snapshot", "financials", "competitors"):
        actions.add_parser(name).add_argument("ticker")
    history = actions.add_parser("history")
    history.add_argument("ticker")
    history.add_argument("--period", default="1mo")
    news = actions.add_parser("news")
    news.add_argument("query")
    news.add_argument("--max-results", type=int, default=5)
    trade = actions.add_parser("trade")
    trade.add_argument("side", choices=["buy", "sell"])
    trade.add_argument("quantity", type=int)
    trade.add_argument("ticker")
    trade.add_argument("--dry-run", action="store_true", help="check the order, place nothing")
    trade.add_argument("--yes", action="store_true", help="place the order")
    for action in actions.choices.values():
        action.add_argument("--json", action="store_true", help="one JSON value on stdout")
        action.add_argument("--quiet", action="store_true", help="the summary line alone")
    for name in ("snapshot", "news"):
        actions.choices[name].add_argument("--detailed", action="store_true")
    return made


def carry_out(options: argparse.Namespace) -> Any:
    """The value of an action; a `ToolResult` where the tool refused it."""
    form = "detailed" if getattr(options, "detailed", False) else "concise"
    if options.action == "snapshot":
        return tools.get_stock_snapshot(options.ticker, form)
    if options.action == "history":
        return tools.get_price_history(options.ticker, options.period)
    if options.action == "financials":
        return tools.get_financials(options.ticker)
    if options.action == "competitors":
        return tools.search_competitors(options.ticker)
    if options.action == "news":
        return tools.search_news(options.query, options.max_results, form)
    ticker, _ = market.company(options.ticker)
    order = {"ticker": ticker, "side": options.side, "quantity": options.quantity}
    if options.dry_run or not options.yes:
        return {**order, "summary": "nothing was placed; add --yes to place the order"}
    trading = tools.trading(Path(os.environ["MARKET_LEDGER"]))
    result: ToolResult = asyncio.run(trading.invoke("cli", order))
    return result if result.is_error else result.structured


def main() -> int:
    options = parser().parse_args()
    try:
        value = carry_out(options)
    except Exception as error:
        print(error, file=sys.stderr)
        return 3 if "no data on" in str(error) or "no ticker" in str(error) else 4
    if isinstance(value, ToolResult):
        print(value.text, file=sys.stderr)
        return 4
    if options.quiet:
        print(value.get("summary", ""))
    else:
        print(json.dumps(value) if options.json else json.dumps(value, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
