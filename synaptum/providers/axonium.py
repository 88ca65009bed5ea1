"""A bridge to the Axonium SDK, the one legitimate door to the Prometheus platform.

    from synaptum.providers.axonium import AxoniumModel     # extra [axonium]

    bridge = AxoniumModel()
    gateway = LocalGateway(model=bridge.complete, stream=bridge.stream, tools=[...])

Credentials, catalogue, quotas and billing live behind that SDK, so nothing here goes round it.
This is no `Provider`: a provider normalises and does not transport, and the SDK does both.
What is left is translating between two vocabularies; both are close to the OpenAI-compatible
dialect, so its pure functions do it.

Its retries are turned off in a client made here: the loop decides about attempts and
journals them. A client that is handed in keeps its own policy.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from synaptum import canonical
from synaptum.errors import (
    ConfigurationError,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
    SynaptumError,
    UnsupportedRequestError,
    is_retryable_status,
)
from synaptum.providers.idempotency import idempotency_key
from synaptum.providers.openai_compatible import DEFAULT, OpenAICompatible, Profile
from synaptum.vocabulary import Request, Response, StreamEvent

if TYPE_CHECKING:
    from synaptum.gateway.base import CallContext

__all__ = ["PROFILE", "AxoniumModel"]

_NAME: Final = "axonium"

#: What the gateway behind the SDK wants. Source: the SDK's own request models, 1.0.0rc11.
#: - roles are system, user, assistant and tool: a developer turn becomes a system message;
#: - reasoning goes back on turns that travel anyway (llama.cpp lost 7 of 120 turns without it);
#: - images as data only, and no other media; `stream_options` is no field of it.
PROFILE: Final[Profile] = replace(
    DEFAULT,
    name=_NAME,
    read_on="2026-11-30",
    developer="system",
    reasoning_field="reasoning_content",
    stream_usage=False,
    media=frozenset({"image"}),
)


class AxoniumModel:
    """Asks models through the Axonium SDK.

    Args:
        client: an `axonium.AsyncAxonium` of your own, which you close yourself. It belongs to
            one event loop.
        profile: how requests are written.
        settings: what `AsyncAxonium` takes (`gateway_base_url`, `client_id`, `client_secret`,
            `token_provider` ...) where no client is given; the SDK reads the rest from its
            `AXONIUM_*` variables.

    Raises:
        ConfigurationError: the SDK is not installed, or a client and settings are both given.
    """

    def __init__(self, client: Any = None, *, profile: Profile = PROFILE, **settings: Any) -> None:
        try:
            import axonium
        except ImportError:
            msg = (
                "AxoniumModel needs the Axonium SDK, which is not installed:"
                " pip install 'pytest-synaptum[axonium]'."
            )
            raise ConfigurationError(msg) from None
        if client is not None and settings:
            msg = f"Give AxoniumModel a client or settings ({sorted(settings)}), not both."
            raise ConfigurationError(msg)
        self._sdk: Any = axonium
        self._client = client
        self._settings = settings
        self._dialect = OpenAICompatible(profile)
        # The SDK's connections belong to the loop in which they were made.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return "AxoniumModel()" if self._client is None else "AxoniumModel(client=...)"

    @property
    def configuration(self) -> Any:
        """JSON that tells this model from another in a run's configuration."""
        return {**self._dialect.configuration, "provider": _NAME}

    async def __call__(self, request: Request, context: CallContext | None = None) -> Response:
        """The same as `complete`."""
        return await self.complete(request, context)

    async def complete(self, request: Request, context: CallContext | None = None) -> Response:
        """Ask and wait for the whole answer.

        Raises:
            UnsupportedRequestError: the gateway has no shape for it; nothing was sent.
            ProviderError: the platform refused, or answered with no answer.
            NetworkError: it was not reached, or the connection was lost.
        """
        body = self._dialect.to_wire(request)
        with self._translating_errors():
            completion = await self._open().chat.completions.create(
                **body, idempotency_key=_key(context, body)
            )
        return self._dialect.from_wire(completion.model_dump(exclude_unset=True))

    async def stream(
        self, request: Request, context: CallContext | None = None
    ) -> AsyncIterator[StreamEvent]:
        """Ask and give the answer's events as they come; closing it stops the generation.

        Raises: as `complete`, while iterating.
        """
        body = self._dialect.to_wire(request)
        reader = self._dialect.stream_reader()
        with self._translating_errors():
            opening = self._open().chat.completions.stream(
                **body, idempotency_key=_key(context, body)
            )
            async with opening as chunks:
                try:
                    async for chunk in chunks:
                        for event in reader.feed(chunk.model_dump(exclude_unset=True)):
                            yield event
                except self._sdk.StreamInterruptedError as error:
                    # The platform's own words, read as any error in a stream is.
                    reader.feed(error.raw)
                    raise
                for event in reader.close():
                    yield event

    async def aclose(self) -> None:
        """Close the client made here for this event loop, if any."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> AxoniumModel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _open(self) -> Any:
        if self._client is not None:
            return self._client
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            retry = self._settings.get("retry") or self._sdk.RetryPolicy(max_attempts=1)
            client = self._sdk.AsyncAxonium(**{**self._settings, "retry": retry})
            self._clients[loop] = client
        return client

    @contextlib.contextmanager
    def _translating_errors(self) -> Iterator[None]:
        import httpx

        try:
            yield
        except (self._sdk.AxoniumError, httpx.HTTPError, ValueError) as error:
            if isinstance(error, SynaptumError):
                raise
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> SynaptumError:
        import httpx

        sdk = self._sdk
        words = str(error) or type(error).__name__
        if isinstance(error, sdk.TimeoutError | httpx.TimeoutException):
            return RequestTimeoutError(f"The Axonium gateway did not answer in time: {words}")
        if isinstance(error, sdk.TransportError | httpx.HTTPError):
            return NetworkError(
                f"The Axonium gateway was not reached, or the connection was lost: {words}"
            )
        if isinstance(error, sdk.APIError):
            known = error.type_suffix is not None
            return ProviderError(
                f"The Axonium gateway refused ({error.type_suffix or error.status}): {words}",
                status=error.status,
                provider=_NAME,
                retry_after=error.retry_after,
                request_id=error.request_id,
                retryable=error.retryable if known else is_retryable_status(error.status),
            )
        if isinstance(error, sdk.OAuthError):
            return ProviderError(
                f"The Axonium gateway gave no token: {words}", status=error.status, provider=_NAME
            )
        if isinstance(error, sdk.ConfigurationError):
            return ConfigurationError(words)
        if isinstance(error, sdk.InvalidRequestError):
            return UnsupportedRequestError(f"The Axonium SDK refused the request: {words}")
        return ProviderError(
            f"The Axonium SDK could not read the answer: {words}",
            provider=_NAME,
            request_id=getattr(error, "request_id", None),
            retryable=isinstance(error, sdk.StreamInterruptedError),
        )


def _key(context: CallContext | None, body: dict[str, Any]) -> str | None:
    if context is None:
        return None
    return idempotency_key(context.run_id, context.step_id, canonical.wire_bytes(body))
