"""The shape of what a server answers, and how two shapes differ.

A shape says, for every place of an answer, which JSON types stand there. Places are paths;
all elements of a list share one place (`choices.*.delta.content`), and so do all events of
a stream. Texts and numbers themselves do not count: a server that says something else has
not drifted, one that says it in another form has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = ["Change", "Shape", "compare_shapes", "shape_of"]

#: Path of a place -> the JSON types seen there.
Shape = Mapping[str, frozenset[str]]

_ROOT: Final = "$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference between what was recorded and what came.

    Attributes:
        path: the place, such as `choices.*.message.refusal`.
        kind: `new` (a field nobody knew: information), `lost` or `type` (both errors: an
            adapter may rest on them).
        recorded, came: the types seen there, sorted; empty where the place is absent.
    """

    path: str
    kind: Literal["new", "lost", "type"]
    recorded: tuple[str, ...]
    came: tuple[str, ...]

    @property
    def is_error(self) -> bool:
        """Whether an adapter that read the recording may fail on what came."""
        return self.kind != "new"

    def __str__(self) -> str:
        before, after = " or ".join(self.recorded), " or ".join(self.came)
        if self.kind == "new":
            return f"new: {self.path} ({after})"
        if self.kind == "lost":
            return f"lost: {self.path} (was {before})"
        return f"type: {self.path} was {before}, came as {after}"


def shape_of(values: Iterable[Any]) -> dict[str, frozenset[str]]:
    """The shape that several JSON values share: one body, or all events of a stream."""
    seen: dict[str, set[str]] = {}
    for value in values:
        for path, kind in _places(value):
            seen.setdefault(path, set()).add(kind)
    return {path: frozenset(kinds) for path, kinds in seen.items()}


def compare_shapes(recorded: Shape, came: Shape) -> list[Change]:
    """What differs, errors first, then by path.

    A place below one that is lost or new is not listed again. Null is a type: `null`, `""`
    and an absent field are three answers.
    """
    changes: list[Change] = []
    for path in sorted(recorded.keys() | came.keys()):
        before, after = recorded.get(path), came.get(path)
        if before == after:
            continue
        if before is not None and after is not None:
            changes.append(_change(path, "type", before, after))
        elif before is not None and _holds_fields(came, path):
            changes.append(_change(path, "lost", before, after))
        elif after is not None and _holds_fields(recorded, path):
            changes.append(_change(path, "new", before, after))
    return sorted(changes, key=lambda change: (not change.is_error, change.path))


def _holds_fields(shape: Shape, path: str) -> bool:
    """Whether the container of `path` is there as an object, so that a field can be missing.

    A list that came empty says nothing of its elements, and what is inside something lost or
    new is part of that.
    """
    container = path.rpartition(".")[0] or _ROOT
    return "object" in shape.get(container, frozenset())


def _change(
    path: str,
    kind: Literal["new", "lost", "type"],
    before: frozenset[str] | None,
    after: frozenset[str] | None,
) -> Change:
    return Change(
        path=path, kind=kind, recorded=tuple(sorted(before or ())), came=tuple(sorted(after or ()))
    )


def _places(value: Any) -> Iterator[tuple[str, str]]:
    stack: list[tuple[str, Any]] = [(_ROOT, value)]
    while stack:
        path, item = stack.pop()
        yield path, _type_of(item)
        prefix = "" if path == _ROOT else f"{path}."
        if isinstance(item, Mapping):
            stack.extend((f"{prefix}{key}", inner) for key, inner in item.items())
        elif isinstance(item, Sequence) and not isinstance(item, str):
            stack.extend((f"{prefix}*", inner) for inner in item)


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"  # a server writes 12 or 12.0 by the value, not by the field
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"
