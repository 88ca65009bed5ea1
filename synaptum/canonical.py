r"""Deterministic JSON: the same value gives the same bytes in every process.

Two forms. *Canonical* (`encode`): sorted keys, no spaces; it is what is digested and
journalled. *Wire* (`wire_bytes`): the order the mapping has, no spaces; it is what travels,
so that a provider's cached prefix is the prefix we built.

Contract of both:
- text is UTF-8 and not escaped beyond what JSON asks, so that people can read a journal;
- integers are exact, up to the digits that Python converts (4,300 as it is set up), beyond which
  they raise; floats are Python's shortest repr (`1.0` stays `1.0`);
- NaN and Infinity, keys that are not strings, and types without a JSON form raise
  `EncodingError` naming the path;
- a lone surrogate is written as its `\uXXXX` escape and comes back as it was; a high
  surrogate followed by a low one as two separate code points cannot come back and raises;
- nesting deeper than `MAX_DEPTH` raises, never a `RecursionError`.

It does not know dataclasses; `synaptum.vocabulary.codec` turns those into plain values.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from synaptum.errors import EncodingError

__all__ = [
    "MAX_DEPTH",
    "decode",
    "digest",
    "encode",
    "in_key_order",
    "is_plain",
    "loads",
    "wire_bytes",
    "wire_text",
]

#: Deepest nesting taken, in containers. Python's own C encoder stops near 1,000 frames;
#: 200 leaves room for the caller's stack and is far beyond any body seen in the corpus.
MAX_DEPTH: Final = 200

#: As a tuple: `dict | list | tuple` in `isinstance` would be made anew for every item.
_CONTAINERS: Final = (dict, list, tuple)

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

_canonical = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_wire = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: Any) -> str:
    """Canonical JSON text of a plain JSON value (tuples count as arrays).

    Raises:
        EncodingError: the value has no exact JSON form; the message names the path.
    """
    return _encode(_canonical, value)


def wire_text(value: Any) -> str:
    """JSON text in the order the value has, without spaces. Raises `EncodingError`."""
    return _encode(_wire, value)


def wire_bytes(value: Any) -> bytes:
    """`wire_text` as UTF-8 bytes: the body that travels."""
    return wire_text(value).encode("utf-8")


def digest(value: Any) -> str:
    """SHA-256 of the canonical text of a plain JSON value, as 64 hexadecimal digits."""
    return hashlib.sha256(encode(value).encode("utf-8")).hexdigest()


def decode(text: str | bytes) -> Any:
    """Read JSON strictly: the inverse of `encode`.

    Raises:
        EncodingError: not JSON, a key twice in one object, NaN or Infinity, a number that
            overflows to infinity, wrong UTF-8, or nesting beyond `MAX_DEPTH`.
    """
    try:
        if not isinstance(text, str):  # json would also take UTF-16, and surrogates in UTF-8
            text = text.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except EncodingError:
        raise
    except (ValueError, RecursionError) as error:
        msg = f"This is not JSON that we can read exactly: {_cause(error)}."
        raise EncodingError(msg) from None
    if not is_plain(value):
        msg = f"This JSON is nested deeper than {MAX_DEPTH} levels, which no body needs."
        raise EncodingError(msg)
    return value


def loads(text: str | bytes) -> Any:
    """Read JSON as a server may send it: lenient about repeated keys (the last one wins).

    Raises:
        EncodingError: not JSON (NaN and Infinity included), a number that overflows to
            infinity, or nested too deeply for the parser.
    """
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except EncodingError:
        raise
    except (ValueError, RecursionError) as error:
        msg = f"This is not JSON: {_cause(error)}."
        raise EncodingError(msg) from None


def is_plain(value: Any) -> bool:
    """Whether all keys are strings and no nesting goes beyond MAX_DEPTH; level by level."""
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return True
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                for key, inner in item.items():
                    if not isinstance(key, str):
                        return False
                    if isinstance(inner, _CONTAINERS):
                        below.append(inner)
            else:
                below.extend([inner for inner in item if isinstance(inner, _CONTAINERS)])
        level = below
    return not level


def in_key_order(value: Any) -> Any:
    """The same JSON with the keys of its objects sorted, as a journal gives it back."""
    if isinstance(value, Mapping):
        return {key: in_key_order(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [in_key_order(item) for item in value]
    return value


def _encode(encoder: json.JSONEncoder, value: Any) -> str:
    # First what json would take and lose: keys that are no strings, and nesting we do not read.
    if not is_plain(value):
        _explain(value, "$", MAX_DEPTH)
    try:
        text = encoder.encode(value)
    except (TypeError, ValueError) as error:
        _explain(value, "$", MAX_DEPTH)
        msg = f"This value has no JSON form: {error}."
        raise EncodingError(msg, "digits") from None
    if not text.isascii() and _SURROGATE.search(text):
        if _SPLIT_PAIR.search(text):
            msg = (
                "A text holds a surrogate pair as two separate code points, which JSON cannot"
                " give back as it is; join it with .encode('utf-16', 'surrogatepass')"
                ".decode('utf-16') first."
            )
            raise EncodingError(msg, "halves")
        text = _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    return text


def _explain(value: Any, path: str, depth: int) -> None:
    """Raise the EncodingError that says where and what, if something here cannot be written."""
    if depth < 0:
        msg = f"The value is nested deeper than {MAX_DEPTH} levels at {path[:60]}…."
        raise EncodingError(msg, "too_deep", limit=str(MAX_DEPTH), path=f"{path[:60]}…")
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                msg = (
                    f"The key {key!r} at {path} is a {type(key).__name__}; JSON keys are strings:"
                    " convert it before, so that nothing is lost."
                )
                raise EncodingError(msg, "key", key=repr(key), path=path, type=type(key).__name__)
            _explain(inner, f"{path}.{key}", depth - 1)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _explain(inner, f"{path}[{index}]", depth - 1)
    elif isinstance(value, float) and not math.isfinite(value):
        msg = f"The number at {path} is {value!r}, which JSON has no form for."
        raise EncodingError(msg, "number", path=path, value=repr(value))
    elif value is not None and not isinstance(value, str | int | float):
        kind = type(value).__name__
        msg = f"The value at {path} is a {kind}, which JSON has no form for."
        raise EncodingError(msg, "type", path=path, type=kind)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        msg = f"The key {twice!r} stands twice in one object."
        raise EncodingError(msg)
    return result


def _no_constant(name: str) -> Any:
    msg = f"{name} is not JSON."
    raise EncodingError(msg)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        msg = f"The number {text[:30]} is too large for a float and would be lost."
        raise EncodingError(msg)
    return number


def _cause(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error)
