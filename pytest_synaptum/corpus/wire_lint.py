"""What no OpenAI-compatible server takes, or what none means the same: rules over a body.

Each rule has an id, a sentence that says what to change, and its evidence: the recorded case
in which a server refused such a body, or, where no server we can reach refuses it, a public
report of one that did, with the day it was read, and the recorded case in which a lenient
server took it all the same. Nothing here depends on an adapter: a body is a body.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["RULES", "Evidence", "Finding", "Rule", "lint", "report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why a rule stands.

    Attributes:
        case: id of a recorded case in which a server refused it; None where none does.
        reference: the public report of a server that refused it, and the day it was read.
        taken: id of a recorded case in which a server took it, where one did.
    """

    case: str | None = None
    reference: str | None = None
    taken: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        id: its name, as `lint` in a case and reports use it.
        sentence: what is wrong and what to change.
        find: the places that break it, as (JSON pointer, detail).
    """

    id: str
    sentence: str
    evidence: Evidence
    find: Callable[[Mapping[str, Any]], Iterator[tuple[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A rule broken at a place."""

    rule: Rule
    pointer: str
    detail: str

    def __str__(self) -> str:
        return (
            f"{self.rule.id} at {self.pointer or '/'}: {self.rule.sentence} {self.detail}".rstrip()
        )


def lint(body: Any) -> list[Finding]:
    """The rules that a request body breaks; empty where there is nothing to say.

    A body that is no object, or has no `messages`, is of another endpoint: not judged.
    """
    if not isinstance(body, Mapping) or not isinstance(body.get("messages"), list):
        return []
    return [
        Finding(rule=rule, pointer=pointer, detail=detail)
        for rule in RULES
        for pointer, detail in rule.find(body)
    ]


def report(findings: Sequence[Finding]) -> str:
    """The findings as a message that says what to change."""
    lines = ["This request body is not one that OpenAI-compatible servers take:"]
    for finding in findings:
        lines.append(f"  {finding}")
        evidence = finding.rule.evidence
        if evidence.case is not None:
            lines.append(f"    a server refused it: corpus case {evidence.case}")
        else:
            lines.append(f"    {evidence.reference}")
    return "\n".join(lines)


def _messages(body: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for index, message in enumerate(body["messages"]):
        if isinstance(message, Mapping):
            yield index, message


def _calls(message: Mapping[str, Any]) -> list[Any]:
    calls = message.get("tool_calls")
    return calls if isinstance(calls, list) else []


def _id(value: Any) -> str | None:
    """An id as something to compare, whatever stands in its place."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _null_content(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for index, message in _messages(body):
        silent = message.get("content") is None
        spoke = _calls(message) or message.get("function_call") or message.get("refusal")
        if silent and not (message.get("role") == "assistant" and (spoke or message.get("audio"))):
            how = "null" if "content" in message else "absent"
            yield f"/messages/{index}/content", f"It is {how} in a turn of {message.get('role')!r}."


def _result_without_call(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    open_calls: set[str | None] = set()
    for index, message in _messages(body):
        if message.get("role") == "tool":
            call_id = _id(message.get("tool_call_id"))
            if call_id not in open_calls:
                yield (
                    f"/messages/{index}/tool_call_id",
                    f"No call before it has the id {call_id!r}.",
                )
            open_calls.discard(call_id)
        elif message.get("role") == "assistant":
            open_calls = {
                _id(call.get("id")) for call in _calls(message) if isinstance(call, Mapping)
            }


def _call_without_result(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    waiting: dict[str | None, str] = {}
    for index, message in _messages(body):
        if message.get("role") == "tool":
            waiting.pop(_id(message.get("tool_call_id")), None)
            continue
        yield from (
            (place, f"The call {call_id!r} is left open.") for call_id, place in waiting.items()
        )
        waiting = {
            _id(call.get("id")): f"/messages/{index}/tool_calls/{position}"
            for position, call in enumerate(_calls(message))
            if isinstance(call, Mapping)
        }
    yield from (
        (place, f"The call {call_id!r} is left open.") for call_id, place in waiting.items()
    )


#: How a value that came in the place of a text is told.
_JSON_NAMES: Final[Mapping[type, str]] = {
    dict: "an object",
    list: "an array",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "absent, or null",
}


def _arguments(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for index, message in _messages(body):
        for position, call in enumerate(_calls(message)):
            if not isinstance(call, Mapping) or call.get("type", "function") != "function":
                continue
            function = call.get("function")
            arguments = function.get("arguments") if isinstance(function, Mapping) else None
            pointer = f"/messages/{index}/tool_calls/{position}/function/arguments"
            if not isinstance(arguments, str):
                yield pointer, f"It is {_JSON_NAMES.get(type(arguments), 'no JSON')}."
                continue
            try:
                json.loads(arguments)
            except (ValueError, RecursionError):
                yield pointer, f"Its {len(arguments)} characters are no JSON."


def _empty_tools(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if body.get("tools", ()) == []:
        yield "/tools", ""


def _empty_calls(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for index, message in _messages(body):
        if message.get("tool_calls", ()) == []:
            yield f"/messages/{index}/tool_calls", ""


def _choice_without_tools(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if body.get("tool_choice") is not None and not body.get("tools"):
        yield "/tool_choice", ""


def _role(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = ("system", "developer", "user", "assistant", "tool", "function")
    for index, message in enumerate(body["messages"]):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in known:
            yield f"/messages/{index}/role", f"It is {role!r}."


def _no_messages(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not body["messages"]:
        yield "/messages", ""


def _reported(where: str, what: str, taken: str) -> Evidence:
    """A refusal that somebody published, read by us; recorded refusals are better."""
    return Evidence(
        reference=f"public report, read 2026-11-30: github.com/{where}: {what}",
        taken=f"openai_chat/litellm/{taken}",
    )


#: Every rule, in the order of reports.
RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="no-messages",
        sentence="`messages` is empty; send at least one turn.",
        evidence=Evidence(
            case="openai_chat/vllm/no-messages-refused",
            taken="openai_chat/litellm/no-messages-answered",
        ),
        find=_no_messages,
    ),
    Rule(
        id="unknown-role",
        sentence="A role is system, developer, user, assistant or tool.",
        evidence=_reported(
            "sashabaranov/go-openai/issues/679",
            "OpenAI answers 400 and lists the roles.",
            "unknown-role-answered",
        ),
        find=_role,
    ),
    Rule(
        id="null-content",
        sentence=(
            "A turn without content is taken only from the assistant, and only beside tool calls;"
            " leave the turn out."
        ),
        evidence=Evidence(
            case="openai_chat/llama.cpp/empty-assistant-message-refused",
            taken="openai_chat/vllm/empty-assistant-message-answered",
        ),
        find=_null_content,
    ),
    Rule(
        id="result-without-call",
        sentence="A tool result answers a call of the assistant's turn before; send that too.",
        evidence=_reported(
            "smarter-sh/smarter/issues/264",
            "OpenAI answers 400, for want of the call before.",
            "result-without-call-answered",
        ),
        find=_result_without_call,
    ),
    Rule(
        id="call-without-result",
        sentence="Every call needs its result before the next turn; send an error result at least.",
        evidence=_reported(
            "BerriAI/litellm/issues/10083",
            "OpenAI answers 400 and names the calls left open.",
            "call-without-result-answered",
        ),
        find=_call_without_result,
    ),
    Rule(
        id="arguments-not-json-text",
        sentence="The arguments of a call travel as a string that holds JSON.",
        evidence=Evidence(
            case="openai_chat/llama.cpp/unreadable-arguments-refused",
            taken="openai_chat/litellm/arguments-as-object-answered",
        ),
        find=_arguments,
    ),
    Rule(
        id="empty-tools",
        sentence="`tools` is empty; leave the key out.",
        evidence=Evidence(
            case="openai_chat/vllm/empty-tools-refused",
            taken="openai_chat/litellm/empty-tools-answered",
        ),
        find=_empty_tools,
    ),
    Rule(
        id="empty-tool-calls",
        sentence="`tool_calls` of a turn is empty; leave the key out.",
        evidence=_reported(
            "openai/openai-node/pull/1341",
            "OpenAI answers 400, the array is empty.",
            "empty-tool-calls-answered",
        ),
        find=_empty_calls,
    ),
    Rule(
        id="tool-choice-without-tools",
        sentence="`tool_choice` is given without `tools`; leave it out.",
        evidence=Evidence(
            case="openai_chat/vllm/tool-choice-without-tools-refused",
            taken="openai_chat/litellm/tool-choice-without-tools-answered",
        ),
        find=_choice_without_tools,
    ),
)
