"""What one exchange says, gathered once: the raw values of both sides, for those who judge them.

Nothing here knows an adapter: the values are as the server wrote them, so that what is said of
an exchange can be held against what an adapter makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_synaptum.corpus.reading import is_stream_body
from pytest_synaptum.exchange import Exchange
from synaptum import canonical
from synaptum.errors import EncodingError
from synaptum.transport.sse import DONE, sse_data

__all__ = ["Facts", "facts_of"]

_Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The raw side of an exchange.

    Attributes:
        request: the body asked with; empty where there was none, or none that is an object.
        status: of the answer.
        body: the bytes of the answer.
        is_stream: whether the answer is server-sent events.
        values: JSON objects of the answer: the body, or the events of a stream in order.
        is_done: whether a stream ended with `[DONE]`.
        is_broken: whether something of the answer is no JSON object.
    """

    request: _Object
    status: int
    body: bytes
    is_stream: bool
    values: tuple[_Object, ...]
    is_done: bool
    is_broken: bool

    @property
    def first(self) -> _Object:
        """The body, or the first event; empty where nothing can be read."""
        return self.values[0] if self.values else {}

    @property
    def choices(self) -> tuple[_Object, ...]:
        """Every choice of every value, in order."""
        return tuple(choice for value in self.values for choice in _objects(value.get("choices")))

    @property
    def messages(self) -> tuple[_Object, ...]:
        """The messages of a body, the deltas of a stream."""
        key = "delta" if self.is_stream else "message"
        return tuple(_objects([choice.get(key) for choice in self.choices]))

    @property
    def calls(self) -> tuple[_Object, ...]:
        """Tool calls, or their pieces, in order."""
        return tuple(
            call for message in self.messages for call in _objects(message.get("tool_calls"))
        )

    @property
    def usages(self) -> tuple[_Object, ...]:
        """Every usage that is an object."""
        return tuple(_objects([value.get("usage") for value in self.values]))

    def details(self, name: str) -> tuple[Any, ...]:
        """What every usage says under `name`, such as `prompt_tokens_details`."""
        return tuple(usage[name] for usage in self.usages if name in usage)


def facts_of(exchange: Exchange) -> Facts:
    """Read both sides of an exchange as far as they can be read."""
    recorded = exchange.response
    if recorded is None:
        request = _value(exchange.request.body)
        return Facts(
            request=request if isinstance(request, Mapping) else {},
            status=0,
            body=b"",
            is_stream=False,
            values=(),
            is_done=False,
            is_broken=True,
        )
    is_stream = is_stream_body(recorded)
    texts: list[str | bytes] = list(sse_data([recorded.body])) if is_stream else [recorded.body]
    read = [_value(text) for text in texts if text != DONE]
    values = tuple(value for value in read if isinstance(value, Mapping))
    request = _value(exchange.request.body)
    return Facts(
        request=request if isinstance(request, Mapping) else {},
        status=recorded.status,
        body=recorded.body,
        is_stream=is_stream,
        values=values,
        is_done=is_stream and b"[DONE]" in recorded.body,
        is_broken=len(values) != len(read),
    )


def _value(text: str | bytes) -> Any:
    try:
        return canonical.loads(text)
    except EncodingError:
        return None


def _objects(items: Any) -> Iterator[_Object]:
    for item in items if isinstance(items, list | tuple) else ():
        if isinstance(item, Mapping):
            yield item
