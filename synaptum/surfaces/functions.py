"""Tools as Python functions: their names in a script, and the line that tells how to call one."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping
from typing import Any

from synaptum import canonical
from synaptum.errors import ConfigurationError
from synaptum.tools.base import MakesCalls, Tool
from synaptum.vocabulary import ToolDefinition

__all__ = ["python_names", "signature_line"]


def python_names(tools: Iterable[Tool]) -> dict[str, Tool]:
    """The tools by the names that scripts call them by.

    Raises:
        ConfigurationError: two would have one name, or one runs scripts itself.
    """
    names: dict[str, Tool] = {}
    for tool in tools:
        if isinstance(tool, MakesCalls):
            msg = f"{tool.name!r} runs scripts itself; a script cannot run another."
            raise ConfigurationError(msg)
        name = re.sub(r"\W", "_", tool.name)
        name = f"_{name}" if name[:1].isdigit() or keyword.iskeyword(name) else name
        if name in names or name == "ToolError":
            msg = (
                f"Two functions of scripts would be called {name!r} ({tool.name!r} is one): rename"
                " one, or give one MCP server a prefix=."
            )
            raise ConfigurationError(msg)
        names[name] = tool
    return names


def signature_line(python: str, definition: ToolDefinition) -> str:
    """Such as `- add(a: integer, b: integer = 1): Add two numbers.`."""
    properties: Mapping[str, Any] = definition.parameters.get("properties", {})
    required = definition.parameters.get("required", ())
    shown = ", ".join(
        f"{name}: {_type(schema)}{'' if name in required else _default(schema)}"
        for name, schema in properties.items()
    )
    text = " ".join(definition.description.split())
    return f"- {python}({shown}): {text}" if text else f"- {python}({shown})"


def _type(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if isinstance(schema.get("enum"), list):
        return " | ".join(canonical.wire_text(value) for value in schema["enum"])
    words = schema.get("type", "any")
    return words if isinstance(words, str) else " | ".join(words)


def _default(schema: Any) -> str:
    if isinstance(schema, Mapping) and "default" in schema:
        return f" = {canonical.wire_text(schema['default'])}"
    return " (optional)"
