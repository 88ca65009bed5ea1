"""What is wrong with a JSON value, as data: where, which rule, and the facts.

The sentence is made later, from the templates of a `Wording` (`Wording.problems`), because
the same problem is told to a model in its language and to a person in theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synaptum import canonical
from synaptum.errors import EncodingError

__all__ = [
    "MismatchError",
    "Problem",
    "RefusedValueError",
    "SchemaProblemError",
    "mismatch",
    "refusal",
    "short",
    "type_name",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        code: which rule was broken; a key of `Wording.problems`.
        path: where, from `$`, such as `$.items[2].price`.
        facts: the fields of the template, already as text.
    """

    code: str
    path: str
    facts: Mapping[str, str]

    def text(self, templates: Mapping[str, str]) -> str:
        """The sentence, from the templates of a wording."""
        return templates[self.code].format(path=self.path, **self.facts)


class SchemaProblemError(ValueError):
    """Root of the two ways a value can be wrong; `problem` says all of it."""

    def __init__(self, path: str, code: str, **facts: str) -> None:
        self.problem = Problem(code, path, facts)
        super().__init__(f"{path}: {code} {dict(facts)}")


class MismatchError(SchemaProblemError):
    """The value does not have the shape: another type, a name missing or unknown, no choice."""


class RefusedValueError(SchemaProblemError):
    """The shape is right and the value is not: a day that does not exist, a validator's no."""


def mismatch(path: str, code: str, **facts: str) -> MismatchError:
    """A `MismatchError` of that code."""
    return MismatchError(path, code, **facts)


def refusal(path: str, code: str, **facts: str) -> RefusedValueError:
    """A `RefusedValueError` of that code."""
    return RefusedValueError(path, code, **facts)


def type_name(value: Any) -> str:
    """The JSON Schema word for what a plain JSON value is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list | tuple) else "object"


def short(value: Any, limit: int = 60) -> str:
    """A plain JSON value as text, cut so that an error stays one sentence."""
    try:
        text = canonical.encode(value)
    except EncodingError:
        text = type(value).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"
