"""A small search over tool catalogues: deterministic, without accents, no dependency.

Words of names, descriptions and parameters are compared without case and accents; the rarer
a word is in the catalogue, the more it weighs, in whole numbers, so that every process and
platform comes to the same order. Ties stand in the order of the catalogue.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from synaptum.tools.base import Tool

__all__ = ["ToolIndex"]

_NAME_WEIGHT: Final = 4
_TEXT_WEIGHT: Final = 1
#: Letters two words must share at their start to count as related (half): files, file.
_STEM: Final = 4

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD: Final = re.compile(r"[^\W_]+")
#: Scripts written without spaces: their words are taken as pairs of characters.
_UNSPACED: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class ToolIndex:
    """An index of one catalogue."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tuple(tools)
        self._weights = [_weights(tool) for tool in self._tools]
        self._spread: Counter[str] = Counter()
        for weights in self._weights:
            self._spread.update(weights.keys())

    def search(self, query: str, limit: int) -> list[Tool]:
        """At most `limit` tools that have to do with `query`, the best first."""
        wanted = sorted(set(_words(query)))
        scored = [
            (score, -position)
            for position, weights in enumerate(self._weights)
            if (score := self._score(weights, wanted)) > 0
        ]
        scored.sort(reverse=True)
        return [self._tools[-position] for _, position in scored[:limit]]

    def _score(self, weights: Counter[str], wanted: Sequence[str]) -> int:
        score = 0
        for word in wanted:
            if word in weights:
                score += 2 * weights[word] * self._rarity(word)
            else:
                related = [other for other in weights if _related(word, other)]
                score += max((weights[other] * self._rarity(other) for other in related), default=0)
        return score

    def _rarity(self, word: str) -> int:
        return len(self._tools) * 100 // self._spread[word]


def _weights(tool: Tool) -> Counter[str]:
    definition = tool.definition
    weights: Counter[str] = Counter()
    for word in set(_words(definition.name)):
        weights[word] += _NAME_WEIGHT
    texts = [definition.description]
    properties: Any = definition.parameters.get("properties", {})
    if isinstance(properties, dict):
        for name, schema in properties.items():
            texts.append(name)
            if isinstance(schema, dict) and isinstance(schema.get("description"), str):
                texts.append(schema["description"])
    for word in {word for text in texts for word in _words(text)}:
        weights[word] += _TEXT_WEIGHT
    return weights


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", _CAMEL.sub(" ", text))
    plain = "".join(char for char in plain if not unicodedata.combining(char)).casefold()
    words: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFC", plain)):
        if _UNSPACED.search(word) and len(word) > 2:
            words.extend(word[index : index + 2] for index in range(len(word) - 1))
        elif len(word) > 1 or word.isdigit() or not word.isascii():
            words.append(word)
    return words


def _related(word: str, other: str) -> bool:
    return (
        len(word) >= _STEM
        and len(other) >= _STEM
        and (word.startswith(other) or other.startswith(word))
    )
