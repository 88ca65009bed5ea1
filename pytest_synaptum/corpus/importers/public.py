"""One exchange as a JSON file with its provenance: the format of collected public exchanges.

Keys: `source` (repo, path, commit, license), `server_host_kind`, `capture`, `request` (the
body, or null), `status`, `content_type`, and one of `response_json`, `response_sse`,
`response_text`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_synaptum.corpus.importers.finding import CHAT_SUFFIX, Finding, Found, LeftOut, Origin
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse
from synaptum.canonical import wire_bytes

__all__ = ["is_public", "read_public"]

_SOURCE: Final = ("repo", "path", "license")
_ANSWERS: Final = ("response_json", "response_sse", "response_text")


def _are_texts(*values: Any) -> bool:
    return all(value is None or isinstance(value, str) for value in values)


def is_public(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is of this format."""
    return "server_host_kind" in value and any(key in value for key in _ANSWERS)


def read_public(path: Path, value: Mapping[str, Any]) -> Iterator[Finding]:
    """The exchange of one file.

    Header fields but content-type are not kept in this format, and neither are chunk
    boundaries: a stream comes as one chunk. JSON bodies were parsed when collected, so their
    spacing is ours.
    """
    status = value.get("status")
    answers = [key for key in _ANSWERS if key in value]
    source = value.get("source") or {}
    kind = value.get("content_type")
    if (
        not isinstance(status, int)
        or len(answers) != 1
        or not isinstance(source, Mapping)
        or not _are_texts(kind, value["server_host_kind"], *map(source.get, _SOURCE))
    ):
        reason = "it has no status, not exactly one answer, or a text that is none"
        yield LeftOut(file=str(path), number=1, reason=reason)
        return
    answer = value[answers[0]]
    body = wire_bytes(answer) if answers[0] == "response_json" else str(answer).encode("utf-8")
    asked = value.get("request")
    exchange = Exchange(
        request=RecordedRequest(
            method="POST",
            path=f"/v1{CHAT_SUFFIX}",
            body=b"" if asked is None else wire_bytes(asked),
        ),
        response=RecordedResponse(
            status=status,
            headers=(("content-type", kind),) if kind else (),
            chunks=(body,) if body else (),
        ),
    )
    repository = f"{source.get('repo')}: {source.get('path')}" if source.get("repo") else None
    origin = Origin(
        file=str(path),
        number=1,
        server=value["server_host_kind"],
        licence=source.get("license"),
        repository=repository,
        faithful=str(value.get("capture", "raw")),
    )
    yield Found(exchange=exchange, origin=origin, has_request=asked is not None)
