"""A model behind HTTP: a provider that translates and a transport that carries.

    model = HttpModel("http://localhost:8080/v1")
    response = await model(request)
    async for event in model.stream(request): ...

It is for development. On the governed path no model is called from the agent's process: here
the key lies in the process's memory, and the process calls whom it is told to (seed 001,
"Transporte HTTP directo").

It does not retry, wait or keep a journal; errors say by their type whether trying again can
help, and the loop decides.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urljoin, urlsplit

from synaptum.clock import Clock, SystemClock
from synaptum.errors import ConfigurationError, NetworkError, ProviderError, SynaptumError
from synaptum.models.dialect import Dialect
from synaptum.models.endpoint import endpoint_url
from synaptum.models.event_feed import event_feed
from synaptum.models.reply import begin, close, content_type, let_end, rest, what_came
from synaptum.models.secrets import Secret, Secrets
from synaptum.providers.base import Provider
from synaptum.providers.idempotency import idempotency_key
from synaptum.transport.base import HttpReply, HttpRequest, Transport
from synaptum.transport.failures import origin_of, place_of
from synaptum.transport.retry_after import retry_after_s
from synaptum.transport.sse import SseParser, looks_like_sse
from synaptum.transport.urllib import UrllibTransport
from synaptum.vocabulary import Request, Response, StreamEvent, fold, unfold

if TYPE_CHECKING:
    from synaptum.gateway.base import CallContext
    from synaptum.models.fallback import NamedModel

__all__ = ["DEFAULT_TIMEOUT_S", "HttpModel"]

#: Seconds without any byte. A local model may read a long prompt for minutes before it says
#: its first word, and sends no sign of life meanwhile.
DEFAULT_TIMEOUT_S: Final = 300.0

#: Where servers put their id of a request, the first one present counts.
_REQUEST_ID_HEADERS: Final = ("x-request-id", "request-id", "x-amzn-requestid", "cf-ray")

#: Names of headers, and of parameters in an address, whose value is a secret: `authorization`,
#: `x-api-key`, `ocp-apim-subscription-key`, `x-auth-token`, `cookie` ...
_SECRET_NAME: Final = re.compile(r"auth|key|token|secret|cookie|password|credential", re.I)


#: An error that rides in an answer. What is no error stays as the server wrote it, also where
#: it holds the words of a key.
_ERROR: Final = re.compile(rb'"error"\s*:\s*(?!null)\S')


class HttpModel:
    """Asks a server; called like a function for whole answers, `.stream` for fragments.

    Args:
        base_url: such as `http://localhost:8080/v1`; the dialect's path is appended where it
            is not there already, a query stays.
        api_key: sent as `authorization: Bearer ...` to that origin and nowhere else. It is
            not shown by a repr, an error or a log, and redirects are not followed.
        provider: who translates, or the name of an installed one; OpenAI-compatible by
            default.
        timeout: seconds without any byte before a request fails; None waits for ever.
        headers: more headers; they replace ours of the same name.
        transport: what carries the bytes; the standard library's HTTP by default.
        clock: what a `Retry-After` date is counted from.

    Raises:
        ConfigurationError: an address, key, header, timeout or provider that cannot be.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        provider: Provider | str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_S,
        headers: Mapping[str, str] | None = None,
        transport: Transport | None = None,
        clock: Clock | None = None,
    ) -> None:
        _check_timeout(timeout)
        self._dialect = Dialect(_provider(provider))
        self._url = endpoint_url(base_url, self._dialect.path)
        self._key = None if api_key is None else _key(api_key)
        self._headers = {
            name.lower(): Secret(value) if _SECRET_NAME.search(name) else value
            for name, value in _texts(headers or {}).items()
        }
        given = [value for value in self._headers.values() if isinstance(value, Secret)]
        self._secrets = Secrets(self._key, *given, *_secrets_in(self._url))
        self._timeout = timeout
        self._transport = UrllibTransport() if transport is None else transport
        self._clock = SystemClock() if clock is None else clock

    def __repr__(self) -> str:
        return f"HttpModel({place_of(self._url)!r}, api_key={self._key}, provider={self.name!r})"

    @property
    def name(self) -> str:
        """The provider's name."""
        return self._dialect.name

    @property
    def provider(self) -> Provider:
        """Who translates."""
        return self._dialect.provider

    @property
    def configuration(self) -> Any:
        """JSON that tells this model from another in a run's configuration.

        Provider and profile, not the address: a server may move.
        """
        return self._dialect.configuration

    def wire_body(self, request: Request, *, stream: bool) -> bytes:
        """The body that would travel for a request.

        Raises:
            UnsupportedRequestError: the dialect has no shape for it.
            TypeError: it is no `Request`.
        """
        given: object = request
        if not isinstance(given, Request):
            msg = (
                f"A model is asked a Request, not {type(given).__name__}:"
                " Request('model', [Message.user('…')])."
            )
            raise TypeError(msg)
        prefix = f"{self.name}:"
        if request.model.startswith(prefix):  # it names the provider and never travels
            request = replace(request, model=request.model.removeprefix(prefix))
        return self._dialect.body(request, stream=stream)

    def named(self, name: str) -> NamedModel:
        """This server asked for the model `name`, whatever a request says; for a fallback."""
        from synaptum.models.fallback import NamedModel

        return NamedModel(self, name)

    async def __call__(self, request: Request, context: CallContext | None = None) -> Response:
        """The same as `complete`."""
        return await self.complete(request, context)

    async def complete(self, request: Request, context: CallContext | None = None) -> Response:
        """Ask and wait for the whole answer.

        Raises:
            UnsupportedRequestError: the dialect has no shape for it; nothing was sent.
            ProviderError: the server answered with an error, or with no answer.
            NetworkError: no connection, or it was lost before the end.
            RequestTimeoutError: nothing came for `timeout` seconds.
        """
        reply = await self._send(request, context, stream=False)
        try:
            with self._completing_errors(reply):
                if reply.status >= 300:
                    raise await self._refusal(reply, reply.chunks())
                body = await rest(reply.chunks())
                if looks_like_sse(body):
                    # Some gateways stream whatever they are asked.
                    return fold(self._dialect.provider.stream_from_wire(self._chunks_in(body)))
                return self._response(reply, body)
        finally:
            await reply.aclose()

    async def stream(
        self, request: Request, context: CallContext | None = None
    ) -> AsyncIterator[StreamEvent]:
        """Ask and give the answer's events as they come.

        Closing the iterator, or cancelling who waits on it, closes the connection at once,
        which is what stops the generation. A server that answers whole all the same gives the
        events of that answer.

        Raises: as `complete`, while iterating.
        """
        reply = await self._send(request, context, stream=True)
        feed = None
        chunks = reply.chunks()
        try:
            with self._completing_errors(reply):
                if reply.status >= 300:
                    raise await self._refusal(reply, chunks)
                piece, is_stream = await begin(chunks, content_type(reply))
                if not is_stream:
                    body = piece + await rest(chunks)
                    for event in unfold(self._response(reply, body)):
                        yield event
                    return
                feed = event_feed(self._dialect)
                parser = SseParser()
                while piece and not parser.is_done:
                    for data in parser.feed(piece):
                        if data.strip():
                            for event in await feed.feed(self._chunk(data)):
                                yield event
                    if not parser.is_done:
                        piece = await anext(chunks, b"")
                if parser.is_done:
                    await let_end(chunks)
                for chunk in self._last_chunks(parser):
                    for event in await feed.feed(chunk):
                        yield event
                for event in await feed.end():
                    yield event
        finally:
            if feed is not None:
                feed.close()
            await close(chunks)
            await reply.aclose()

    async def _send(
        self, request: Request, context: CallContext | None, *, stream: bool
    ) -> HttpReply:
        body = self.wire_body(request, stream=stream)
        return await self._transport.send(
            HttpRequest(
                method="POST",
                url=self._url,
                headers=self._headers_for(body, context, stream=stream),
                body=body,
                timeout_s=self._timeout,
            )
        )

    def _headers_for(
        self, body: bytes, context: CallContext | None, *, stream: bool
    ) -> tuple[tuple[str, str], ...]:
        headers: dict[str, str] = {
            "content-type": "application/json",
            "accept": "text/event-stream" if stream else "application/json",
            "accept-encoding": "identity",
            "user-agent": "synaptum",
        }
        if context is not None:
            headers["idempotency-key"] = idempotency_key(context.run_id, context.step_id, body)
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key.reveal()}"
        for name, value in self._headers.items():
            headers[name] = value.reveal() if isinstance(value, Secret) else value
        return tuple(headers.items())

    def _response(self, reply: HttpReply, body: bytes) -> Response:
        """The answer in a whole body; half an object is a connection that was lost."""
        if _ERROR.search(body):
            body = self._secrets.remove_from_bytes(body)
        try:
            return self._dialect.response(body)
        except ProviderError:
            framing = {name for name, _ in reply.headers} & {"content-length", "transfer-encoding"}
            text = body.strip()
            # Where the end of the connection is the end of the body, nothing else can tell.
            if not framing and text.startswith(b"{") and not text.endswith(b"}"):
                msg = (
                    f"The connection to {origin_of(self._url)} was lost after {len(body)} bytes"
                    " of the answer, before its end."
                )
                raise NetworkError(msg) from None
            raise

    def _chunk(self, data: str) -> Mapping[str, Any]:
        """The chunk in an event's data. Raises `ProviderError`."""
        if '"error"' in data and _ERROR.search(data.encode("utf-8", "replace")):
            data = self._secrets.remove_from(data)
        return self._dialect.chunk(data)

    async def _refusal(self, reply: HttpReply, chunks: AsyncIterator[bytes]) -> ProviderError:
        """The error of an answer that is none, told even where its body did not come whole."""
        body, failure = await what_came(chunks)
        error = self._error_of(reply, body)
        if failure is not None and error.args:
            told = f"{error.args[0]} [only {len(body)} bytes of its body were read: {failure}]"
            error.args = (told, *error.args[1:])
        return error

    def _error_of(self, reply: HttpReply, body: bytes) -> ProviderError:
        place = place_of(self._url)
        if reply.status < 400:
            target = dict(reply.headers).get("location", "")
            where = _origin_after(self._url, target) if target else "nowhere"
            msg = (
                f"{place} answered status {reply.status}, a redirect to {where}. Redirects are"
                " not followed, since the key would travel along: set base_url to where the"
                " server is."
            )
            return ProviderError(msg, status=reply.status, provider=self.name)
        # Before anybody shortens it: half a key is one too many as well.
        body = self._secrets.remove_from_bytes(body)
        error = self._dialect.error(reply.status, body, reply.headers)
        if reply.status in {404, 405} and error.args:
            error.args = (f"{error.args[0]} [POST {place}]", *error.args[1:])
        return error

    @contextlib.contextmanager
    def _completing_errors(self, reply: HttpReply) -> Any:
        """Add to errors what the reply's headers say, and take secrets out of their words."""
        try:
            yield
        except SynaptumError as error:
            self._secrets.remove_from_error(error)
            if isinstance(error, ProviderError):
                if error.retry_after is None:
                    error.retry_after = retry_after_s(reply.headers, self._clock.now_s())
                if error.request_id is None:
                    headers = dict(reply.headers)
                    found = (headers[name] for name in _REQUEST_ID_HEADERS if name in headers)
                    error.request_id = next(found, None)
                if error.request_id is not None:
                    error.request_id = self._secrets.remove_from(error.request_id)
            raise

    def _chunks_in(self, body: bytes) -> Iterator[Mapping[str, Any]]:
        parser = SseParser()
        for data in parser.feed(body):
            if data.strip():
                yield self._chunk(data)
        yield from self._last_chunks(parser)

    def _last_chunks(self, parser: SseParser) -> Iterator[Mapping[str, Any]]:
        """The mark of `[DONE]`, or what stood unfinished at the end of the bytes.

        Half an event is no error of its own: the provider tells that the answer is not whole.
        """
        if parser.is_done:
            done = self._dialect.done_chunk()
            if done is not None:
                yield done
        for data in parser.close():
            with contextlib.suppress(ProviderError):
                yield self._dialect.chunk(data)


def _provider(provider: Provider | str | None) -> Provider:
    if provider is None:
        from synaptum.providers.openai_compatible import OpenAICompatible

        return OpenAICompatible()
    if isinstance(provider, str):
        from synaptum.providers.registry import provider_for

        return provider_for(provider)
    return provider


def _secrets_in(url: str) -> list[Secret]:
    """The keys that stand in an address, as some servers want them (`?key=...`)."""
    parameters = parse_qsl(urlsplit(url).query)
    return [Secret(value) for name, value in parameters if _SECRET_NAME.search(name)]


def _check_timeout(timeout: object) -> None:
    if timeout is None:
        return
    is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    # The system's own clock has no room for more, and neither has anybody's patience.
    if not is_number or not 0 < timeout <= threading.TIMEOUT_MAX:  # type: ignore[operator]
        msg = (
            f"timeout={timeout!r} is no number of seconds above 0 that can be waited; None waits"
            " for ever."
        )
        raise ConfigurationError(msg)


def _texts(headers: Mapping[str, str]) -> Mapping[str, str]:
    given: Mapping[Any, Any] = headers
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, str):
            msg = f"The header {name!r} has the value of a {type(value).__name__}: give texts."
            raise ConfigurationError(msg)
    return headers


def _origin_after(url: str, target: str) -> str:
    try:
        return origin_of(urljoin(url, target))
    except ValueError:
        return "an address that is none"


def _key(text: str) -> Secret:
    """The key without the line break that a file or a variable often leaves at its end."""
    key = text.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        msg = (
            "The api_key is empty or holds characters that no key has (spaces, line breaks,"
            " letters beyond ASCII); give api_key=None for a server without one."
        )
        raise ConfigurationError(msg)
    return Secret(key)
