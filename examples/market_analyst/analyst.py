"""The agent on each surface, and the task it is given."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from market_analyst import market
from market_analyst.commands import command_tools
from market_analyst.tools import market_tools
from market_analyst.unconsolidated import unconsolidated_tools
from synaptum import Agent, Check, Decision, Disposition, Risk, Tool
from synaptum.mcp import MCPTools
from synaptum.surfaces import Skills, code_tool

TASK: Final = (
    "Why did NVDA move today? Then buy 10 shares of its cheapest competitor by P/E and tell me"
    " what you bought."
)
#: What the task may do on any surface: the same for all, or they could not be compared.
OPERATIONS: Final = frozenset({"read market data", "read news", "place one order"})
#: What the ledger must hold in the end.
EXPECTED: Final = [{"ticker": "AVGO", "side": "buy", "quantity": 10, "price": 171.9}]
INSTRUCTIONS: Final = "You are a market analyst. Use the tools; never invent a figure."

SKILLS: Final = Path(__file__).with_name("skills")
SERVER: Final = Path(__file__).with_name("mcp_server.py")


def surface_tools(surface: str, ledger: Path) -> list[Tool]:
    """The tools of a surface that needs no connection.

    `json`, `unconsolidated`, `skills` (instructions besides the JSON tools), `command` (which
    reads the ledger's path from MARKET_LEDGER) and `code`.
    """
    if surface == "json":
        return market_tools(ledger)
    if surface == "unconsolidated":
        return unconsolidated_tools(ledger)
    if surface == "skills":
        return [*Skills(SKILLS).tools, *market_tools(ledger)]
    if surface == "command":
        return command_tools()
    if surface == "code":
        return [code_tool(market_tools(ledger))]
    raise ValueError(f"no surface {surface!r}")


def sidecar(ledger: Path) -> MCPTools:
    """The MCP surface: a server process of its own, for the length of an `async with`."""
    return MCPTools.stdio(sys.executable, str(SERVER), str(ledger))


def analyst(tools: Sequence[Tool], model: str) -> Agent:
    """The agent; it is the same on every surface but for its tools."""
    return Agent("market-analyst", model=model, instructions=INSTRUCTIONS, tools=tools)


def trades_need_a_person(check: Check) -> Decision:
    """The policy: what cannot be taken back waits for a person, who sees ticker and quantity.

    A script is not asked about, though it can reach the trade: the trade itself is.
    """
    reaches_only = check.name == "run_python"
    if check.risk is Risk.DESTRUCTIVE and not reaches_only:
        return Decision(Disposition.REQUIRE_APPROVAL, "trade", "A person approves every trade.")
    return Decision(Disposition.ALLOW)


def is_right(ledger: Path) -> bool:
    """Whether a run left the state that the task asks for."""
    return market.Ledger(ledger).orders() == EXPECTED
