"""Recorded answers as a loopback server, and a real server recorded while it is forwarded to.

Contract: what was recorded is sent as it was recorded: status, kept headers, the same chunks,
the same end (a lost connection is lost again). Equal requests get their answers in recorded
order, and the last one again when they run out, since a server outlives many runs of an agent.
A case is also asked by its id: `"model": "openai_chat/derived/stream-call-fragments"`.

Starlette and uvicorn (the extra `serve`) are imported when a server is made.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.cassette.match import ABSENT, Matcher, body_value, differences
from pytest_synaptum.cassette.recorder import Recorder, Slot
from pytest_synaptum.corpus.case import Case
from pytest_synaptum.errors import PluginError
from pytest_synaptum.exchange import LOST, Exchange, RecordedResponse
from pytest_synaptum.redact import Redactor

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["Answers", "forwarding_app", "replaying_app"]

#: Fields that describe one connection, never passed on; and what we write anew.
_OF_THE_HOP: Final = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "date",
        "host",
        "keep-alive",
        "server",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_NEVER: Final = "the recorded connection failed before any answer"
#: Waiting for a model on slow hardware.
_TIMEOUT_S: Final = 300.0


class Answers:
    """Every recorded exchange, by its request and by the id of its case."""

    def __init__(self) -> None:
        self._matcher = Matcher()
        self._redactor = Redactor()
        self._lock = threading.Lock()
        self._by_request: dict[Hashable, list[Exchange]] = {}
        self._by_name: dict[str, list[Exchange]] = {}
        self._next: dict[Hashable, int] = {}

    @classmethod
    def of_cases(cls, cases: Iterable[Case]) -> Answers:
        """The answers of a corpus. Raises `FileFormatError`."""
        answers = cls()
        for case in cases:
            if case.exchange_path.is_file():
                answers.add(load_cassette(case.exchange_path).exchanges(), case.id)
        return answers

    @classmethod
    def of_cassette(cls, path: Path) -> Answers:
        """The answers of one cassette. Raises `FileFormatError`."""
        answers = cls()
        answers.add(load_cassette(path).exchanges(), None)
        return answers

    def add(self, exchanges: Sequence[Exchange], name: str | None) -> None:
        """Take in exchanges, in order; `name` asks for them in place of a model."""
        for exchange in exchanges:
            request = exchange.request
            if request.body:
                key = self._matcher.key(request.method, request.path, body_value(request.body))
                self._by_request.setdefault(key, []).append(exchange)
            if name is not None:
                self._by_name.setdefault(name, []).append(exchange)

    @property
    def names(self) -> list[str]:
        """Ids that can be asked for as a model."""
        return list(self._by_name)

    def find(self, method: str, path: str, body: bytes) -> RecordedResponse | LookupError | None:
        """The answer; None where the recorded connection failed; a `LookupError` says why none."""
        self._redactor.learn_body(body)
        value = body_value(self._redactor.body(body))
        key = self._matcher.key(method, path, value)
        found = self._by_request.get(key)
        if found is None and isinstance(value, Mapping):
            name = value.get("model")
            streamed = value.get("stream") is True
            key = (name, streamed)
            found = (
                [
                    exchange
                    for exchange in self._by_name.get(name, ())
                    if _is_streamed(exchange) == streamed
                ]
                if isinstance(name, str)
                else None
            )
        if not found:
            return LookupError(self._nothing(method, path, value))
        with self._lock:
            index = self._next.get(key, 0)
            self._next[key] = index + 1
        return found[min(index, len(found) - 1)].response

    def _nothing(self, method: str, path: str, value: Any) -> str:
        """Why nothing answers, with the nearest recorded question."""
        near: tuple[int, str] | None = None
        for exchanges in self._by_request.values():
            request = exchanges[0].request
            if (request.method, request.path) != (method, path):
                continue
            differ = differences(body_value(request.body), value)
            if differ and (near is None or len(differ) < near[0]):
                place, recorded, asked = differ[0]
                near = len(differ), f"{place} is {_short(recorded)} there, {_short(asked)} here"
        hint = (
            "its model is no case's id (GET /v1/models lists them)"
            if self._by_name
            else "it was recorded with other questions"
        )
        nearest = f" The nearest recorded one differs first where {near[1]}." if near else ""
        return f"No recorded exchange answers {method} {path} with this body, and {hint}.{nearest}"


def _short(value: Any) -> str:
    shown = repr(value) if isinstance(value, bytes) or value is ABSENT else json.dumps(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


def _is_streamed(exchange: Exchange) -> bool:
    recorded = exchange.response
    return recorded is not None and recorded.body.lstrip()[:1] not in (b"{", b"[", b"<", b"")


def replaying_app(answers: Answers, *, delays: bool) -> Starlette:
    """The application that answers as recorded; with `delays`, as slowly too."""
    from starlette.responses import JSONResponse

    async def models(request: Request) -> Response:
        data = [{"id": name, "object": "model", "owned_by": "corpus"} for name in answers.names]
        return JSONResponse({"object": "list", "data": data})

    async def answer(request: Request) -> Response:
        body = await request.body()
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        found = answers.find(request.method, path, body)
        if isinstance(found, LookupError):
            error = {"message": str(found), "type": "not_recorded", "param": None, "code": None}
            return JSONResponse({"error": error}, status_code=404)
        if found is None:
            raise ConnectionAbortedError(_NEVER)
        return _response(found.status, found.headers, _recorded(found, delays))

    return _app([("/v1/models", ["GET"], models), ("/{path:path}", None, answer)])


def forwarding_app(base_url: str, recorder: Recorder, api_key: str | None) -> Starlette:
    """The application that asks a real server and keeps what it says, chunk by chunk.

    Args:
        base_url: the real server's, such as `http://127.0.0.1:8080/v1`.
        recorder: where exchanges are kept, untouched.
        api_key: sent in place of the client's own key, where it is given.
    """
    import httpx

    root = base_url.rstrip("/").removesuffix("/v1")
    client = httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False)

    async def forward(request: Request) -> Response:
        from starlette.responses import JSONResponse

        body = await request.body()
        url = root + request.url.path + (f"?{request.url.query}" if request.url.query else "")
        headers = [(k, v) for k, v in request.headers.items() if k not in _OF_THE_HOP]
        # What cannot be unpacked cannot be reviewed.
        headers = [pair for pair in headers if pair[0] != "accept-encoding"]
        headers.append(("accept-encoding", "identity"))
        if api_key is not None:
            headers = [pair for pair in headers if pair[0] != "authorization"]
            headers.append(("authorization", f"Bearer {api_key}"))
        slot = recorder.begin(request.method, url, headers, body)
        sent = client.build_request(request.method, url, headers=headers, content=body)
        try:
            reply = await client.send(sent, stream=True)
        except httpx.HTTPError as error:
            slot.end(LOST)
            message = f"The real server did not answer ({type(error).__name__})."
            refusal = {"error": {"message": message, "type": "not_reachable"}}
            return JSONResponse(refusal, status_code=502)
        slot.answered(reply.status_code, reply.headers.items())
        return _response(reply.status_code, tuple(reply.headers.items()), _kept(reply, slot))

    return _app([("/{path:path}", None, forward)], on_close=client.aclose)


async def _kept(reply: Any, slot: Slot) -> AsyncIterator[bytes]:
    import httpx

    try:
        async for chunk in reply.aiter_raw():
            slot.chunk(chunk)
            yield chunk
        slot.end()
    except httpx.HTTPError:
        slot.end(LOST)
        raise
    finally:
        await reply.aclose()


async def _recorded(recorded: RecordedResponse, delays: bool) -> AsyncIterator[bytes]:
    if delays and recorded.headers_after_s:
        await asyncio.sleep(recorded.headers_after_s)
    waits = recorded.delays_s if delays and recorded.delays_s else (0.0,) * len(recorded.chunks)
    for chunk, wait_s in zip(recorded.chunks, waits, strict=True):
        await asyncio.sleep(wait_s)
        yield chunk
    if recorded.ending is not None:
        msg = "the recorded connection ended here"
        raise ConnectionAbortedError(msg)


def _response(
    status: int, headers: Sequence[tuple[str, str]], chunks: AsyncIterator[bytes]
) -> Response:
    from starlette.responses import StreamingResponse

    response = StreamingResponse(chunks, status_code=status)
    for name, value in headers:
        if name.lower() not in _OF_THE_HOP:
            response.headers.append(name, value)
    return response


def _app(
    routes: Sequence[tuple[str, list[str] | None, Callable[[Request], Any]]],
    on_close: Callable[[], Any] | None = None,
) -> Starlette:
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        msg = "serving needs the extra `serve`: run `pip install 'pytest-synaptum[serve]'`"
        raise PluginError(msg) from None
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        if on_close is not None:
            await on_close()

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    return Starlette(
        routes=[Route(path, answer, methods=only or methods) for path, only, answer in routes],
        lifespan=lifespan,
    )
