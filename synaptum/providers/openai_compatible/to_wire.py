"""A `Request` as the dialect's JSON body. Pure: same request and profile, same body.

Contract, in the order of the rules it keeps:
1. an assistant turn with neither text nor calls (it only reasoned) is not sent;
2. a turn that said the empty string travels as `content: ""`;
3. calls without text travel with `content: null`, or what the profile wants instead;
4. reasoning goes back only where the profile says so, and only on turns that travel anyway;
5. what the dialect or the profile has no shape for raises `UnsupportedRequestError`;
6. nothing that is not set is sent, and mappings whose order the journal does not keep
   (provider options, fields echoed on a call) are sorted.

It does not check that calls and results pair up: whoever keeps the conversation does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from synaptum import canonical
from synaptum.errors import ConfigurationError, UnsupportedRequestError
from synaptum.providers.openai_compatible.call_ids import CallIds
from synaptum.providers.openai_compatible.parts import content_of, text_of
from synaptum.providers.openai_compatible.profile import Profile
from synaptum.vocabulary import (
    Message,
    Request,
    ResponseFormat,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolResult,
)

__all__ = ["streamed", "to_wire"]

#: Body fields that a `Request` has a name for, and the two that say how the answer comes.
_NAMED: Final = {
    "model": "Request.model",
    "messages": "Request.messages",
    "tools": "Request.tools",
    "tool_choice": "Request.tool_choice",
    "response_format": "Request.response_format",
    "max_tokens": "Request.max_output_tokens",
    "max_completion_tokens": "Request.max_output_tokens",
    "temperature": "Request.temperature",
    "top_p": "Request.top_p",
    "stop": "Request.stop",
    "stream": "the choice between complete and stream",
    "stream_options": "the profile's stream_usage",
}

#: API reference, "response_format.json_schema.name".
_SCHEMA_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def to_wire(request: Request, profile: Profile) -> dict[str, Any]:
    """The body of `request`, in the order it travels.

    Raises:
        UnsupportedRequestError: the dialect or the profile has no shape for something.
        ConfigurationError: a provider option would replace a field that has a name of ours,
            a tool stands twice, or the named tool is not offered.
    """
    body: dict[str, Any] = {"model": request.model, "messages": _messages(request, profile)}
    if request.tools:
        body["tools"] = _tools(request.tools, profile)
        if request.tool_choice is not None:
            body["tool_choice"] = _tool_choice(request.tool_choice, request.tools, profile)
    if request.response_format is not None:
        body["response_format"] = _response_format(request.response_format, profile)
    if request.max_output_tokens is not None:
        body[profile.max_tokens_field] = request.max_output_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.stop:
        body["stop"] = list(request.stop)
    for name in sorted(request.provider_options):
        if name in _NAMED:
            msg = (
                f"provider_options may not set {name!r}: it has a place of its own,"
                f" {_NAMED[name]}. Set it there."
            )
            raise ConfigurationError(msg)
        if name == "parallel_tool_calls" and not request.tools:
            continue  # refused without tools by OpenAI (public reports), and says nothing then
        body[name] = canonical.in_key_order(request.provider_options[name])
    return body


def streamed(body: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """The same body asking for a stream, and for usage in it where the profile says so."""
    result = {**body, "stream": True}
    if profile.stream_usage:
        result["stream_options"] = {"include_usage": True}
    return result


def _messages(request: Request, profile: Profile) -> list[dict[str, Any]]:
    wire: list[dict[str, Any]] = []
    ids = CallIds(profile.call_id_pattern)
    system = request.system
    leading = 0
    if profile.developer == "leading":
        system, leading = _with_leading_developer(system, request.messages)
    if system is not None:
        wire.append({"role": profile.system_role, "content": system})
    for position, message in enumerate(request.messages[leading:], leading):
        if message.role is Role.ASSISTANT:
            turn = _assistant(message, position, profile, ids)
            if turn is not None:
                wire.append(turn)
        elif message.role is Role.TOOL:
            wire.extend(_results(message, position, profile, ids))
        elif message.role is Role.DEVELOPER:
            if profile.developer == "leading":
                _refuse(
                    f"The developer turn at messages[{position}]",
                    f"profile {profile.name!r} takes them only before every other turn",
                )
            where = f"messages[{position}]"
            wire.append({"role": profile.developer, "content": text_of(message.content, where)})
        else:
            content = content_of(message.content, f"messages[{position}]", profile.media)
            if profile.merge_user_turns and wire and wire[-1]["role"] == "user":
                wire[-1]["content"] = _joined(wire[-1]["content"], content)
            else:
                wire.append({"role": "user", "content": content})
    if not wire:
        msg = "The request has nothing to send: no system prompt and no message that travels."
        raise UnsupportedRequestError(msg)
    return wire


def _with_leading_developer(
    system: str | None, messages: Sequence[Message]
) -> tuple[str | None, int]:
    """The system prompt with the developer turns that lead, and how many those are."""
    leading = 0
    texts = [] if system is None else [system]
    for message in messages:
        if message.role is not Role.DEVELOPER:
            break
        texts.append(text_of(message.content, f"messages[{leading}]"))
        leading += 1
    return ("\n\n".join(texts) if texts else None), leading


def _joined(left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        return f"{left}\n\n{right}"
    parts: list[Any] = []
    for content in (left, right):
        parts.extend([{"type": "text", "text": content}] if isinstance(content, str) else content)
    return parts


def _assistant(
    message: Message, position: int, profile: Profile, ids: CallIds
) -> dict[str, Any] | None:
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    thoughts: list[str] = []
    for part in message.content:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, ToolCall):
            calls.append(_call(part, profile, ids))
        elif isinstance(part, Thinking):
            thoughts.append(part.text)
        elif part.kind != "redacted_thinking":
            _refuse(f"The {part.kind} part at messages[{position}]", "an assistant turn holds none")
    if not calls and (not texts or (not profile.empty_turn and not any(texts))):
        return None
    turn: dict[str, Any] = {"role": "assistant"}
    turn["content"] = "".join(texts) if texts else profile.call_turn_content
    if profile.reasoning_field is not None and thoughts:
        turn[profile.reasoning_field] = "".join(thoughts)
    if calls:
        turn["tool_calls"] = calls
    return turn


def _call(call: ToolCall, profile: Profile, ids: CallIds) -> dict[str, Any]:
    if call.unreadable_arguments is not None:
        arguments = "{}"
    elif call.arguments_text is not None and call.arguments_text.strip() not in ("", "null"):
        arguments = call.arguments_text
    else:
        arguments = canonical.encode(call.arguments)
    wire: dict[str, Any] = {
        "id": ids.wire(call.id),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
    for name in profile.call_fields:
        if name in call.provider_metadata:
            wire[name] = canonical.in_key_order(call.provider_metadata[name])
    return wire


def _results(
    message: Message, position: int, profile: Profile, ids: CallIds
) -> list[dict[str, Any]]:
    wire: list[dict[str, Any]] = []
    media = profile.media if profile.tool_result_media else frozenset()
    for number, part in enumerate(message.content):
        where = f"messages[{position}].content[{number}]"
        if not isinstance(part, ToolResult):
            _refuse(f"The {part.kind} part at {where}", "a tool turn holds results only")
        content = content_of(
            part.content,
            f"the result at {where}",
            media,
            empty="",
            instead=" Let the tool answer in text, or choose a profile that takes it.",
        )
        wire.append({"role": "tool", "tool_call_id": ids.wire(part.call_id), "content": content})
    return wire


def _tools(tools: Sequence[ToolDefinition], profile: Profile) -> list[dict[str, Any]]:
    pattern = re.compile(profile.tool_name_pattern)
    wire: list[dict[str, Any]] = []
    seen: set[str] = set()
    for tool in tools:
        if not pattern.fullmatch(tool.name):
            _refuse(
                f"The tool name {tool.name!r}",
                f"profile {profile.name!r} takes names like {profile.tool_name_pattern}",
            )
        if tool.name in seen:
            msg = f"Two tools are called {tool.name!r}; rename one, or give its source a prefix."
            raise ConfigurationError(msg)
        seen.add(tool.name)
        function: dict[str, Any] = {"name": tool.name}
        if tool.description:
            function["description"] = tool.description
        function["parameters"] = tool.parameters
        wire.append({"type": "function", "function": function})
    return wire


def _tool_choice(choice: ToolChoice, tools: Sequence[ToolDefinition], profile: Profile) -> Any:
    if choice.mode != "named":
        return choice.mode
    if all(tool.name != choice.name for tool in tools):
        offered = ", ".join(tool.name for tool in tools)
        msg = (
            f"ToolChoice names the tool {choice.name!r}, which is not offered; there are {offered}."
        )
        raise ConfigurationError(msg)
    if not profile.named_tool_choice:
        if len(tools) == 1:
            return "required"
        _refuse(
            f"The tool choice {choice.name!r}",
            f"profile {profile.name!r} cannot ask for one of several tools by name",
        )
    return {"type": "function", "function": {"name": choice.name}}


def _response_format(wanted: ResponseFormat, profile: Profile) -> dict[str, Any]:
    if wanted.kind != "json_schema":
        return {"type": wanted.kind}
    if profile.json_schema == "json_object":
        return {"type": "json_object"}
    name = wanted.name or "response"
    if not _SCHEMA_NAME.fullmatch(name):
        _refuse(
            f"The response format's name {name!r}",
            f"the dialect takes names like {_SCHEMA_NAME.pattern}",
        )
    inner: dict[str, Any] = {"name": name, "schema": wanted.schema}
    if wanted.strict is not None:
        inner["strict"] = wanted.strict
    return {"type": "json_schema", "json_schema": inner}


def _refuse(what: str, why: str) -> NoReturn:
    msg = f"{what} cannot be sent: {why}. Nothing was sent."
    raise UnsupportedRequestError(msg)
