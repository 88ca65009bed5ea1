"""Reading: libyaml's events, and our own and much smaller idea of what they may say."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from pytest_synaptum.errors import FileFormatError

__all__ = ["MAX_BYTES", "MAX_DEPTH", "load", "load_file"]

#: Largest file read. A cassette of a long day is some 10 MB; PyYAML needs about ten times
#: the file in memory, so that a larger one would be felt by the whole test run.
MAX_BYTES: Final = 64 * 2**20
#: Deepest nesting read and written: that of `synaptum.canonical`, and the file's own levels.
MAX_DEPTH: Final = 220

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
_WORDS: Final[dict[str, bool | None]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
# libyaml refuses \ud800 in a quoted scalar, PyYAML's own parser takes it: the only text
# with a lone surrogate that YAML can carry.
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class _Parser(Protocol):
    def get_event(self) -> Any: ...


class _PythonParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


def _fastest() -> Callable[[str], _Parser]:
    """The parser of libyaml, or PyYAML's own where it is not to be had: slower, and the same."""
    parser: Callable[[str], _Parser] | None = getattr(getattr(yaml, "cyaml", None), "CParser", None)
    # Where modules are imported anew in one process (pytester does), the C extension stays as
    # it is, and gives events of the first import's classes: we would wait for their end forever.
    if parser is None or type(parser("").get_event()) is not StreamStartEvent:
        return _PythonParser
    return parser


_fast_parser: Final = _fastest()


def load_file(path: Path, source: str | None = None) -> Any:
    """The value in a file. Files of equal bytes are read once: do not change what you get.

    Args:
        path: the file.
        source: how messages name it; the path by default.

    Raises:
        FileFormatError: not a file we can read; names the file and the line.
        OSError: no such file, or no permission.
    """
    source = source or str(path)
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise _too_large(source, size)
    data = path.read_bytes()
    if len(data) > _CACHED_BYTES:
        return load(data, source=source)
    digest = hashlib.blake2b(data, digest_size=16).digest()
    if digest not in _cache:
        while len(_cache) >= _CACHE_SIZE:
            _cache.pop(next(iter(_cache)), None)
        _cache[digest] = load(data, source=source)
    return _cache[digest]


def load(text: str | bytes, *, source: str) -> Any:
    """The value in a text of ours, as plain JSON values.

    Args:
        text: YAML, as UTF-8 where bytes.
        source: what an error calls it, such as the file's path.

    Raises:
        FileFormatError: not YAML, or YAML beyond what the module's contract allows.
    """
    if len(text) > MAX_BYTES:
        raise _too_large(source, len(text))
    if isinstance(text, bytes):
        text = _decoded(text, source)
    text = text.removeprefix("\ufeff")
    try:
        return _build(_fast_parser(text), source)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if _SURROGATE_ESCAPE.search(text) and _fast_parser is not _PythonParser:
            try:
                return _build(_PythonParser(text), source)
            except (yaml.YAMLError, ValueError, RecursionError):
                pass
        raise _unreadable(source, error) from None


#: Files above this are read each time: a cache must not hold cassettes.
_CACHED_BYTES: Final = 256 * 1024
#: Values by the digest of their file; small, so that a run over thousands of files stays flat.
_CACHE_SIZE: Final = 64
_cache: dict[bytes, Any] = {}


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        msg = (
            f"{source}, line {line}: byte {error.start} is not UTF-8; save the file as UTF-8, or"
            " restore it from version control."
        )
        raise FileFormatError(msg) from None


def _too_large(source: str, size: int) -> FileFormatError:
    msg = (
        f"{source} has {size:,} bytes, and at most {MAX_BYTES:,} are read; split the test so that"
        " each file holds fewer exchanges."
    )
    return FileFormatError(msg)


def _unreadable(source: str, error: Exception) -> FileFormatError:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark is not None else ""
        cause = error.problem or error.context or "it is not YAML"
    elif isinstance(error, RecursionError):
        where, cause = "", "it is nested too deeply"
    else:  # a ReaderError, or a number beyond what Python reads; neither knows its line
        where = ""
        cause = str(getattr(error, "reason", None) or error).splitlines()[0]
    msg = (
        f"{source}{where}: this is not YAML that we can read ({cause}); restore the file from"
        " version control, or write it again."
    )
    return FileFormatError(msg)


def _at(source: str, event: Any, what: str) -> FileFormatError:
    return FileFormatError(f"{source}, line {event.start_mark.line + 1}: {what}")


_NO_KEY: Final = object()


def _build(parser: _Parser, source: str) -> Any:
    """Build the value from the parser's events, without recursion."""
    stack: list[tuple[Any, Any]] = []  # containers around us, each with its pending key
    container: Any = None
    key: Any = _NO_KEY
    result: Any = None
    documents = 0
    while True:
        event = parser.get_event()
        kind = type(event)
        if kind is ScalarEvent:
            if event.tag is not None:
                raise _tagged(source, event)
            value: Any = event.value
            if event.style is None or event.style == "":
                if type(container) is dict and key is _NO_KEY and value == "<<":
                    raise _at(source, event, "merge keys (<<) are not read; write the keys out.")
                value = _resolve(value, source, event)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if event.tag is not None:
                raise _tagged(source, event)
            if type(container) is dict and key is _NO_KEY:
                raise _at(source, event, "a key is a list or a mapping; write it as text.")
            if len(stack) >= MAX_DEPTH:
                raise _at(
                    source,
                    event,
                    f"nested deeper than {MAX_DEPTH} levels, which is not read; write it flatter.",
                )
            stack.append((container, key))
            container = {} if kind is MappingStartEvent else []
            key = _NO_KEY
            continue
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            value = container
            container, key = stack.pop()
        elif kind is AliasEvent:
            raise _at(source, event, "aliases (*name) are not read; write the value out.")
        elif kind is DocumentStartEvent:
            documents += 1
            if documents > 1:
                raise _at(source, event, "a second document begins here; one file holds one.")
            continue
        elif kind is StreamEndEvent:
            return result
        else:
            continue

        if container is None:
            result = value
        elif type(container) is list:
            container.append(value)
        elif key is _NO_KEY:
            if type(value) is not str:
                raise _at(source, event, f"the key {event.value} is not text; put it in quotes.")
            if value in container:
                raise _at(source, event, f"the key {value!r} stands here twice; remove one.")
            key = value
        else:
            container[key] = value
            key = _NO_KEY


def _tagged(source: str, event: Any) -> FileFormatError:
    return _at(source, event, f"tags ({event.tag}) are not read; remove it.")


def _resolve(text: str, source: str, event: Any) -> Any:
    """What a plain scalar means: JSON's scalars, everything else is text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-0123456789":
        return text
    match = _NUMBER.match(text)
    if match is None:
        return text
    if match.group(1) is None and match.group(2) is None:
        try:
            return int(text) if text != "-0" else text
        except ValueError:
            raise _at(source, event, "a number of more digits than are read.") from None
    number = float(text)
    if not math.isfinite(number):
        raise _at(source, event, f"the number {text[:30]} is too large for a float.")
    return number
