"""What a description of others has no honest reason to hold: signs of tool poisoning.

A model obeys what it reads, and it reads the whole catalogue before anything is called: a tool
can do harm without ever running. These are patterns; whoever knows them writes around them. So
a finding is a reason to look, and no finding is no proof.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import EncodingError
from synaptum.tools.look_alikes import disguise_in_name, mixed_word, undisguised
from synaptum.vocabulary import ToolDefinition

__all__ = ["mentions", "poison"]

_ORDERS: Final = re.compile(
    r"<\s*/?\s*(?:important|system|instructions?|secret)\b[^>]*>"
    r"|\b(?:ignore|disregard|forget|override)\b[^.]{0,40}"
    r"\b(?:previous|prior|above|all|other|earlier)\b[^.]{0,30}"
    r"\b(?:instructions?|rules?|prompts?|messages?)"
    r"|\b(?:do not|don't|never) (?:tell|mention|inform|reveal|show|notify)\b[^.]{0,40}\buser\b"
    r"|\bwithout (?:telling|informing|asking) the user\b"
    r"|\b(?:you|the (?:assistant|model|ai|agent)) (?:must|should|have to|shall)"
    r" (?:always|first|never)\b"
    r"|\b(?:system prompt|as an ai|hidden instruction)\b"
    r"|\bbefore (?:using|calling|running) (?:any|this|other|another) tools?\b[^.]{0,60}"
    r"\b(?:read|call|send)"
    r"|\b(?:ignora|olvida)\b[^.]{0,40}\binstrucciones\b"
    r"|\bno (?:se lo digas|informes|menciones)\b[^.]{0,40}\busuario\b",
    re.IGNORECASE,
)
_SECRETS: Final = re.compile(
    r"\b(?:passwords?|passphrases?|api[ _-]?keys?|private keys?|ssh keys?|secret keys?"
    r"|credentials?|access tokens?|auth(?:orization)? tokens?|bearer tokens?|session cookies?"
    r"|env(?:ironment)? variables?|contraseñas?|credenciales|claves? privadas?)\b"
    r"|(?:~|/home/\w+|/root)?/?\.(?:ssh|aws|env|netrc|npmrc|kube|gnupg)\b"
    r"|\bid_rsa\b|/etc/(?:passwd|shadow)\b|\bmcp\.json\b|\b(?:conversation|chat) history\b",
    re.IGNORECASE,
)


#: What is not shown where the text is rendered: comments of HTML and of Markdown.
_COMMENT: Final = re.compile(r"<!--.{0,40}|^\s*\[[^\]\n]*\]:\s*(?:#|<>).{0,40}", re.S | re.M)


def poison(definition: ToolDefinition, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Code and detail of each sign; `names` are those of the tools offered together."""
    others = sorted(set(names) - {definition.name})
    for place, text, is_name in _texts(definition):
        hidden = sorted({f"U+{ord(char):04X}" for char in text if _is_invisible(char)})
        if hidden:
            yield "invisible-characters", f"{place}: {hidden[0]}"
        disguise = disguise_in_name(text) if is_name else mixed_word(text)
        if disguise is not None:
            yield "look-alike-letters", f"{place}: {disguise}"
        seen = undisguised(text)
        for code, pattern in (
            ("hidden-comment", _COMMENT),
            ("instructs-model", _ORDERS),
            ("asks-for-secrets", _SECRETS),
        ):
            hit = pattern.search(seen)
            if hit is not None:
                yield code, f"{place}: {' '.join(hit[0].split())[:60]}"
        for other in others:
            if mentions(seen, other):
                yield "names-other-tool", f"{place}: {other}"


def mentions(text: str, name: str) -> bool:
    """Whether a text speaks of the tool `name`; an ordinary word only where it is marked."""
    plain = re.escape(name)
    if name.isalpha() and name.islower():
        return re.search(rf"[`'\"]{plain}[`'\"]|\b{plain}\(|\b{plain} tool\b", text) is not None
    return re.search(rf"(?<![\w.-]){plain}(?![\w-])", text) is not None


def _texts(definition: ToolDefinition) -> Iterator[tuple[str, str, bool]]:
    """Every text that a model reads: where it stands, the text, and whether it is a name."""
    yield "name", definition.name, True
    yield "description", definition.description, False
    try:
        canonical.encode(definition.parameters)  # bounds the depth of a stranger's schema
    except EncodingError:
        return
    yield from _walk(definition.parameters, "parameters")


def _walk(value: Any, place: str) -> Iterator[tuple[str, str, bool]]:
    if isinstance(value, str):
        yield place, value, False
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield f"{place}/{key}", str(key), True
            yield from _walk(inner, f"{place}/{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _walk(inner, f"{place}/{index}")


def _is_invisible(char: str) -> bool:
    if char in "\t\n\r":
        return False
    # Cf holds zero-width, direction and tag characters; Co and Cn have no agreed look; the
    # three at the end are letters to Unicode, and blanks to the eye.
    hidden = unicodedata.category(char) in {"Cc", "Cf", "Co", "Cn", "Cs"}
    return hidden or char in "\u3164\uffa0\u115f"
