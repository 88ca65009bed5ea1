"""Cassettes from disk: ours by line, any other YAML by the strict loader, no code ever run.

Every fault is one `FileFormatError` with the file, the place and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_synaptum.cassette.entry import Entry, FieldError
from pytest_synaptum.cassette.layout import FORMAT, FORMAT_LINE, NotOurLayoutError
from pytest_synaptum.cassette.lines import read_lines
from pytest_synaptum.errors import FileFormatError
from pytest_synaptum.exchange import Exchange
from synaptum.canonical import decode
from synaptum.errors import EncodingError

__all__ = ["MAX_BYTES", "Cassette", "load_cassette", "parse_cassette"]

#: Largest cassette read, in bytes: ten times the 10 MB that is already hard to review.
MAX_BYTES: Final = 100_000_000

_REPAIR: Final = "restore it from version control, or record it again with --synaptum-rerecord"
_CONTROLS: Final = bytes({*range(32), 127} - {9, 10, 13})
#: Where the `json` module says that a text is wrong.
_JSON_PLACE: Final = re.compile(r": line (\d+) column (\d+) \(char \d+\)")
_VERSION: Final = re.compile(r"cassette/([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """What a cassette file holds.

    Attributes:
        where: the file, as messages name it.
        recorded: when, from which server and model, by which version of the plugin.
        text: what the file holds.
    """

    where: str
    recorded: Mapping[str, str]
    entries: list[Entry]
    text: str = field(repr=False)

    def exchanges(self) -> tuple[Exchange, ...]:
        """All exchanges, built. Raises `FileFormatError`."""
        return tuple(self.exchange(entry) for entry in self.entries)

    def exchange(self, entry: Entry) -> Exchange:
        """One entry's exchange, built. Raises `FileFormatError`."""
        try:
            return entry.exchange()
        except NotOurLayoutError:
            # Somebody edited this answer: the strict loader reads it, or says where it is wrong.
            return _from_yaml(self.text, self.where).entries[entry.number - 1].exchange()
        except FieldError as error:
            raise _wrong(self.where, f"{entry.name}, {error}") from None


def load_cassette(path: Path, where: str | None = None) -> Cassette:
    """Read a cassette.

    Args:
        path: the file.
        where: how messages name it; the path by default.

    Raises:
        FileFormatError: it is not a cassette we can read.
        FileNotFoundError: there is none.
    """
    name = where or str(path)
    size = path.stat().st_size
    if size > MAX_BYTES:
        msg = (
            f"{name}: the file has {size:,} bytes, and a cassette of more than {MAX_BYTES:,} is"
            " not read; split the test, or record it again with shorter answers."
        )
        raise FileFormatError(msg)
    return parse_cassette(path.read_bytes(), name)


def parse_cassette(data: bytes, where: str) -> Cassette:
    """Read the bytes of a cassette. Raises `FileFormatError`."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        msg = f"{where}: byte {error.start} is not UTF-8, so this is no cassette; {_REPAIR}."
        raise FileFormatError(msg) from None
    # A checkout with Windows line ends changes no exchange: bodies spell their CRs as \r.
    text = text.replace("\r\n", "\n") if "\r\n" in text else text
    ours = text.startswith(FORMAT_LINE) and len(data.translate(None, _CONTROLS)) == len(data)
    if ours:
        try:
            recorded, entries = read_lines(text)
            return Cassette(where=where, recorded=recorded, entries=entries, text=text)
        except (NotOurLayoutError, FieldError):
            pass  # read, or refused with the exact place, below
    return _from_yaml(text, where)


def _from_yaml(text: str, where: str) -> Cassette:
    from pytest_synaptum.strict_yaml import load

    value = load(text, source=where)
    if not isinstance(value, dict) or "synaptum" not in value:
        msg = (
            f"{where}: this is no cassette: it does not begin with `synaptum: {FORMAT}`; {_REPAIR}."
        )
        raise FileFormatError(msg)
    _check_version(value["synaptum"], where)
    for key in value:
        if key not in {"synaptum", "recorded", "exchanges", "timings"}:
            raise _wrong(where, f"unknown key {key!r}")
    if value.get("timings") is None:
        msg = f"{where}: the file was cut short: it ends before its `timings`; {_REPAIR}."
        raise FileFormatError(msg)
    recorded = value.get("recorded", {})
    if not isinstance(recorded, dict) or not all(isinstance(v, str) for v in recorded.values()):
        raise _wrong(where, "recorded is not a map of texts")
    listed, timings = value.get("exchanges"), value["timings"]
    if not isinstance(listed, list):
        raise _wrong(where, "exchanges is not a list")
    entries = []
    for index, item in enumerate(listed):
        try:
            times = _times(timings, index, len(listed))
            entry = _entry(item, index + 1, times)
            # A file that somebody edited is checked whole and now, not when a test gets to it.
            entry.exchange()
        except FieldError as error:
            place = f"exchange {index + 1} (line {_line_of(text, index)})"
            raise _wrong(where, f"{place}, {error}") from None
        entries.append(entry)
    return Cassette(where=where, recorded=recorded, entries=entries, text=text)


def _line_of(text: str, index: int) -> int:
    """The line at which an exchange begins, in any YAML that was read."""
    import yaml

    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    exchanges = next(value for key, value in root.value if key.value == "exchanges")
    return int(exchanges.value[index].start_mark.line) + 1


def _entry(item: Any, number: int, timings: list[float | None]) -> Entry:
    if not isinstance(item, dict):
        msg = "it is not a map"
        raise FieldError(msg)
    for key in item:
        if key not in {"about", "request", "response"}:
            msg = f"unknown key {key!r}"
            raise FieldError(msg)
    request = _section(item, "request")
    if "response" not in item:
        msg = "response is missing; the file may have been cut short"
        raise FieldError(msg)
    response = None if item["response"] is None else _section(item, "response")
    return Entry(number, None, request, lambda: response, timings)


def _section(item: dict[str, Any], name: str) -> dict[str, Any]:
    section = item.get(name)
    if not isinstance(section, dict):
        msg = f"{name} is missing or not a map"
        raise FieldError(msg)
    fields = dict(section)
    if isinstance(fields.get("json"), str):
        try:
            fields["json"] = decode(fields["json"])
        except EncodingError as error:
            cause = str(error).removeprefix("This is not JSON that we can read exactly: ")
            cause = _JSON_PLACE.sub(r" in line \1 of its text, column \2", cause.rstrip("."))
            msg = f"{name}.json is not JSON: {cause}"
            raise FieldError(msg) from None
    if isinstance(fields.get("sse"), str):
        fields["sse"] = fields["sse"].removesuffix("\n").split("\n")
    return fields


def _times(timings: Any, index: int, count: int) -> list[float | None]:
    if timings == []:
        return []
    if not isinstance(timings, list) or len(timings) != count:
        msg = f"timings does not hold one list for each of the {count} exchanges"
        raise FieldError(msg)
    numbers = timings[index]
    if not isinstance(numbers, list) or not all(n is None or type(n) is int for n in numbers):
        msg = "its timings are not a list of milliseconds"
        raise FieldError(msg)
    return numbers


def _check_version(version: Any, where: str) -> None:
    if version == FORMAT:
        return
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match and int(match.group(1)) > 1:
        msg = (
            f"{where}: this cassette has format {version}, newer than the {FORMAT} that this"
            " plugin reads; upgrade pytest-synaptum, or record it again with --synaptum-rerecord."
        )
    else:
        msg = f"{where}: `synaptum: {version!r:.40}` is no cassette format we know; {_REPAIR}."
    raise FileFormatError(msg)


def _wrong(where: str, what: str) -> FileFormatError:
    return FileFormatError(f"{where}: {what}; {_REPAIR}.")
