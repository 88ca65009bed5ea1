"""Tools: functions a model may call, and what is done with what they give back."""

from synaptum.tools.base import (
    ResolvesCalls,
    Tool,
    check_tool_names,
    error_result,
    invalid_call_result,
)
from synaptum.tools.deferred import deferred, merece_la_pena, select_tools, worth_deferring
from synaptum.tools.function import FunctionTool, tool
from synaptum.tools.result_cap import MIN_TOOL_CHARS, cap_tool_output

__all__ = [
    "MIN_TOOL_CHARS",
    "FunctionTool",
    "ResolvesCalls",
    "Tool",
    "cap_tool_output",
    "check_tool_names",
    "deferred",
    "error_result",
    "invalid_call_result",
    "merece_la_pena",
    "select_tools",
    "tool",
    "worth_deferring",
]
