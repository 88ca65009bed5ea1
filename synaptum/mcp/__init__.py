"""Tools of MCP servers, on the official `mcp` SDK (extra `pytest-synaptum[mcp]`)."""

from synaptum.mcp.servers import MCPTools
from synaptum.mcp.tool import MCPTool

__all__ = ["MCPTool", "MCPTools"]
