"""Ways to act besides plain tools: command lines, skills, and code that calls tools."""

from synaptum.surfaces.code import CodeOnly, CodeTool, code_only, code_tool
from synaptum.surfaces.command import ExitCode, command_tool
from synaptum.surfaces.skills import Skill, Skills

__all__ = [
    "CodeOnly",
    "CodeTool",
    "ExitCode",
    "Skill",
    "Skills",
    "code_only",
    "code_tool",
    "command_tool",
]
