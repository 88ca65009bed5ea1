"""One tool of an MCP server, as the agent and the gateway see it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from synaptum.errors import ConfigurationError, InvalidToolCallError, ToolExecutionError
from synaptum.mcp.answers import result_of
from synaptum.schema.problems import MismatchError
from synaptum.schema.validate import check_schema, validate
from synaptum.tools.base import DefinedTool, misfit, settle_failure
from synaptum.vocabulary import ToolDefinition, ToolResult
from synaptum.wording import current_wording

__all__ = ["Call", "MCPTool"]

#: Asks the server to run a tool, by its own name; raises `ToolExecutionError` where it fails.
Call = Callable[[str, Mapping[str, Any]], Awaitable[Any]]


class MCPTool(DefinedTool):
    """One tool of a server; keeps the contract of `synaptum.tools.Tool`.

    Args:
        call: asks the server.
        remote_name: what the server calls it.
        definition: what the model and the policy see, prefix included.
    """

    def __init__(self, call: Call, remote_name: str, definition: ToolDefinition) -> None:
        self._call = call
        self._remote_name = remote_name
        self._definition = definition
        try:
            check_schema(definition.parameters, definition.name)
            self._checked = True
        except ConfigurationError:  # beyond our validator: the server checks its own schema
            self._checked = False

    def __repr__(self) -> str:
        return f"<MCP tool {self.name!r} {self._definition.risk.name}>"

    async def invoke(self, call_id: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Check the arguments against the server's schema, call it, give back what it said.

        Raises:
            InvalidToolCallError: the arguments do not fit the schema; nothing was sent.
            ToolExecutionError: no answer in time, and the tool says it is idempotent.
        """
        if self._checked:
            try:
                validate(self._definition.parameters, arguments)
            except MismatchError as error:
                raise InvalidToolCallError(misfit(self.name, error)) from None
        try:
            # The SDK's writer would fail on it, and the whole connection with the writer.
            json.dumps(dict(arguments), ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            unsendable = ToolExecutionError(current_wording().mcp_unsendable)
            return settle_failure(call_id, self._definition, unsendable)
        try:
            answer = await self._call(self._remote_name, arguments)
        except ToolExecutionError as error:
            return settle_failure(call_id, self._definition, error)
        return result_of(call_id, self._definition, answer)
