"""Ways to act besides plain tools: command lines, skills, and code that calls tools."""

from synaptum.surfaces.code import CodeOnly, CodeTool, code_only, code_tool

__all__ = ["CodeOnly", "CodeTool", "code_only", "code_tool"]
