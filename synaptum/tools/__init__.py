"""Tools: functions a model may call, and what is done with what they give back."""

from synaptum.tools.base import Tool, check_tool_names, error_result
from synaptum.tools.function import FunctionTool, tool

__all__ = ["FunctionTool", "Tool", "check_tool_names", "error_result", "tool"]
