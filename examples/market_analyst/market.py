"""The market, offline: invented figures read from `data/market.json`, and a ledger of orders.

Every surface stands on this module, so that what differs between them is the surface.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).with_name("data") / "market.json"
PERIODS: Final = {"1d": 1, "5d": 5, "1mo": 21, "3mo": 63, "6mo": 126, "1y": 252}
#: Letters and digits, then at most one suffix behind a dot or a hyphen: BRK.B, BF-B.
_TICKER: Final = re.compile(r"[A-Z0-9]{1,6}(?:[.-][A-Z0-9]{1,2})?")


class MarketError(ValueError):
    """What was asked for cannot be had; the text says what to do instead."""


@cache
def _data() -> Any:
    return json.loads(DATA.read_text(encoding="utf-8"))


def as_of() -> str:
    """The day of all figures."""
    return str(_data()["as_of"])


def normalize_ticker(text: str) -> str:
    """The ticker trimmed and in capitals. Raises `MarketError` where it is none."""
    ticker = text.strip().upper()
    if not _TICKER.fullmatch(ticker):
        raise MarketError(
            f"{text!r} is no ticker: letters or digits, perhaps with a suffix, as NVDA or BRK.B"
        )
    return ticker


def company(ticker: str) -> tuple[str, dict[str, Any]]:
    """A company by its ticker. Raises `MarketError` where it is unknown."""
    ticker = normalize_ticker(ticker)
    known = _data()["companies"]
    if ticker not in known:
        raise MarketError(f"no data on {ticker}; there is data on {', '.join(sorted(known))}")
    return ticker, known[ticker]


def closing_prices(ticker: str, period: str) -> list[float]:
    """Closing prices, the oldest first: a walk that is made up and always the same."""
    ticker, found = company(ticker)
    if period not in PERIODS:
        raise MarketError(f"{period!r} is no period: use one of {', '.join(PERIODS)}")
    days = PERIODS[period]
    seed = sum(map(ord, ticker))
    steps = [((seed * (day + 7) * 37) % 41 - 20) / 1_000 for day in range(days)]
    prices = [float(found["price"])]
    for step in steps[: days - 1]:
        prices.append(prices[-1] * (1 - step))
    return [round(price, 2) for price in reversed(prices)]


def news(query: str) -> list[tuple[float, dict[str, Any]]]:
    """The news with their relevance to a query, 0.0 to 1.0, the best first."""
    words = {word for word in re.findall(r"\w+(?:[.-]\w+)?", query.casefold()) if len(word) > 1}
    scored = []
    for item in _data()["news"]:
        titles = {*map(str.casefold, item["tickers"]), *_words(item["headline"])}
        hits = sum(2 if word in titles else word in _words(item["text"]) for word in words)
        if hits:
            scored.append((round(min(1.0, hits / (2 * len(words))), 2), item))
    return sorted(scored, key=lambda pair: (-pair[0], [-ord(c) for c in pair[1]["date"]]))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


@dataclass(frozen=True)
class Ledger:
    """Orders that were placed, a JSON line each: the final state that a run is judged by."""

    path: Path

    def place(self, ticker: str, side: str, quantity: int) -> dict[str, Any]:
        """Place an order."""
        ticker, found = company(ticker)
        order = {"ticker": ticker, "side": side, "quantity": quantity, "price": found["price"]}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(order) + "\n")
        return order

    def orders(self) -> list[dict[str, Any]]:
        """All orders, the oldest first."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
