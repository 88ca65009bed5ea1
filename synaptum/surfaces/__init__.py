"""Ways to act besides plain tools: command lines, skills, and code that calls tools.

`surface_report` compares the same task on several of them.
"""

from synaptum.surfaces.code import CodeOnly, CodeTool, code_only, code_tool
from synaptum.surfaces.command import ExitCode, command_tool
from synaptum.surfaces.measure import Measures, SurfaceRun
from synaptum.surfaces.report import SurfaceReport, SurfaceRow, surface_report
from synaptum.surfaces.skills import Skill, Skills

__all__ = [
    "CodeOnly",
    "CodeTool",
    "ExitCode",
    "Measures",
    "Skill",
    "Skills",
    "SurfaceReport",
    "SurfaceRow",
    "SurfaceRun",
    "code_only",
    "code_tool",
    "command_tool",
    "surface_report",
]
