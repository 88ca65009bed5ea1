"""The OpenAI-compatible dialect: chat completions, as OpenAI and its many likes speak it.

`OpenAICompatible` is the provider; `Profile` and its named values say how one server wants
its requests. Nothing here opens a connection: see `synaptum.providers.base`.

Where things live: `to_wire` (with `parts`, `call_ids`) writes requests; `answer` (with
`choice`, `calls`, `usage`, `merging`, `think_tags`) reads answers, whole and streamed, by
one understanding; `decoding` and `failures` read bodies and errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar

from synaptum.errors import ProviderError
from synaptum.providers.openai_compatible import answer, decoding, failures, to_wire
from synaptum.providers.openai_compatible.decoding import DONE
from synaptum.providers.openai_compatible.profile import (
    DEEPSEEK,
    DEFAULT,
    GEMINI,
    LLAMA_CPP,
    MISTRAL,
    OLLAMA,
    OPENAI,
    PROFILES,
    Profile,
    find_profile,
)
from synaptum.vocabulary import Request, Response, StreamEvent

__all__ = [
    "DEEPSEEK",
    "DEFAULT",
    "DONE",
    "GEMINI",
    "LLAMA_CPP",
    "MISTRAL",
    "OLLAMA",
    "OPENAI",
    "PROFILES",
    "OpenAICompatible",
    "Profile",
]


class OpenAICompatible:
    """Normalises the OpenAI-compatible dialect.

    Args:
        profile: how the server wants its requests: a `Profile`, or the name of one of ours
            (`"llama.cpp"`, `"mistral"` ...).

    Raises:
        ConfigurationError: no profile has that name.
    """

    name: ClassVar[str] = "openai-compatible"
    #: Where requests go, below the server's base URL.
    path: ClassVar[str] = "/chat/completions"

    __slots__ = ("profile",)

    def __init__(self, profile: Profile | str = DEFAULT) -> None:
        self.profile = find_profile(profile) if isinstance(profile, str) else profile

    def __repr__(self) -> str:
        return f"OpenAICompatible(profile={self.profile.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenAICompatible) and other.profile == self.profile

    def __hash__(self) -> int:
        return hash((OpenAICompatible, self.profile))

    @property
    def configuration(self) -> dict[str, Any]:
        """JSON that tells this provider and its profile from another.

        It becomes part of every journal, so it says no more than it must: a profile whose
        sources were read again, or that a later version can say more of, is still the same.
        """
        plain = Profile(name="", read_on=self.profile.read_on)
        profile = {
            field.name: sorted(value) if isinstance(value, tuple | frozenset) else value
            for field in fields(plain)
            if (value := getattr(self.profile, field.name)) != getattr(plain, field.name)
        }
        return {"provider": self.name, "profile": profile}

    def to_wire(self, request: Request) -> dict[str, Any]:
        """The JSON body of `request`, asking for a whole answer. See module `to_wire`."""
        return to_wire.to_wire(request, self.profile)

    def to_wire_stream(self, request: Request) -> dict[str, Any]:
        """The same body asking for a stream, and for usage in it where the profile does."""
        return to_wire.streamed(self.to_wire(request), self.profile)

    def from_wire(self, body: Mapping[str, Any]) -> Response:
        """The answer in a whole body. See module `answer`.

        Raises:
            ProviderError: the body is an error, or no answer.
        """
        return answer.read_body(body, self.profile)

    def stream_from_wire(self, chunks: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        """The answer in decoded chunks, as events, each as soon as its chunk is there.

        A transport that saw `[DONE]` may say so with a last chunk `DONE`; without it, the
        end of `chunks` counts as whole only after a finish word or a closing usage.

        Raises:
            ProviderError: the stream carries an error; events before it have been given.
            NetworkError: the chunks end before the answer is whole.
        """
        return answer.read_stream(chunks, self.profile)

    def stream_reader(self) -> answer.StreamReader:
        """A reader for chunks that are pushed: `feed(chunk)`, then `close()`."""
        return answer.StreamReader(self.profile)

    def decode_body(self, body: bytes) -> dict[str, Any]:
        """A whole body as JSON. Raises `ProviderError` where it is no JSON object."""
        return decoding.decode_body(body)

    def decode_event(self, data: str) -> Mapping[str, Any]:
        """The data of one server-sent event as a chunk; `[DONE]` gives `DONE`.

        Raises:
            NetworkError: the JSON stops in its middle.
            ProviderError: it is no JSON object.
        """
        return decoding.decode_event(data)

    def error_from_wire(
        self, status: int, body: bytes, headers: Mapping[str, str] | None = None
    ) -> ProviderError:
        """The error that an answer with a status of 400 or more tells. Raises nothing."""
        return failures.error_from_status(status, body, headers)
