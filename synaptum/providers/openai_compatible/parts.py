"""Content parts of a request as the dialect writes them.

Text alone travels as a plain string, which every server takes; a turn with other parts
travels as a list. Source: API reference, "Create chat completion", `messages[].content`,
read 2026-11-30.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from synaptum.errors import UnsupportedRequestError
from synaptum.vocabulary import Audio, ContentPart, Document, Image, Text

__all__ = ["content_of", "text_of"]

#: Media type -> the word of `input_audio.format`.
_AUDIO_FORMATS: Final = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}


def text_of(parts: Iterable[ContentPart], where: str) -> str:
    """The text of a turn that may hold nothing else. Raises `UnsupportedRequestError`."""
    return str(content_of(parts, where, ()))


def content_of(
    parts: Iterable[ContentPart],
    where: str,
    media: Collection[str],
    *,
    empty: str | None = None,
    instead: str = "",
) -> str | list[dict[str, Any]]:
    """The content of a turn: a string for text alone, else a list of parts.

    Args:
        parts: what the turn holds.
        where: names the turn in an error.
        media: the kinds besides `text` that may travel here.
        empty: what a turn without any part says; None refuses it.
        instead: a sentence on what to do about a part that may not travel.

    Raises:
        UnsupportedRequestError: a part has no shape here.
    """
    wire: list[dict[str, Any]] = []
    only_text = True
    for part in parts:
        if isinstance(part, Text):
            wire.append({"type": "text", "text": part.text})
            continue
        only_text = False
        if part.kind not in media:
            msg = (
                f"The {part.kind} part of {where} cannot be sent: this server takes"
                f" {', '.join(sorted(('text', *media)))} there. Nothing was sent.{instead}"
            )
            raise UnsupportedRequestError(msg)
        wire.append(_media(part, where))
    if only_text:
        if wire:
            return "".join(item["text"] for item in wire)
        if empty is not None:
            return empty
        msg = f"The turn at {where} holds no part, so it cannot be sent; leave it out."
        raise UnsupportedRequestError(msg)
    return wire


def _media(part: ContentPart, where: str) -> dict[str, Any]:
    if isinstance(part, Image):
        url = part.url if part.url is not None else _data_url(part.media_type, part.data)
        return {"type": "image_url", "image_url": {"url": url}}
    if isinstance(part, Audio):
        audio_format = _AUDIO_FORMATS.get(part.media_type)
        if part.data is None or audio_format is None:
            msg = (
                f"The audio part of {where} cannot be sent: the dialect takes wav and mp3 given as"
                f" data, not {part.media_type}{'' if part.data else ' by url'}. Nothing was sent."
            )
            raise UnsupportedRequestError(msg)
        return {"type": "input_audio", "input_audio": {"data": part.data, "format": audio_format}}
    if isinstance(part, Document):
        if part.data is None:
            msg = (
                f"The document part of {where} cannot be sent: the dialect takes its data, not a"
                " url. Fetch it and pass data=. Nothing was sent."
            )
            raise UnsupportedRequestError(msg)
        inner = {"filename": part.name or "document"}
        inner["file_data"] = _data_url(part.media_type, part.data)
        return {"type": "file", "file": inner}
    msg = f"The {part.kind} part of {where} cannot be sent: the dialect has no shape for it there."
    raise UnsupportedRequestError(msg)


def _data_url(media_type: str, data: str | None) -> str:
    return f"data:{media_type};base64,{data}"
