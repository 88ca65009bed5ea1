"""The tools as an MCP server over stdio, on the official SDK: `python mcp_server.py LEDGER`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

import mcp.types as types  # noqa: E402
from mcp.server.lowlevel import Server  # noqa: E402
from mcp.server.stdio import stdio_server  # noqa: E402

from market_analyst.tools import market_tools  # noqa: E402
from synaptum import Risk, ToolExecutionError  # noqa: E402

TOOLS = {tool.name: tool for tool in market_tools(Path(sys.argv[1]))}


async def list_tools(context: Any, parameters: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=tool.name,
                description=tool.definition.description,
                input_schema=dict(tool.definition.parameters),
                annotations=types.ToolAnnotations(
                    read_only_hint=tool.definition.risk is Risk.READ,
                    destructive_hint=tool.definition.risk is Risk.DESTRUCTIVE,
                    idempotent_hint=tool.definition.idempotent,
                ),
            )
            for tool in TOOLS.values()
        ]
    )


async def call_tool(context: Any, parameters: Any) -> types.CallToolResult:
    try:
        result = await TOOLS[parameters.name].invoke("mcp", parameters.arguments or {})
    except ToolExecutionError as error:
        return _answer(str(error), is_error=True)
    if result.is_error:
        return _answer(result.text, is_error=True)
    return types.CallToolResult(
        content=[types.TextContent(text=result.text)], structured_content=result.structured
    )


def _answer(text: str, *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)


async def main() -> None:
    server = Server("market", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
