"""A case: `case.yaml` read and checked, with the places of its evidence and conclusions.

`corpus/FORMAT.md` is the contract; this module refuses what it does not allow. A case
never opens its exchange or its golden; it only knows where they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pytest_synaptum import strict_yaml
from pytest_synaptum.corpus.flags import FLAGS_FILE, Flags
from pytest_synaptum.corpus.shape import Shape, shown
from pytest_synaptum.errors import FileFormatError
from synaptum.errors import EncodingError
from synaptum.vocabulary import Request
from synaptum.vocabulary.codec import from_json

__all__ = ["CASE_FILE", "CASE_FORMAT", "Ask", "Case", "Source", "is_case_file", "load_case"]

CASE_FILE: Final = "case.yaml"
CASE_FORMAT: Final = "case/1"
_PATH: Final = "/v1/chat/completions"
#: In place of a request: the one of the ask before, such as for its streamed form.
_PREVIOUS: Final = "previous"
#: Names of folders are ids: they travel through file systems and shells of every kind.
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,79}\Z")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question of a case: a neutral request, or a raw body that no adapter would write.

    Attributes:
        request: what the adapter turns into a body; None where `body` or nothing is given.
        body: the JSON body as it travels.
        stream: whether the answer is asked for as a stream.
        close_after: events after which the caller closes the stream, when recording.
        lint: ids of the wire-lint rules that the body breaks on purpose.
    """

    request: Request | None = None
    body: Mapping[str, Any] | None = None
    stream: bool = False
    method: str = "POST"
    path: str = _PATH
    close_after: int | None = None
    lint: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the answer comes from.

    Attributes:
        server: who answered (recorded, imported).
        model: which model answered (recorded, imported where the answer says).
        date: when it was recorded, its shape last seen, or it was imported, `2026-11-30`.
        seen_at: servers that the shape was seen at (derived); empty where it was not seen,
            and then `reference` says what makes it possible.
        repository: where somebody else published it (imported).
        licence: under which licence (imported), where the file says.
        capture: how true to the wire it is (imported), `raw` or what was written anew.
    """

    date: str
    server: str | None = None
    model: str | None = None
    version: str | None = None
    seen_at: tuple[str, ...] = ()
    reference: str | None = None
    repository: str | None = None
    licence: str | None = None
    capture: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case of the corpus.

    Attributes:
        id: folders below the corpus, such as `openai_chat/llama.cpp/plain-text`.
        same_answer: all asks have the same answer, in other forms (whole and streamed).
        needs: what whoever records has to set up (`fresh_server`, `template` ...).
        masks: paths in the golden that differ from recording to recording.
        profile: profile of the reference adapter, where the case is about one.
    """

    folder: Path
    id: str
    summary: str
    kind: Literal["recorded", "derived", "imported"]
    flags: tuple[str, ...]
    source: Source
    asks: tuple[Ask, ...]
    same_answer: bool = False
    needs: Mapping[str, Any] = field(default_factory=dict)
    masks: tuple[str, ...] = ()
    profile: str | None = None

    @property
    def dialect(self) -> str:
        """The wire format, such as `openai_chat`."""
        return self.id.split("/", 1)[0]

    @property
    def shown_folder(self) -> str:
        """The folder as messages name it: from here, where it is below here."""
        return shown(self.folder)

    @property
    def exchange_path(self) -> Path:
        """The evidence: a cassette that only recording writes."""
        return self.folder / "exchange.yaml"

    @property
    def golden_path(self) -> Path:
        """The conclusions, which only an update writes."""
        return self.folder / "golden.yaml"


def is_case_file(path: Path) -> bool:
    """Whether this is a file of ours: by its name and first line, or by its place in a corpus.

    A case that lost its first line is damaged, and must not be passed over.
    """
    if path.name != CASE_FILE:
        return False
    if _begins(path, b"synaptum: case/"):
        return True
    corpus = path.parents[3] if len(path.parents) > 3 else path.parent
    return (corpus / FLAGS_FILE).is_file() and _begins(corpus / FLAGS_FILE, b"synaptum: flags/")


def _begins(path: Path, word: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf").startswith(word)


def load_case(path: Path, flags: Flags) -> Case:
    """Read `case.yaml` at `path`.

    Raises:
        FileFormatError: not a case that FORMAT.md allows; names the file, the key and what
            to do.
    """
    value = strict_yaml.load_file(path, shown(path))
    shape = Shape(path)
    root = shape.mapping(value, "the file")
    _check_format(root.get("synaptum"), shape.where)
    shape.keys(root, "the file", _KEYS, required=_REQUIRED)
    case_id = _identity(path, flags, shape)
    kind = root["kind"]
    if kind not in _SOURCE_KEYS:
        shape.refuse("kind", "is `recorded`, `derived` or `imported`", kind)
    if ("derived" in case_id.split("/")) != (kind == "derived"):
        msg = (
            f"{shape.where}: a derived case stands under <dialect>/derived/, any other under"
            f" <dialect>/<server>/; this one says `kind: {kind}`. Move it, or correct the kind."
        )
        raise FileFormatError(msg)
    words = shape.texts(root["flags"], "flags")
    for word in words:
        if word not in flags.sentences:
            known = ", ".join(flags.near(word))
            msg = (
                f"{shape.where}: the flag {word!r} is not in {shown(flags.path)}; near it are"
                f" {known}. Use one of these, or explain the new one there."
            )
            raise FileFormatError(msg)
    return Case(
        folder=path.parent,
        id=case_id,
        summary=_summary(root["summary"], shape),
        kind=kind,
        flags=words,
        source=_source(root["source"], kind, shape),
        asks=_asks(root["asks"], shape),
        same_answer=shape.boolean(root.get("same_answer", False), "same_answer"),
        needs=shape.mapping(root.get("needs", {}), "needs"),
        masks=shape.texts(root.get("masks", []), "masks"),
        profile=shape.optional_text(root.get("profile"), "profile"),
    )


_REQUIRED = ("synaptum", "summary", "kind", "flags", "source", "asks")
_KEYS = (*_REQUIRED, "same_answer", "needs", "masks", "profile")
_ASK_KEYS = ("request", "body", "stream", "method", "path", "close_after", "lint")
_SOURCE_KEYS = {
    "recorded": ("server", "model", "date", "version"),
    "derived": ("seen_at", "date", "reference"),
    "imported": ("server", "model", "date", "repository", "licence", "capture"),
}
_SOURCE_REQUIRED = {
    "recorded": ("server", "model", "date"),
    "derived": ("seen_at", "date"),
    "imported": ("server", "date"),
}


def _check_format(word: Any, where: str) -> None:
    if word == CASE_FORMAT:
        return
    if isinstance(word, str) and word.startswith("case/"):
        msg = (
            f"{where} is of the format {word}, and this version reads {CASE_FORMAT}; install a"
            " newer pytest-synaptum."
        )
    else:
        msg = f"{where}: the first line of a case is `synaptum: {CASE_FORMAT}`, found {word!r}."
    raise FileFormatError(msg)


def _identity(path: Path, flags: Flags, shape: Shape) -> str:
    parts = path.resolve().parent.relative_to(flags.path.resolve().parent).parts
    if len(parts) != 3:
        msg = (
            f"{shape.where}: a case stands in <dialect>/<server>/<what-it-shows>/ below"
            f" {shown(flags.path.parent)}, this one in {'/'.join(parts)}; move it."
        )
        raise FileFormatError(msg)
    for part in parts:
        if not _NAME.match(part):
            shape.refuse("its folder", "is of a-z, 0-9, _, . and -", part)
    return "/".join(parts)


def _summary(value: Any, shape: Shape) -> str:
    text = shape.text(value, "summary").strip()
    if not text.endswith(".") or "\n" in text or len(text) > 200:
        shape.refuse("summary", "is one sentence that ends in a full stop", text)
    return text


def _source(value: Any, kind: str, shape: Shape) -> Source:
    source = shape.mapping(value, "source")
    shape.keys(source, "source", _SOURCE_KEYS[kind], required=_SOURCE_REQUIRED[kind])
    date = shape.text(source["date"], "source.date")
    if not _DATE.match(date):
        shape.refuse("source.date", "is a day such as 2026-11-30", date)
    seen_at = shape.texts(source.get("seen_at", []), "source.seen_at")
    reference = shape.optional_text(source.get("reference"), "source.reference")
    if kind == "derived" and not seen_at and reference is None:
        shape.refuse("source", "names the servers it was `seen_at`, or else a `reference`", source)
    return Source(
        date=date,
        server=shape.optional_text(source.get("server"), "source.server"),
        model=shape.optional_text(source.get("model"), "source.model"),
        version=shape.optional_text(source.get("version"), "source.version"),
        seen_at=seen_at,
        reference=reference,
        **{
            key: shape.optional_text(source.get(key), f"source.{key}")
            for key in ("repository", "licence", "capture")
        },
    )


def _asks(value: Any, shape: Shape) -> tuple[Ask, ...]:
    if not isinstance(value, list) or not value:
        shape.refuse("asks", "is a list of at least one ask", value)
    asks: list[Ask] = []
    for index, item in enumerate(value):
        asks.append(_ask(item, f"asks[{index}]", asks[-1] if asks else None, shape))
    return tuple(asks)


def _ask(value: Any, where: str, before: Ask | None, shape: Shape) -> Ask:
    ask = shape.mapping(value, where)
    shape.keys(ask, where, _ASK_KEYS, required=())
    if "request" in ask and "body" in ask:
        shape.refuse(where, "has a `request` or a `body`, not both", sorted(ask))
    request: Request | None = None
    if ask.get("request") == _PREVIOUS:
        if before is None or before.request is None:
            shape.refuse(f"{where}.request", "has a request before it to repeat", _PREVIOUS)
        request = before.request
    elif "request" in ask:
        try:
            request = from_json(Request, ask["request"])
        except EncodingError as error:
            msg = f"{shape.where}: {where}.request is no request. {error}"
            raise FileFormatError(msg) from None
    close_after = ask.get("close_after")
    if close_after is not None and (type(close_after) is not int or close_after < 1):
        shape.refuse(f"{where}.close_after", "is a number of events from 1", close_after)
    return Ask(
        request=request,
        body=shape.mapping(ask["body"], f"{where}.body") if "body" in ask else None,
        stream=shape.boolean(ask.get("stream", False), f"{where}.stream"),
        method=shape.text(ask.get("method", "POST"), f"{where}.method"),
        path=shape.text(ask.get("path", _PATH), f"{where}.path"),
        close_after=close_after,
        lint=shape.texts(ask.get("lint", []), f"{where}.lint"),
    )
