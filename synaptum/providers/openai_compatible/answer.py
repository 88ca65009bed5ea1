"""Answers: a whole body and a stream of chunks, read by one understanding.

Both ways feed the same `_Answer`; a body is a stream of one chunk. So a body and a stream of
the same answer give the same `Response`, and where the bytes were cut cannot matter.

What goes where:
- the turn holds, in this order, one `Thinking`, the `RedactedThinking` blobs, one `Text`
  and the calls: a body has no other order, so a stream has none either;
- `content` null or absent gives no Text; `""` gives `Text("")` when nothing else was said
  and is filler beside calls, reasoning or a refusal;
- `provider_metadata` keeps what the server said beyond that, at the server's own places:
  top-level fields (`id`, `created`, `usage` as it came, `timings`, ...) at its top, the
  fields of the choice under `choice` (`finish_reason`: the raw word), those of the message
  under `message` (`content` and `tool_calls` where they spell "none": null, `""` or `[]`, absent
  where the key was; `reasoning_field`: the name reasoning stood under), further choices
  under `other_choices`. Fields of the framing (`object`, padding, the chunk's index) are
  left out. `Response` leaves the metadata out of its comparison: one llama.cpp server was
  seen to spell the same turn `""` whole and `null` streamed, and both spellings are kept.

A stream is whole when a finish word came; or the transport passed `DONE`; or the server
closed it with usage (a chunk without choices, or a last chunk that alone carries usage and
says nothing; OpenAI's audio streams and Snowflake send no finish word). Else it broke off.

What it does not do: count, decide whether a call may run, or retry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from synaptum.errors import NetworkError, ProviderError
from synaptum.providers.openai_compatible.calls import index_of
from synaptum.providers.openai_compatible.choice import Choice
from synaptum.providers.openai_compatible.decoding import DONE
from synaptum.providers.openai_compatible.failures import NAME, error_in
from synaptum.providers.openai_compatible.merging import update
from synaptum.providers.openai_compatible.profile import Profile
from synaptum.providers.openai_compatible.usage import read_usage
from synaptum.providers.openai_compatible.vocabulary import CHUNK_FRAMING
from synaptum.vocabulary import Finish, Response, StreamEvent, StreamStart, codec

__all__ = ["StreamReader", "read_body", "read_stream"]

_NOT_KEPT = CHUNK_FRAMING | {"choices", "model", "usage", "error"}


def read_body(body: Mapping[str, Any], profile: Profile) -> Response:
    """The answer in a whole body. Raises `ProviderError` where it is an error, or none."""
    answer = _Answer(profile)
    answer.feed(body, whole=True)
    events: list[StreamEvent] = []
    return answer.close(events)


class StreamReader:
    """Reads one stream, chunk by chunk, for a caller that is pushed its chunks."""

    def __init__(self, profile: Profile) -> None:
        self._answer = _Answer(profile)
        self._started = False
        self._done = False

    def feed(self, chunk: Mapping[str, Any]) -> list[StreamEvent]:
        """The events that `chunk` adds. Raises `ProviderError` where it carries an error."""
        if chunk is DONE:
            self._done = True
        if self._done:
            return []
        events = self._answer.feed(chunk)
        if not self._started:
            self._started = True
            events.insert(0, StreamStart(self._answer.model))
        return events

    def close(self) -> list[StreamEvent]:
        """The events that the end of the chunks adds, `Finish` last.

        Raises:
            NetworkError: the chunks ended before the answer was whole.
            ProviderError: the answer is whole, and holds no choice.
        """
        answer = self._answer
        if not (self._done or answer.is_whole()):
            raise NetworkError(answer.broken_off())
        events: list[StreamEvent] = []
        response = answer.close(events)
        events.append(Finish(response))
        return events


def read_stream(chunks: Iterable[Mapping[str, Any]], profile: Profile) -> Iterator[StreamEvent]:
    """The answer in a stream, event by event. See `OpenAICompatible.stream_from_wire`."""
    reader = StreamReader(profile)
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.close()


class _Answer:
    """What the server has said so far."""

    def __init__(self, profile: Profile) -> None:
        self.model: str | None = None
        self._profile = profile
        self._top: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._choices: dict[int, Choice] = {}
        self._main: Choice | None = None
        self._chunks = 0
        self._usage_chunks = 0
        self._closed_by_usage = False

    def feed(self, chunk: Any, *, whole: bool = False) -> list[StreamEvent]:
        """Take one chunk, or with `whole` a body; gives the events it causes."""
        if not isinstance(chunk, Mapping):
            msg = f"A chunk of the answer is a {type(chunk).__name__}, not an object."
            raise ProviderError(msg, provider=NAME)
        self._chunks += 1
        choices = chunk.get("choices")
        if choices is None or "error" in chunk:
            error = error_in(chunk)
            if error is not None:
                raise error
        self._feed_top(chunk)
        events: list[StreamEvent] = []
        if isinstance(choices, list):
            for item in choices:
                if isinstance(item, Mapping):
                    self._feed_choice(item, events, whole=whole)
        usage = chunk.get("usage")
        if usage and isinstance(usage, Mapping):
            self._usage_chunks += 1
            for name, value in usage.items():
                update(self._usage, name, value)
            said_nothing = not choices or (self._usage_chunks == 1 and not events)
            self._closed_by_usage = said_nothing and self._main is not None and self._chunks > 1
        elif events:
            self._closed_by_usage = False
        return events

    def _feed_top(self, chunk: Mapping[str, Any]) -> None:
        top = self._top
        for name, value in chunk.items():
            if name not in _NOT_KEPT and (name not in top or top[name] != value):
                update(top, name, value)
        model = chunk.get("model")
        if model and isinstance(model, str):
            self.model = model

    def _feed_choice(
        self, item: Mapping[str, Any], events: list[StreamEvent], *, whole: bool
    ) -> None:
        error = item.get("error")
        if error:
            found = error_in({"error": error})
            if found is not None:
                raise found
        index = len(self._choices) if whole else index_of(item.get("index")) or 0
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = Choice(think_tags=self._profile.think_tags)
            if self._main is None:
                self._main = choice
        caused = choice.feed(item, whole=whole)
        if choice is self._main:
            events.extend(caused)

    def is_whole(self) -> bool:
        """Whether a stream that ends here was said to its end."""
        if self._main is not None and self._main.finished:
            return True
        return self._closed_by_usage

    def broken_off(self) -> str:
        """The sentence for a stream that was not."""
        if not self._chunks:
            return "The stream ended before the first chunk of the answer."
        return (
            f"The stream broke off after {self._chunks} chunks: neither a finish reason nor a"
            " closing usage arrived, so the answer is not whole."
        )

    def close(self, events: list[StreamEvent]) -> Response:
        """The whole answer; its last events are appended to `events`."""
        main = self._main
        if main is None:
            raise ProviderError(self._nothing(), provider=NAME)
        message, finish = main.close(events)
        usage = self._usage or main.usage or _groq_usage(self._top)
        choice, told = main.metadata()
        metadata = dict(self._top)
        if self._usage:
            metadata["usage"] = self._usage
        if choice:
            metadata["choice"] = choice
        if told:
            metadata["message"] = told
        others = [self._other(one) for one in self._choices.values() if one is not main]
        if others:
            metadata["other_choices"] = others
        return Response(
            message,
            finish,
            read_usage(usage, self._top.get("timings")),
            self.model,
            metadata,
        )

    def _other(self, choice: Choice) -> dict[str, Any]:
        ignored: list[StreamEvent] = []
        message, finish = choice.close(ignored)
        extra, told = choice.metadata()
        return {
            "message": codec.to_json(message),
            "finish_reason": finish.value,
            "provider_metadata": {"choice": extra, "message": told},
        }

    def _nothing(self) -> str:
        counted = read_usage(self._usage, None)
        spent = "" if counted.input is None else f" It counted {counted.input} input tokens."
        return (
            "The server's answer holds no choices, so it is no chat completion; is the base URL"
            f" that of an OpenAI-compatible server?{spent}"
        )


def _groq_usage(top: Mapping[str, Any]) -> Any:
    """Groq puts a stream's usage under `x_groq` as well, or there alone."""
    inner = top.get("x_groq")
    return inner.get("usage") if isinstance(inner, Mapping) else None
