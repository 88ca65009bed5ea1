"""What an agent does, settled before any run: the prefix of its requests and their limits.

What must not change within a run stands here, in the order in which a server caches it:
model, instructions, tools, output format. Messages come after and only grow. Source: seed
001, "El prefijo estable".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from synaptum import canonical
from synaptum.agent.limits import Limits
from synaptum.agent.sampling import Sampling
from synaptum.schema.output import OutputType
from synaptum.tools.base import MakesCalls, Tool
from synaptum.vocabulary import (
    Message,
    Request,
    ResponseFormat,
    Risk,
    ToolCall,
    ToolDefinition,
)
from synaptum.wording import Wording

if TYPE_CHECKING:
    from synaptum.agent.delegate import Delegate

__all__ = ["Instructions", "Plan"]

#: A text, or a function asked for it at every turn. A text that changes from turn to turn
#: throws the server's cache away each time, and the economy report says so.
Instructions = str | Callable[[], str]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """An agent's configuration, checked.

    Attributes:
        model: as configured, provider prefix included.
        wire_model: the name that travels.
        tools: by name, in the order they are offered; `delegates` follow them.
        definitions: what the model is offered, in that order.
        output: the type of the answer; None for plain text.
    """

    name: str
    model: str
    wire_model: str
    instructions: Instructions | None
    tools: Mapping[str, Tool]
    delegates: Mapping[str, Delegate]
    definitions: tuple[ToolDefinition, ...]
    output: OutputType | None
    response_format: ResponseFormat | None
    limits: Limits
    sampling: Sampling
    wording: Wording

    def request(self, messages: Sequence[Message]) -> Request:
        """The request that continues a conversation."""
        sampling = self.sampling
        return Request(
            model=self.wire_model,
            messages=messages,
            system=self._system(),
            tools=self.definitions,
            tool_choice=sampling.tool_choice,
            max_output_tokens=sampling.max_output_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            stop=sampling.stop,
            response_format=self.response_format,
            provider_options=sampling.provider_options,
        )

    def offers(self, call: ToolCall, *, within: bool = False) -> bool:
        """Whether a call names something there is and its arguments could be read.

        In: `within` says that a script makes the call, and not the model.
        """
        if within:
            return call.name in self.script_tools
        known = call.name in self.tools or call.name in self.delegates
        return known and call.unreadable_arguments is None

    def risk_of(self, name: str) -> Risk:
        """The risk of a tool or a delegate; READ for a name that nothing answers to."""
        return next((d.risk for d in self.definitions if d.name == name), Risk.READ)

    def definition_of(self, name: str) -> ToolDefinition:
        """What the model was told of a tool, be it for scripts only."""
        offered = next((d for d in self.definitions if d.name == name), None)
        return self.script_tools[name].definition if offered is None else offered

    def makes_calls(self, name: str) -> bool:
        """Whether a tool is one that calls others while it runs."""
        return isinstance(self.tools.get(name), MakesCalls)

    @cached_property
    def script_tools(self) -> Mapping[str, Tool]:
        """The tools that scripts can call, by name."""
        makers = [tool for tool in self.tools.values() if isinstance(tool, MakesCalls)]
        return {inner.name: inner for maker in makers for inner in maker.catalogue}

    @property
    def highest_risk(self) -> Risk:
        """The most this agent can do, its sub-agents included."""
        return max((d.risk for d in self.definitions), default=Risk.READ)

    @property
    def depth(self) -> int:
        """How many levels of sub-agents stand under this one; 0 without any."""
        return max((1 + d.plan.depth for d in self.delegates.values()), default=0)

    def _system(self) -> str | None:
        given = self.instructions() if callable(self.instructions) else self.instructions
        if self.output is None:
            return given
        # The field response_format is dropped by some servers, so the schema is said here too.
        schema = canonical.wire_text(self.output.schema)
        asked = self.wording.output_instructions.format(schema=schema)
        return asked if given is None else f"{given}\n\n{asked}"
