"""A server's words as ours: hints as risk, an answer as a `ToolResult`."""

from __future__ import annotations

from typing import Any

from synaptum import canonical
from synaptum.errors import EncodingError, ToolExecutionError
from synaptum.tools.base import settle_failure, unwritable
from synaptum.vocabulary import (
    Audio,
    Document,
    Image,
    ResultPart,
    Risk,
    Text,
    ToolDefinition,
    ToolResult,
)
from synaptum.wording import current_wording

__all__ = ["result_of", "risk_of"]


def risk_of(hints: Any) -> Risk:
    """What hints, or their absence, come to.

    Source: the defaults of MCP's ToolAnnotations; readOnlyHint false, destructiveHint true.
    """
    if hints is not None and hints.read_only_hint is True:
        return Risk.READ
    if hints is not None and hints.destructive_hint is False:
        return Risk.SOFT_WRITE
    return Risk.DESTRUCTIVE


def result_of(call_id: str, definition: ToolDefinition, answer: Any) -> ToolResult:
    """What a server answered to a call, every block of it kept in order."""
    wording = current_wording()
    if not hasattr(answer, "content"):  # an InputRequiredResult, or an extension's own
        return settle_failure(call_id, definition, ToolExecutionError(wording.mcp_wants_input))
    content = tuple(_part(block) for block in answer.content)
    structured = answer.structured_content
    if structured is not None:
        try:
            text = canonical.encode(structured)
        except EncodingError as error:
            problem = wording.mcp_unusable.format(detail=unwritable(error))
            return settle_failure(call_id, definition, ToolExecutionError(problem))
        content = content or (Text(text),)  # some servers answer in the structured field alone
    if answer.is_error and not content:
        return settle_failure(call_id, definition, ToolExecutionError(wording.mcp_no_detail))
    return ToolResult(call_id, content, bool(answer.is_error), structured=structured)


def _part(block: Any) -> ResultPart:
    """A content block as a part; what has no part of its own stands as a text that says so."""
    if block.type == "text":
        return Text(block.text)
    if block.type == "image":
        return Image(block.mime_type, data=block.data)
    if block.type == "audio":
        return Audio(block.mime_type, data=block.data)
    if block.type == "resource_link":
        return Text(f"[{block.name}: {block.uri}]")
    text = getattr(block.resource, "text", None)
    if text is not None:
        return Text(text)
    media_type = block.resource.mime_type or "application/octet-stream"
    return Document(media_type, data=block.resource.blob, name=str(block.resource.uri))
