"""What one server wants of the dialect: named, dated, frozen values.

`OpenAICompatible(profile=MISTRAL)` or `OpenAICompatible(profile="mistral")`. A profile
changes only how a request is written, and whether `<think>` tags are read; every answer
is read as tolerantly under any of them. Each difference from `DEFAULT` says where it comes
from: the server's reference with the day it was read, a public report, or what recorded
exchanges of that server show. Servers change their minds: a profile that no longer fits
is replaced by `dataclasses.replace(LLAMA_CPP, ...)` under a name of yours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from synaptum.errors import ConfigurationError

__all__ = [
    "DEEPSEEK",
    "DEFAULT",
    "GEMINI",
    "LLAMA_CPP",
    "MISTRAL",
    "OLLAMA",
    "OPENAI",
    "PROFILES",
    "Profile",
    "find_profile",
]

#: What OpenAI's API reference says of "tools[].function.name": letters, digits, `_` and `-`,
#: at most 64. Servers that follow it to the letter refuse a dot.
_STRICT_NAME: Final = r"[a-zA-Z0-9_-]{1,64}"

#: The same with the dot that a prefix such as `git.` brings: servers that hand the name to a
#: chat template take it (case openai_chat/llama.cpp/tool-name-with-dot).
_DOTTED_NAME: Final = r"[a-zA-Z0-9_.-]{1,64}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How one server wants its requests.

    Attributes:
        name: how a configuration names this profile.
        read_on: the day its sources were read, `YYYY-MM-DD`.
        call_turn_content: the content of an assistant turn that only called tools: `None`
            travels as `null`, `""` as the empty string. The key is never dropped.
        empty_turn: whether an assistant turn that said the empty string, and nothing else,
            travels; False leaves it out.
        reasoning_field: the key under which reasoning goes back on turns that travel
            anyway; None does not send it.
        max_tokens_field: the key of the upper bound.
        system_role: the role of `Request.system`.
        developer: what a developer turn becomes: a `developer` or `system` message at its
            place, or `leading`: joined to the system prompt when it stands before every
            other turn, refused elsewhere.
        stream_usage: whether a streaming request asks for usage.
        tool_name_pattern: regular expression a tool's whole name must match.
        call_id_pattern: regular expression a call's whole id must match; an id of another
            server that does not is rewritten, the same in call and result. None takes any.
        call_fields: fields of `ToolCall.provider_metadata` that go back on the call.
        merge_user_turns: whether user turns in a row become one.
        media: which kinds of part besides text a user turn may hold.
        tool_result_media: whether a tool result may hold those as well.
        json_schema: how `ResponseFormat("json_schema")` travels: as itself, or as
            `json_object`, the schema standing in the instructions alone.
        named_tool_choice: whether one tool can be asked for by name; where not, naming the
            only tool offered travels as `required`, and anything else is refused.
        think_tags: whether `<think>…</think>` at the start of the content is reasoning.
    """

    name: str
    read_on: str
    call_turn_content: Literal[""] | None = None
    empty_turn: bool = True
    reasoning_field: Literal["reasoning_content", "reasoning"] | None = None
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    system_role: Literal["system", "developer"] = "system"
    developer: Literal["developer", "system", "leading"] = "developer"
    stream_usage: bool = True
    tool_name_pattern: str = _DOTTED_NAME
    call_id_pattern: str | None = None
    call_fields: tuple[str, ...] = ()
    merge_user_turns: bool = False
    media: frozenset[str] = field(default_factory=lambda: frozenset({"image", "audio", "document"}))
    tool_result_media: bool = False
    json_schema: Literal["json_schema", "json_object"] = "json_schema"
    named_tool_choice: bool = True
    think_tags: bool = False

    def __post_init__(self) -> None:
        for name in ("tool_name_pattern", "call_id_pattern"):
            pattern = getattr(self, name)
            try:
                re.compile(pattern or "")
            except re.error as error:
                msg = f"Profile {self.name!r}: {name} is no regular expression: {error}."
                raise ConfigurationError(msg) from None


#: The widest shape: what OpenAI's reference says, in the spelling most servers take
#: (`max_tokens` is deprecated there and is still the only one many others know).
DEFAULT: Final = Profile(name="default", read_on="2026-11-30")

#: OpenAI itself.
#: - `max_tokens` is refused by its reasoning models: "Unsupported parameter: 'max_tokens' …
#:   Use 'max_completion_tokens' instead", 400, seen in recorded exchanges of OpenAI.
#: - the reference asks for `developer` in place of `system` from o1 on (older models take both).
#: - names of tools have no dot: `prefix="git_"` there.
OPENAI: Final = Profile(
    name="openai",
    read_on="2026-11-30",
    max_tokens_field="max_completion_tokens",
    system_role="developer",
    tool_name_pattern=_STRICT_NAME,
)

#: llama.cpp's server.
#: - chat templates raise "System message must be at the beginning" for a second or later one
#:   (public report on a server of the same templates, vllm 41114).
#: - no audio or file parts: "unsupported content[].type", 400, seen in recorded exchanges.
#: - `tool_choice` is read as a string: an object that names a tool is taken for `auto`
#:   without a word (its source, tools/server/server-common.cpp, read 2026-11-30).
#: - `content: null` beside calls is taken, seen on the real server.
LLAMA_CPP: Final = Profile(
    name="llama.cpp",
    read_on="2026-11-30",
    developer="leading",
    media=frozenset({"image"}),
    named_tool_choice=False,
)

#: Ollama, and servers that take only strings as content.
#: - `content: null` beside calls: 400 "invalid message content type: <nil>" on the second
#:   turn of a tool chain (public report, pydantic-ai 5206).
OLLAMA: Final = Profile(
    name="ollama",
    read_on="2026-11-30",
    call_turn_content="",
    developer="system",
    media=frozenset({"image"}),
)

#: Mistral.
#: - an assistant turn with neither text nor calls: 400 "Assistant message must have either
#:   content or tool_calls" (public report, ellmer 709), so the empty string is left out.
#: - ids of calls: 400 "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"
#:   (public reports, langchain 24668, magentic 276).
#: - `stream_options`: 422 "Extra inputs are not permitted" (public report,
#:   openai-agents-python 442); usage comes unasked in the finish chunk, seen in recorded
#:   exchanges. `max_completion_tokens` is refused the same way (public report, eca 231).
#: - its open models' templates want user and assistant turns to alternate.
MISTRAL: Final = Profile(
    name="mistral",
    read_on="2026-11-30",
    empty_turn=False,
    developer="leading",
    stream_usage=False,
    call_id_pattern=r"[a-zA-Z0-9]{9}",
    tool_name_pattern=_STRICT_NAME,
    merge_user_turns=True,
    media=frozenset({"image", "audio"}),
)

#: DeepSeek.
#: - in thinking mode: 400 "The reasoning_content in the thinking mode must be passed back"
#:   for turns that called tools (reference, "Thinking Mode", as quoted in public report
#:   opencode 24722; a year earlier the reference forbade it). On other turns it is ignored.
#: - messages hold text alone: "unknown variant `image_url`, expected `text`", 400, seen in
#:   recorded exchanges.
#: - `response_format` knows `text` and `json_object` (API reference, "JSON Output").
DEEPSEEK: Final = Profile(
    name="deepseek",
    read_on="2026-11-30",
    reasoning_field="reasoning_content",
    developer="system",
    media=frozenset(),
    json_schema="json_object",
    tool_name_pattern=_STRICT_NAME,
)

#: Gemini's compatible endpoint.
#: - a call's thought signature (`extra_content`) has to come back on the call, else 400
#:   (Gemini API reference, "Thought signatures", 2026-11-30; the field is seen in recorded
#:   exchanges).
GEMINI: Final = Profile(
    name="gemini",
    read_on="2026-11-30",
    developer="leading",
    call_fields=("extra_content",),
)

#: Every profile of ours, by name.
PROFILES: Final[dict[str, Profile]] = {
    profile.name: profile
    for profile in (DEFAULT, OPENAI, LLAMA_CPP, OLLAMA, MISTRAL, DEEPSEEK, GEMINI)
}


def find_profile(name: str) -> Profile:
    """The profile called `name`.

    Raises:
        ConfigurationError: there is none; the message lists those there are.
    """
    profile = PROFILES.get(name)
    if profile is None:
        msg = (
            f"No profile is called {name!r}; there are {', '.join(sorted(PROFILES))}, or pass a"
            " Profile of your own."
        )
        raise ConfigurationError(msg)
    return profile
