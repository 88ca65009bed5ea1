"""`lint_tools`: tool descriptions read as the interface that they are.

    def test_the_tools_are_well_described():
        assert lint_tools(TOOLS) == []

A model chooses a tool by its description and fills it in by its schema, so what they leave out
is guessed. Each finding says what to do about it. Whether a name has its prefix in front or
behind is not judged: nobody has shown which is better.

`foreign=True` reads a catalogue of others (an MCP server's), whose texts are instructions from
a stranger the moment a model reads them. It looks for what a description has no honest reason
to hold. Finding nothing proves nothing; it is a reason to look, not to trust.

Texts are read as English or Spanish; a tool described in another language gets findings that
do not apply, which `ignore=` takes out by code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from synaptum.errors import ConfigurationError
from synaptum.tools.base import Tool, check_tool_names
from synaptum.tools.poison import mentions, poison
from synaptum.tools.result_cap import cap_tool_output
from synaptum.vocabulary import ToolDefinition, ToolResult

__all__ = ["CODES", "Finding", "lint_tools"]

#: Every finding there is: its code, and the advice it gives.
CODES: Final[Mapping[str, str]] = {
    "short-description": (
        "say in three or four sentences what it does, when to use it, what it needs and gives"
        " back; @tool takes the docstring's first line alone, so pass description=."
    ),
    "no-when": "say when to use it, and when another tool is the better one: 'Use it when ...'.",
    "no-output": "say what it returns, in which form: 'Returns ...'.",
    "no-edges": "say what happens at the edges: nothing found, a wrong value, a limit.",
    "parameter-undescribed": "describe it, with an example: Annotated[str, 'Ticker, e.g. NVDA'].",
    "optional-unbounded": "give it a default, a range, or choices, and say which applies.",
    "nested-without-example": "show a whole call with input_examples=.",
    "overlap": "merge the two, or say in each when the other one is meant.",
    "endpoint-wrapper": (
        "make one tool of what a task needs together (find a slot and book it), rather than one"
        " for each endpoint."
    ),
    "too-many-modes": "split it: unrelated modes in one schema only move the choice inside.",
    "raw-id": "give the name it stands for, and ids only in a detailed form.",
    "html": "give text: a model pays for every tag.",
    "over-cap": "give less by default, and let the model ask for a range or for more detail.",
    "invisible-characters": "do not offer it: people cannot see what the model reads there.",
    "look-alike-letters": (
        "do not offer it: it is not called what people read, letters of another alphabet pass for"
        " Latin ones."
    ),
    "hidden-comment": (
        "do not offer it: people do not see a comment where the text is rendered, and the model"
        " reads it."
    ),
    "instructs-model": "do not offer it before you know why it gives orders to the model.",
    "names-other-tool": "do not offer it before you know why it speaks of another tool.",
    "asks-for-secrets": "do not offer it before you know why it wants keys, files or prompts.",
}

_MIN_SENTENCES: Final = 3
#: From this part of shared words on, two descriptions say the same.
_OVERLAP: Final = 0.6
#: Tools of one resource that make an API's set of endpoints rather than actions.
_ENDPOINTS: Final = 3
#: Optional parameters, or choices of one, from which a tool is several.
_MAX_OPTIONAL: Final = 8
_MAX_MODES: Final = 6

_SENTENCE: Final = re.compile(r"[^.!?]*\w[^.!?]*[.!?](?=\s|$)|[^.!?]*\w[^.!?]*$")
_ABBREVIATED: Final = re.compile(r"\b(?:e\.g|i\.e|etc|vs|approx|p\. ej)\.", re.IGNORECASE)
_WHEN: Final = re.compile(
    r"\b(?:use (?:it|this|me)?\s*(?:tool )?(?:when|if|for|to|only|before|after|where)"
    r"|when (?:the|you|a)"
    r"|use this|useful (?:for|when)|call (?:it|this) (?:when|to|before|after)|instead of"
    r"|úsala|úsalo|usa esta|cuando|sirve para)\b",
    re.IGNORECASE,
)
_OUTPUT: Final = re.compile(
    r"\b(?:returns?|gives? back|results? (?:are|is|has|have)|outputs?|responds? with|yields?"
    r"|answers? with|devuelve|da como resultado|retorna)\b",
    re.IGNORECASE,
)
_EDGES: Final = re.compile(
    r"\b(?:empty|null|none|error|fails?|missing|unknown|invalid|not found|no (?:results?|match)"
    r"|at most|up to|maximum|limit(?:ed)?|otherwise|cannot|can't|only|unless|except|without"
    r"|vací[oa]|nulo|falla|inexistente|como máximo|hasta|límite|salvo|si no)\b",
    re.IGNORECASE,
)
_VERBS: Final = frozenset(
    (
        *("add", "create", "delete", "fetch", "find", "get", "insert", "list", "patch", "post"),
        *("put", "read", "remove", "set", "update"),
    )
)
_UUID: Final = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE
)
_OPAQUE: Final = re.compile(r'"(?:\w+_)?(?:id|uuid|guid|mime_?type)"\s*:', re.IGNORECASE)
_HTML: Final = re.compile(r"</(?:p|div|span|a|li|ul|td|tr|table|html|body|h[1-6])\s*>", re.I)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend.

    Attributes:
        tool: whose.
        code: what, one of `CODES`.
        detail: where, or with what; "" where the code says all.
    """

    tool: str
    code: str
    detail: str = ""

    @property
    def advice(self) -> str:
        """What to do."""
        return CODES[self.code]

    def __str__(self) -> str:
        place = f" ({self.detail})" if self.detail else ""
        return f"{self.tool}: {self.code}{place}: {self.advice}"


def lint_tools(
    tools: Iterable[Any],
    *,
    results: Mapping[str, ToolResult | str] | None = None,
    max_tool_chars: int = 16_000,
    foreign: bool = False,
    beside: Iterable[Any] = (),
    ignore: Iterable[str] = (),
) -> list[Finding]:
    """What is wrong with descriptions, schemas and results, tool by tool; empty where nothing is.

    Args:
        tools: the set as it is offered; overlaps are looked for within it.
        results: what tools gave in their default form, by name: what a run recorded.
        max_tool_chars: the cap those results must fit, as in `Limits`.
        foreign: also look for what poisons a catalogue of others.
        beside: the agent's other tools, or their names, which a foreign one has no business
            to mention.
        ignore: codes to leave out.

    Raises:
        ConfigurationError: two tools have one name, a result is of no tool, or a code is none.
    """
    catalogue = check_tool_names(tools)
    left_out = set(ignore)
    names = {tool.name for tool in catalogue}
    others = {tool if isinstance(tool, str) else tool.name for tool in beside}
    given = {} if results is None else dict(results)
    for what, unknown in (("code", left_out - CODES.keys()), ("tool", given.keys() - names)):
        if unknown:
            msg = f"lint_tools() knows no {what} {sorted(unknown)[0]!r}."
            raise ConfigurationError(msg)
    found: list[Finding] = []
    for tool in catalogue:
        found += _description(tool.definition)
        found += _parameters(tool.definition)
        if tool.name in given:
            found += _result(tool.name, given[tool.name], max_tool_chars)
        if foreign:
            for code, detail in poison(tool.definition, names | others):
                found.append(Finding(tool.name, code, detail))
    found += _overlaps(catalogue)
    found += _endpoints(catalogue)
    places = {tool.name: place for place, tool in enumerate(catalogue)}
    found.sort(key=lambda finding: places[finding.tool])
    return [finding for finding in found if finding.code not in left_out]


def _description(definition: ToolDefinition) -> Iterator[Finding]:
    text = definition.description
    sentences = len(_SENTENCE.findall(_ABBREVIATED.sub(" ", text)))
    if sentences < _MIN_SENTENCES:
        yield Finding(definition.name, "short-description", f"{sentences} of {_MIN_SENTENCES}")
    for code, pattern in (("no-when", _WHEN), ("no-output", _OUTPUT), ("no-edges", _EDGES)):
        if not pattern.search(text):
            yield Finding(definition.name, code)


def _parameters(definition: ToolDefinition) -> Iterator[Finding]:
    properties: Mapping[str, Any] = definition.parameters.get("properties", {})
    required = definition.parameters.get("required", ())
    for name, schema in properties.items():
        if not isinstance(schema, Mapping):
            continue
        if not str(schema.get("description", "")).strip():
            yield Finding(definition.name, "parameter-undescribed", name)
        if name not in required and not _is_bounded(schema):
            yield Finding(definition.name, "optional-unbounded", name)
        choices = schema.get("enum")
        if isinstance(choices, list) and len(choices) > _MAX_MODES and _chooses_mode(name):
            yield Finding(definition.name, "too-many-modes", f"{name}: {len(choices)} choices")
    optional = len(properties) - len(required)
    if optional > _MAX_OPTIONAL:
        yield Finding(definition.name, "too-many-modes", f"{optional} optional parameters")
    if "examples" not in definition.parameters and any(map(_is_nested, properties.values())):
        yield Finding(definition.name, "nested-without-example")


def _is_bounded(schema: Mapping[str, Any]) -> bool:
    bounds = {"default", "enum", "const", "minimum", "maximum", "exclusiveMinimum"}
    bounds |= {"exclusiveMaximum", "maxLength", "maxItems", "pattern", "format"}
    if bounds & schema.keys() or schema.get("type") == "boolean":
        return True
    parts = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return any(isinstance(part, Mapping) and bounds & part.keys() for part in parts)


def _chooses_mode(name: str) -> bool:
    return bool({"mode", "action", "operation", "command", "kind", "method"} & set(_words(name)))


def _is_nested(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    if "$ref" in schema or schema.get("properties"):
        return True
    inner = [schema.get("items"), *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return any(_is_nested(part) for part in inner)


def _result(name: str, result: ToolResult | str, cap: int) -> Iterator[Finding]:
    whole = ToolResult.of("", result) if isinstance(result, str) else result
    text = whole.text
    for code, pattern in (("raw-id", _UUID), ("raw-id", _OPAQUE), ("html", _HTML)):
        hit = pattern.search(text)
        if hit is not None:
            yield Finding(name, code, hit[0][:40])
            if code == "raw-id":
                text = _OPAQUE.sub("", text)  # one finding of ids is enough
    if cap_tool_output(whole, max_chars=cap) is not whole:
        yield Finding(name, "over-cap", f"{len(whole.text)} of {cap} characters")


def _overlaps(catalogue: tuple[Tool, ...]) -> Iterator[Finding]:
    told = {t.name: frozenset(_content_words(t.definition)) for t in catalogue}
    for one, other in combinations(catalogue, 2):
        mine, theirs = told[one.name], told[other.name]
        both = mine | theirs
        refers = mentions(one.definition.description, other.name) or mentions(
            other.definition.description, one.name
        )
        if both and not refers and len(mine & theirs) / len(both) >= _OVERLAP:
            yield Finding(one.name, "overlap", other.name)


def _content_words(definition: ToolDefinition) -> list[str]:
    return [w for w in _words(definition.description) if len(w) > 3]


def _endpoints(catalogue: tuple[Tool, ...]) -> Iterator[Finding]:
    """Sets like `list_users`, `get_user`, `create_user`: verbs of an API over one resource."""
    resources: dict[str, list[str]] = {}
    for tool in catalogue:
        words = _words(tool.name)
        verbs = [word for word in words if word in _VERBS]
        rest = [word.removesuffix("s") for word in words if word not in _VERBS]
        if len(verbs) == 1 and rest:
            resources.setdefault(" ".join(rest), []).append(tool.name)
    for names in resources.values():
        if len(names) >= _ENDPOINTS:
            yield Finding(names[0], "endpoint-wrapper", ", ".join(names))


def _words(text: str) -> list[str]:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return [word.casefold() for word in re.findall(r"[^\W_]+", split)]
