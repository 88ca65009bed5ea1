"""Tools of MCP servers, on the official `mcp` SDK (extra `pytest-synaptum[mcp]`)."""

from synaptum.mcp.servers import MCPTool, MCPTools

__all__ = ["MCPTool", "MCPTools"]
