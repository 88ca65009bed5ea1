"""A small JSON Schema validator, for schemas that are not made from a type of ours.

Used where somebody else's schema meets a model's JSON: raw-schema outputs, tools with
`parameters=` by hand, deferred catalogues and MCP. It checks `type`, `enum`, `const`; for
objects `properties`, `required`, `additionalProperties`, `patternProperties`,
`propertyNames`, `minProperties`, `maxProperties`, `dependentRequired`; for arrays `items`,
`prefixItems`, `contains`, `minItems`, `maxItems`, `uniqueItems`; `minLength`, `maxLength`,
`pattern`; `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`;
`anyOf`, `oneOf`, `allOf`, `not`, `if`/`then`/`else`; `$ref` within the schema, and boolean
schemas. `format` and other annotations say nothing about validity, as in the specification;
any other keyword is not checked.

Source: JSON Schema 2020-12, core and validation vocabularies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import ConfigurationError, EncodingError
from synaptum.schema.problems import MismatchError, mismatch, short, type_name

__all__ = ["check_schema", "validate"]

#: Deepest chain of subschemas followed: a `$ref` may point at itself.
_MAX_DEPTH: Final = 200

_TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")

_Check = Callable[["_Validator", Any, Any, Mapping[str, Any], str, int], None]


def validate(schema: Mapping[str, Any] | bool, value: Any) -> None:
    """Check a plain JSON value against a schema.

    Raises:
        MismatchError: the first thing that does not fit, in the order of the schema.
        ConfigurationError: the schema itself cannot be followed.
    """
    _Validator(schema).check(schema, value, "$", 0)


def check_schema(schema: Mapping[str, Any], label: str) -> None:
    """Refuse a schema that could not be sent or followed; `label` names it in the error.

    Raises:
        ConfigurationError: no JSON, an unknown type word, a bad pattern, a `$ref` to nowhere.
    """
    try:
        canonical.encode(schema)
    except EncodingError as error:
        msg = f"{label} is no JSON: {error}"
        raise ConfigurationError(msg) from None
    validator = _Validator(schema)
    for part in _subschemas(schema):
        words = part.get("type", ())
        for word in (words,) if isinstance(words, str) else words:
            if word not in _TYPES:
                msg = f"{label} has the type {word!r}; the types are {', '.join(_TYPES)}."
                raise ConfigurationError(msg)
        if isinstance(part.get("pattern"), str):
            _pattern(part["pattern"])
        if isinstance(part.get("$ref"), str):
            validator.target(part["$ref"])


def _subschemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The schemas inside a schema, itself first; not what merely looks like one."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    for keyword, inner in schema.items():
        if keyword in _ONE and isinstance(inner, Mapping):
            yield from _subschemas(inner)
        elif keyword in _LIST and isinstance(inner, list | tuple):
            for item in inner:
                yield from _subschemas(item)
        elif keyword in _BY_NAME and isinstance(inner, Mapping):
            for item in inner.values():
                yield from _subschemas(item)


_ONE: Final = frozenset(
    ["items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"]
)
_LIST: Final = frozenset(["prefixItems", "anyOf", "oneOf", "allOf"])
_BY_NAME: Final = frozenset(["properties", "patternProperties", "$defs", "definitions"])


class _Validator:
    def __init__(self, root: Any) -> None:
        self._root = root

    def check(self, schema: Any, value: Any, path: str, depth: int) -> None:
        if schema is True:
            return
        if schema is False:
            raise mismatch(path, "forbidden")
        if not isinstance(schema, Mapping):
            msg = f"A schema is an object or a boolean, not {short(schema)}."
            raise ConfigurationError(msg)
        if depth > _MAX_DEPTH:
            raise mismatch(path[:60] + "…", "too_deep", limit=str(_MAX_DEPTH))
        for keyword, argument in schema.items():
            check = _CHECKS.get(keyword)
            if check is not None:
                check(self, argument, value, schema, path, depth + 1)

    def fits(self, schema: Any, value: Any, path: str, depth: int) -> bool:
        try:
            self.check(schema, value, path, depth)
        except MismatchError:
            return False
        return True

    def target(self, reference: str) -> Any:
        """What a `$ref` points at. Only within the schema: nothing is ever fetched."""
        found = self._root
        if reference.startswith("#"):
            try:
                for step in reference[1:].split("/")[1:]:
                    name = step.replace("~1", "/").replace("~0", "~")
                    found = found[int(name)] if isinstance(found, list) else found[name]
            except (LookupError, TypeError, ValueError):
                found = None
        else:
            found = None
        if not isinstance(found, Mapping | bool):
            msg = f"The schema refers to {reference!r}, which does not stand in it."
            raise ConfigurationError(msg)
        return found


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        msg = f"The schema has the pattern {text!r}, which cannot be read: {error}."
        raise ConfigurationError(msg) from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(left: Any, right: Any) -> bool:
    """Equality of JSON: 1 and 1.0 are one number, 1 and true are not one value."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)


def _ref(v: _Validator, to: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    v.check(v.target(str(to)), value, path, depth)


def _type(v: _Validator, words: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    allowed = [words] if isinstance(words, str) else list(words)
    found = type_name(value)
    if found in allowed or (found == "integer" and "number" in allowed):
        return
    if found == "number" and "integer" in allowed and float(value).is_integer():
        return
    shown = f"{found} {short(value)}" if found in _TYPES[1:5] else found
    raise mismatch(path, "expected", expected=" | ".join(allowed), found=shown)


def _enum(v: _Validator, words: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if not any(_equal(word, value) for word in words):
        choices = ", ".join(short(word) for word in words)
        raise mismatch(path, "not_among", value=short(value), choices=choices)


def _const(v: _Validator, word: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    _enum(v, [word], value, schema, path, depth)


def _required(v: _Validator, names: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if isinstance(value, Mapping):
        missing = [name for name in names if name not in value]
        if missing:
            raise mismatch(path, "missing", names=", ".join(missing))


def _dependent(v: _Validator, table: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if isinstance(value, Mapping):
        for name, names in table.items():
            if name in value:
                _required(v, names, value, schema, path, depth)


def _properties(v: _Validator, table: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if isinstance(value, Mapping):
        for name, inner in table.items():
            if name in value:
                v.check(inner, value[name], f"{path}.{name}", depth)


def _by_pattern(v: _Validator, table: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if isinstance(value, Mapping):
        for pattern, inner in table.items():
            for name in value:
                if _pattern(pattern).search(name):
                    v.check(inner, value[name], f"{path}.{name}", depth)


def _additional(v: _Validator, inner: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if not isinstance(value, Mapping):
        return
    patterns = [_pattern(text) for text in schema.get("patternProperties", {})]
    known = schema.get("properties", {})
    others = [
        name
        for name in value
        if name not in known and not any(pattern.search(name) for pattern in patterns)
    ]
    if inner is False and others:
        names = ", ".join(name[:60] for name in others[:5])
        raise mismatch(path, "unknown", names=names, allowed=", ".join(known) or "—")
    for name in others:
        v.check(inner, value[name], f"{path}.{name}", depth)


def _names(v: _Validator, inner: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if isinstance(value, Mapping):
        for name in value:
            v.check(inner, name, f"{path}.{name}", depth)


def _items(v: _Validator, inner: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if isinstance(value, list | tuple):
        start = len(schema.get("prefixItems", ()))
        for index in range(start, len(value)):
            v.check(inner, value[index], f"{path}[{index}]", depth)


def _prefix(v: _Validator, inner: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if isinstance(value, list | tuple):
        for index, (part, item) in enumerate(zip(inner, value, strict=False)):
            v.check(part, item, f"{path}[{index}]", depth)


def _contains(v: _Validator, inner: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if isinstance(value, list | tuple):
        count = sum(v.fits(inner, item, path, depth) for item in value)
        least, most = schema.get("minContains", 1), schema.get("maxContains", len(value))
        if not least <= count <= most:
            raise mismatch(path, "no_alternative")


def _unique(v: _Validator, wanted: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if wanted is True and isinstance(value, list | tuple):
        for index, item in enumerate(value):
            if any(_equal(item, other) for other in value[:index]):
                raise mismatch(path, "not_unique")


def _size(kind: Any, word: str, *, least: bool) -> _Check:
    def check(v: _Validator, limit: Any, value: Any, schema: Any, path: str, depth: int) -> None:
        if isinstance(value, kind) and (len(value) < limit if least else len(value) > limit):
            raise mismatch(path, "limit", rule=f"{word} {limit}", found=str(len(value)))

    return check


def _bound(word: str, broken: Callable[[Any, Any], bool]) -> _Check:
    def check(v: _Validator, limit: Any, value: Any, schema: Any, path: str, depth: int) -> None:
        if _is_number(value) and broken(value, limit):
            raise mismatch(path, "limit", rule=f"{word} {limit}", found=short(value))

    return check


def _is_no_multiple(value: Any, of: Any) -> bool:
    if isinstance(value, int) and isinstance(of, int):
        return value % of != 0
    return not (value / of).is_integer()


def _regex(v: _Validator, text: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if isinstance(value, str) and not _pattern(text).search(value):
        raise mismatch(path, "limit", rule=f"pattern {text}", found=short(value))


def _all(v: _Validator, parts: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    for part in parts:
        v.check(part, value, path, depth)


def _any(v: _Validator, parts: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    deepest: MismatchError | None = None
    for part in parts:
        try:
            v.check(part, value, path, depth)
        except MismatchError as error:
            if deepest is None or len(error.problem.path) > len(deepest.problem.path):
                deepest = error
        else:
            return
    if deepest is not None and (len(parts) == 1 or deepest.problem.path != path):
        raise deepest
    raise mismatch(path, "no_alternative")


def _one(v: _Validator, parts: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if sum(v.fits(part, value, path, depth) for part in parts) != 1:
        raise mismatch(path, "no_alternative")


def _not(v: _Validator, inner: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    if v.fits(inner, value, path, depth):
        raise mismatch(path, "forbidden")


def _if(v: _Validator, inner: Any, value: Any, schema: Any, path: str, depth: int) -> None:
    branch = "then" if v.fits(inner, value, path, depth) else "else"
    v.check(schema.get(branch, True), value, path, depth)


_CHECKS: Final[dict[str, _Check]] = {
    "$ref": _ref,
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "dependentRequired": _dependent,
    "properties": _properties,
    "patternProperties": _by_pattern,
    "additionalProperties": _additional,
    "propertyNames": _names,
    "minProperties": _size(Mapping, "minProperties", least=True),
    "maxProperties": _size(Mapping, "maxProperties", least=False),
    "items": _items,
    "prefixItems": _prefix,
    "contains": _contains,
    "minItems": _size((list, tuple), "minItems", least=True),
    "maxItems": _size((list, tuple), "maxItems", least=False),
    "uniqueItems": _unique,
    "minLength": _size(str, "minLength", least=True),
    "maxLength": _size(str, "maxLength", least=False),
    "pattern": _regex,
    "minimum": _bound("minimum", lambda value, limit: value < limit),
    "maximum": _bound("maximum", lambda value, limit: value > limit),
    "exclusiveMinimum": _bound("exclusiveMinimum", lambda value, limit: value <= limit),
    "exclusiveMaximum": _bound("exclusiveMaximum", lambda value, limit: value >= limit),
    "multipleOf": _bound("multipleOf", _is_no_multiple),
    "allOf": _all,
    "anyOf": _any,
    "oneOf": _one,
    "not": _not,
    "if": _if,
}
