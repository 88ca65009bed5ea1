"""An ordered chain of models: the next one answers when the one before cannot.

The chain as a whole is the configured model, so it is part of a run's configuration. It
moves on only after an error that says another try may help, and only before any fragment
was delivered: what a reader has seen is not withdrawn, and two models do not share one
answer. Moving on has a price that does not show otherwise: the other server has no cached
prefix, so all is read anew.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from synaptum.errors import ConfigurationError, is_retryable, words_of
from synaptum.vocabulary import (
    Finish,
    ReasoningEnd,
    ReasoningStart,
    Request,
    Response,
    StreamEvent,
    StreamStart,
    TextEnd,
    TextStart,
    unfold,
)
from synaptum.vocabulary.stream import broken_off

if TYPE_CHECKING:
    from synaptum.gateway.base import CallContext

__all__ = ["FallbackModel", "NamedModel"]

#: Events that frame, and show nothing by themselves.
_ANNOUNCEMENTS = (StreamStart, TextStart, TextEnd, ReasoningStart, ReasoningEnd)

Model = Callable[..., Any]


class NamedModel:
    """A model asked under a name of its own, whatever the request says.

    Two servers seldom call a model the same: `FallbackModel(local, cloud.named("gpt-x"))`.
    """

    def __init__(self, model: Model, name: str) -> None:
        if not name:
            msg = "A model's name is empty; give the name the server knows it by."
            raise ConfigurationError(msg)
        self._model = model
        self.model_name = name

    def __repr__(self) -> str:
        return f"{self._model!r}.named({self.model_name!r})"

    @property
    def configuration(self) -> Any:
        """JSON that tells this model from another."""
        return {"model": self.model_name, "asked_of": _configuration(self._model)}

    async def __call__(self, request: Request, context: CallContext | None = None) -> Response:
        """The same as `complete`."""
        return await self.complete(request, context)

    async def complete(self, request: Request, context: CallContext | None = None) -> Response:
        """Ask under the name. Raises what the model raises."""
        return await _ask(self._model, replace(request, model=self.model_name), context)

    async def stream(
        self, request: Request, context: CallContext | None = None
    ) -> AsyncIterator[StreamEvent]:
        """Ask for a stream under the name. Raises what the model raises."""
        request = replace(request, model=self.model_name)
        async with aclosing(_ask_stream(self._model, request, context)) as events:
            async for event in events:
                yield event


class FallbackModel:
    """Asks the models in order until one answers.

    Whoever asks learns what happened through `context.note`, where the context has one: it
    is called with a mapping for every model that failed (`{"error": {"type", "message"},
    "wait_s": 0.0, "model": name, "chain_index": i}`) and, once, with `{"answered_by": {"model":
    name, "chain_index": i}}`. Nothing is kept in the model, so that runs may share it.

    Args:
        models: each is called with `(request)` or `(request, context)`; one with a `stream`
            of the same arguments streams, of the others the whole answer is shown as one.

    Raises:
        ConfigurationError: no models, or something that is none.
    """

    def __init__(self, *models: Model) -> None:
        if not models:
            msg = "FallbackModel needs at least one model, in the order to ask."
            raise ConfigurationError(msg)
        given: tuple[object, ...] = models
        for model in given:
            if not callable(model):
                msg = f"FallbackModel was given {model!r}, which is no model: it cannot be called."
                raise ConfigurationError(msg)
        self._models = models

    def __repr__(self) -> str:
        return f"FallbackModel({', '.join(map(repr, self._models))})"

    @property
    def configuration(self) -> Any:
        """JSON that tells this chain from another."""
        return {"fallback": [_configuration(model) for model in self._models]}

    async def __call__(self, request: Request, context: CallContext | None = None) -> Response:
        """The same as `complete`."""
        return await self.complete(request, context)

    async def complete(self, request: Request, context: CallContext | None = None) -> Response:
        """Ask for a whole answer.

        Raises:
            Exception: of the last model asked: the first that is not retryable, or that of the
                chain's end.
        """
        for turn in self._turns(request, context):
            try:
                response = _whole(await _ask(turn.model, request, context))
            except Exception as error:
                if not turn.moves_on_after(error):
                    raise
            else:
                turn.answered()
                return response
        raise _unreachable()

    async def stream(
        self, request: Request, context: CallContext | None = None
    ) -> AsyncIterator[StreamEvent]:
        """Ask for a stream. The first events are held back until one shows something.

        Raises: as `complete`, and whatever breaks a stream that has begun to show.
        """
        for turn in self._turns(request, context):
            held: list[StreamEvent] = []
            is_shown = False
            try:
                async with aclosing(_ask_stream(turn.model, request, context)) as events:
                    async for event in events:
                        if not is_shown and isinstance(event, _ANNOUNCEMENTS):
                            held.append(event)
                            continue
                        if isinstance(event, Finish):
                            _whole(event.response)
                        if not is_shown:
                            is_shown = True
                            turn.answered()
                            for earlier in held:
                                yield earlier
                        yield event
                if not is_shown:
                    raise broken_off()
            except Exception as error:
                if is_shown or not turn.moves_on_after(error):
                    raise
            else:
                return

    def _turns(self, request: Request, context: CallContext | None) -> Iterator[_Turn]:
        note = getattr(context, "note", None)
        for index, model in enumerate(self._models):
            name = getattr(model, "model_name", request.model)
            yield _Turn(model, name, index, index == len(self._models) - 1, note)


class _Turn:
    """One model's turn in one call."""

    def __init__(
        self,
        model: Model,
        name: str,
        index: int,
        is_last: bool,
        note: Callable[[Mapping[str, Any]], None] | None,
    ) -> None:
        self.model = model
        self._who = {"model": name, "chain_index": index}
        self._is_last = is_last
        self._note = note

    def moves_on_after(self, error: Exception) -> bool:
        if self._is_last or not is_retryable(error):
            return False
        if self._note is not None:
            told = {"type": type(error).__name__, "message": words_of(error)}
            self._note({"error": told, "wait_s": 0.0, **self._who})
        return True

    def answered(self) -> None:
        if self._note is not None:
            self._note({"answered_by": self._who})


def _configuration(model: Model) -> Any:
    return getattr(model, "configuration", getattr(model, "__qualname__", type(model).__name__))


async def _ask(model: Model, request: Request, context: CallContext | None) -> Response:
    answer = model(*_arguments(model, request, context))
    return cast("Response", await answer if inspect.isawaitable(answer) else answer)


async def _ask_stream(
    model: Model, request: Request, context: CallContext | None
) -> AsyncGenerator[StreamEvent, None]:
    stream = getattr(model, "stream", None)
    if stream is None:
        for event in unfold(await _ask(model, request, context)):
            yield event
        return
    events = stream(*_arguments(stream, request, context))
    if isinstance(events, Awaitable):
        events = await events
    try:
        async for event in events:
            yield event
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


def _arguments(function: Model, request: Request, context: CallContext | None) -> tuple[Any, ...]:
    """What a model function takes: the context only where it has a place for it."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return (request,)
    second = parameters[1] if len(parameters) > 1 else None
    takes_context = second is not None and (
        second.name == "context" or second.default is second.empty
    )
    return (request, context) if takes_context else (request,)


def _whole(response: Response) -> Response:
    """The response, unless its provider ended it with an error: then that is raised."""
    if response.failure is not None:
        raise response.failure
    return response


def _unreachable() -> AssertionError:
    return AssertionError("the last model's turn returns or raises")
