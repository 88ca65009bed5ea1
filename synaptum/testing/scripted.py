"""A model that answers from a script: the door without inference.

    model = ScriptedModel(calls("read", path="a.txt"), "It says hello.")
    session = Session("r1", model.gateway(tools=[read]))

Each item of the script is one turn: a text, `says`, `calls`, `thinks`, `cut`, `filtered`,
`refuses`, `fails`, `drops`, `denies`, an exception, a whole `Response`, a list of parts for one
turn (`[thinks("..."), calls("a"), calls("b")]`), or a function of the request that gives one
of these. Whole and streamed, an item is the same answer.

A step that was answered once gets the same answer again, as from a server that honours
idempotency keys: that is what a run resumed after a crash asks for. Tokens are unknown
(`Usage()`) unless an item says them: a double measures nothing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from synaptum import canonical
from synaptum.errors import Denied, NetworkError, ProviderError
from synaptum.gateway.base import CallContext
from synaptum.gateway.local import LocalGateway, Policy
from synaptum.tools.base import Tool
from synaptum.vocabulary import (
    ContentPart,
    Decision,
    Disposition,
    FinishReason,
    Message,
    Request,
    Response,
    Role,
    StreamEvent,
    StreamStart,
    Text,
    TextDelta,
    TextStart,
    Thinking,
    ToolCall,
    Usage,
    unfold,
)

__all__ = [
    "Item",
    "ScriptError",
    "ScriptedModel",
    "Turn",
    "breaks",
    "calls",
    "cut",
    "denies",
    "drops",
    "fails",
    "filtered",
    "refuses",
    "says",
    "thinks",
]

#: Characters of one fragment of a streamed item: short, so that tests see several.
_PIECE_CHARS = 4


class ScriptError(AssertionError):
    """The script and what was asked do not fit; a fault of the test, not of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One scripted turn, or a part of one.

    Attributes:
        parts: what the model says; a `ToolCall` without an id is given one.
        finish_reason: None is what the parts suggest.
        error: raised instead of answering.
        lost_after: fragments that are delivered before `error`, when streamed.
    """

    parts: tuple[ContentPart, ...] = ()
    finish_reason: FinishReason | None = None
    usage: Usage = field(default_factory=Usage)
    error: Exception | None = None
    lost_after: int | None = None


#: What a script is made of.
Item = str | Turn | Response | Exception | Sequence[Any] | Callable[[Request], Any]


def says(text: str, *, usage: Usage | None = None) -> Turn:
    """A turn of `text`; `says("")` says the empty string.

    `usage` is what the server counted; None, as everywhere here, is that it counted nothing.
    """
    return Turn(parts=(Text(text),), usage=usage or Usage())


def calls(name: str, /, raw: str | None = None, **arguments: Any) -> Turn:
    """A call of the tool `name`; several in one turn as a list.

    In: `arguments` by name, as JSON values; or `raw`, a text that is no JSON object.
    """
    if raw is not None:
        return Turn(parts=(ToolCall("", name, {}, unreadable_arguments=raw),))
    text = canonical.wire_text(arguments)
    return Turn(parts=(ToolCall("", name, arguments, arguments_text=text),))


def thinks(text: str) -> Turn:
    """Reasoning in the words `text`; alone it is a turn that shows nothing."""
    return Turn(parts=(Thinking(text),))


def cut(text: str = "") -> Turn:
    """A turn that ran out of tokens after `text`."""
    parts = (Text(text),) if text else ()
    return Turn(parts=parts, finish_reason=FinishReason.LENGTH)


def filtered(text: str = "") -> Turn:
    """A turn that the provider's filter withheld, or broke off after `text`."""
    parts = (Text(text),) if text else ()
    return Turn(parts=parts, finish_reason=FinishReason.CONTENT_FILTER)


def refuses(text: str = "I cannot help with that.") -> Response:
    """A turn in which the model says that it will not answer: `text` is its refusal, no text."""
    message = Message(Role.ASSISTANT, ())
    return Response(message, FinishReason.STOP, provider_metadata={"message": {"refusal": text}})


def fails(status: int, *, retry_after: float | None = None, message: str = "") -> Turn:
    """An answer of the HTTP error `status`, a `ProviderError`.

    `retry_after` is the wait that the server asks for, in seconds; `message` its sentence.
    """
    text = message or f"The server answered {status}."
    return Turn(error=ProviderError(text, status=status, retry_after=retry_after))


def drops(after: int = 1, text: str = "The connection is about to be lost") -> Turn:
    """A connection that is lost after `after` fragments of `text`."""
    error = NetworkError("The connection was lost before the answer was whole.")
    return Turn(parts=(Text(text),), error=error, lost_after=after)


def breaks(after: int = 1, text: str = "The server is about to fail", *, message: str = "") -> Turn:
    """A stream in which the provider reports an error after `after` fragments of `text`.

    The error is a `ProviderError` without a status, so it is not tried again; `message` is its
    sentence.
    """
    error = ProviderError(message or "The server reported an error inside its stream.")
    return Turn(parts=(Text(text),), error=error, lost_after=after)


def denies(
    disposition: Disposition = Disposition.DENY_STEP, reason_code: str = "", message: str = ""
) -> Turn:
    """A refusal of the gateway to ask the model: a `Denied` with that decision.

    `disposition`, `reason_code` and `message` are those of `Decision`.
    """
    decision = Decision(disposition, reason_code, message)
    return Turn(error=Denied(message or "The policy does not allow it.", decision))


class ScriptedModel:
    """Answers from a script, turn by turn.

    Args:
        script: the items, one a turn.
        strict: refuse a scripted call of a tool that the request does not offer.
        check: called with each scripted answer and its request; raises what does not fit.

    Attributes:
        requests: every request, in order; they are frozen values.
        contexts: the context of each, None where none was given.
    """

    def __init__(
        self,
        *script: Item,
        strict: bool = True,
        check: Callable[[Response, Request], None] | None = None,
    ) -> None:
        self._script = list(script)
        self._strict = strict
        self._check = check
        self._next = 0
        self._given: dict[tuple[str, str], Response] = {}
        self.requests: list[Request] = []
        self.contexts: list[CallContext | None] = []

    def __repr__(self) -> str:
        return f"ScriptedModel({self._next} of {len(self._script)} turns taken)"

    @property
    def left(self) -> tuple[Item, ...]:
        """The items nobody asked for yet."""
        return tuple(self._script[self._next :])

    async def __call__(self, request: Request, context: CallContext | None = None) -> Response:
        """The same as `complete`."""
        return await self.complete(request, context)

    async def complete(self, request: Request, context: CallContext | None = None) -> Response:
        """The next turn, whole. Raises its error, or `ScriptError`."""
        taken = self._take(request, context)
        if isinstance(taken, Response):
            return taken
        raise _error_of(taken)

    async def stream(
        self, request: Request, context: CallContext | None = None
    ) -> AsyncGenerator[StreamEvent, None]:
        """The next turn as a stream. Raises its error, or `ScriptError`."""
        taken = self._take(request, context)
        if isinstance(taken, Response):
            for event in unfold(taken, piece_chars=_PIECE_CHARS):
                yield event
            return
        if taken.lost_after is not None:
            for event in _until_lost(taken):
                yield event
        raise _error_of(taken)

    def gateway(self, tools: Iterable[Tool] = (), policy: Policy | None = None) -> LocalGateway:
        """A gateway with this model, whole and streamed."""
        return LocalGateway(model=self.complete, stream=self.stream, tools=tools, policy=policy)

    def _take(self, request: Request, context: CallContext | None) -> Response | Turn:
        self.requests.append(request)
        self.contexts.append(context)
        key = None if context is None else (context.run_id, context.step_id)
        if key is not None and key in self._given:
            return self._given[key]
        if self._next >= len(self._script):
            raise ScriptError(_exhausted(request, len(self._script)))
        item, place = self._script[self._next], self._next
        self._next += 1
        answer = _turn(item(request) if callable(item) else item)
        if isinstance(answer, Turn):
            if answer.error is not None:
                return answer
            answer = _response(answer, place)
        if self._strict:
            _check_calls(answer, request, place)
        if self._check is not None:
            self._check(answer, request)
        if key is not None and answer.finish_reason is not FinishReason.ERROR:
            self._given[key] = answer
        return answer


def _turn(item: Any) -> Turn | Response:
    if isinstance(item, str):
        return says(item)
    if isinstance(item, Turn | Response):
        return item
    if isinstance(item, Exception):
        return Turn(error=item)
    if isinstance(item, Sequence):
        parts: tuple[ContentPart, ...] = ()
        usage, finish = Usage(), None
        for inner in map(_turn, item):
            if isinstance(inner, Response) or inner.error is not None:
                msg = "Only texts, thoughts and calls can share one turn of a script."
                raise ScriptError(msg)
            parts += inner.parts
            finish = inner.finish_reason or finish
            usage = inner.usage if inner.usage != Usage() else usage
        return Turn(parts=parts, finish_reason=finish, usage=usage)
    msg = f"{item!r} is nothing a script can hold: use a text, says(...), calls(...) and the like."
    raise ScriptError(msg)


def _response(turn: Turn, place: int) -> Response:
    parts: list[ContentPart] = []
    for part in turn.parts:
        if isinstance(part, ToolCall) and not part.id:
            part = _with_id(part, f"call_{place}_{len(parts)}")
        parts.append(part)
    message = Message(Role.ASSISTANT, tuple(parts))
    natural = FinishReason.TOOL_CALLS if message.tool_calls else FinishReason.STOP
    return Response(message, turn.finish_reason or natural, turn.usage)


def _with_id(call: ToolCall, call_id: str) -> ToolCall:
    return ToolCall(
        call_id,
        call.name,
        call.arguments,
        call.unreadable_arguments,
        arguments_text=call.arguments_text,
    )


def _check_calls(response: Response, request: Request, place: int) -> None:
    offered = [tool.name for tool in request.tools]
    for call in response.tool_calls:
        if call.name not in offered:
            msg = (
                f"Turn {place} of the script calls {call.name!r}, which was not offered; the"
                f" request offers {offered}. For a model that invents a tool, strict=False."
            )
            raise ScriptError(msg)


def _until_lost(turn: Turn) -> Iterable[StreamEvent]:
    text = "".join(part.text for part in turn.parts if isinstance(part, Text))
    yield StreamStart()
    yield TextStart(0)
    for number in range(turn.lost_after or 0):
        piece = text[number * _PIECE_CHARS : (number + 1) * _PIECE_CHARS]
        if piece:
            yield TextDelta(0, piece)


def _error_of(turn: Turn) -> Exception:
    return turn.error or ScriptError("This turn of the script has neither an answer nor an error.")


def _exhausted(request: Request, turns: int) -> str:
    last = request.messages[-1] if request.messages else None
    said = "nothing" if last is None else f"{last.role.value}: {_short(last)!r}"
    return f"The script has {turns} turns and was asked for one more; the last message is {said}."


def _short(message: Message) -> str:
    texts = [getattr(part, "text", part.kind) for part in message.content]
    joined = " ".join(texts)
    return joined if len(joined) <= 200 else joined[:199] + "…"
