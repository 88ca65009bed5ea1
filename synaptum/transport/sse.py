"""Server-sent events, incrementally and as the standard says.

In:  pieces of bytes, cut anywhere. Out: the `data` of each event, as text.
Lines end with LF, CR or CRLF and nothing else (U+2028 and U+0085 are text). Comments and
other fields (`event`, `id`, `retry`) are read over, because the dialects we know repeat in
the data what they put there. Bytes that are no UTF-8 become U+FFFD, as the standard asks.
The first `[DONE]` ends the stream; what follows it is dropped.

Source: WHATWG HTML, 9.2.6 "Interpreting an event stream", read 2026-11; `[DONE]` is the
chat completions dialect's own end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["DONE", "SseParser", "looks_like_sse", "sse_data"]

DONE: Final = "[DONE]"

_BOM: Final = b"\xef\xbb\xbf"


class SseParser:
    """Reads one stream of events.

    Attributes:
        is_done: `[DONE]` was read; where it stays false to the end of the bytes, only the
            events themselves can tell whether the answer is whole.
    """

    def __init__(self) -> None:
        self.is_done = False
        self._partial: list[bytes] = []  # pieces of a line whose end has not come
        self._data: list[bytes] = []  # data lines of the event being read
        self._after_cr = False  # the last piece ended with CR: a LF now belongs to it
        self._at_start = True

    def feed(self, piece: bytes) -> list[str]:
        """The data of the events that `piece` completes."""
        if self.is_done or not piece:
            return []
        if self._after_cr:
            self._after_cr = False
            if piece[0] == 0x0A:
                piece = piece[1:]
        if self._partial:
            # Join only when the line ends: a long line in tiny pieces stays linear.
            if b"\n" not in piece and b"\r" not in piece:
                self._partial.append(piece)
                return []
            self._partial.append(piece)
            piece = b"".join(self._partial)
            self._partial = []
        # bytes.splitlines knows LF, CR and CRLF only, unlike that of str.
        lines = piece.splitlines()
        if piece.endswith(b"\r"):
            self._after_cr = True
        elif lines and not piece.endswith(b"\n"):
            self._partial.append(lines.pop())
        return self._read(lines)

    def close(self) -> list[str]:
        """The data of an event that the end of the bytes left without its blank line.

        The standard drops it; some servers end so (their last event may even lack its line
        end), and the caller can see by the data whether it is whole.
        """
        lines = [b"".join(self._partial), b""] if self._partial else [b""]
        self._partial = []
        return [] if self.is_done else self._read(lines)

    def _read(self, lines: list[bytes]) -> list[str]:
        events: list[str] = []
        data = self._data
        for line in lines:
            if self._at_start:
                self._at_start = False
                line = line.removeprefix(_BOM)
            if line.startswith(b"data:"):
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                if data:
                    text = b"\n".join(data).decode("utf-8", "replace")
                    data.clear()
                    if text.strip() == DONE:
                        self.is_done = True
                        break
                    events.append(text)
            elif line == b"data":
                data.append(b"")
        return events


def sse_data(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of all events in `pieces`, lazily, up to `[DONE]` or the end."""
    parser = SseParser()
    for piece in pieces:
        yield from parser.feed(piece)
        if parser.is_done:
            return
    yield from parser.close()


def looks_like_sse(head: bytes) -> bool | None:
    """Whether a body that begins so is a stream of events; None where it is too early to say.

    For servers that send events under a JSON content type, or under none.
    """
    text = head.removeprefix(_BOM).lstrip()
    if not text or (len(head) < len(_BOM) and _BOM.startswith(head)):
        return None
    for name in (b"data", b"event", b"id", b"retry", b""):
        field = name + b":"
        if text.startswith(field):
            return True
        if field.startswith(text):
            return None
    return False
