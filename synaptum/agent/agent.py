"""The agent: a configuration with two ways to run it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any, cast

from synaptum.agent.delegate import Delegate
from synaptum.agent.limits import Limits
from synaptum.agent.loop import Run
from synaptum.agent.plan import Instructions, Plan
from synaptum.agent.sampling import Sampling
from synaptum.agent.session import Session
from synaptum.errors import ConfigurationError
from synaptum.providers.registry import installed, split_model
from synaptum.schema.output import output_type
from synaptum.tools.base import Tool, check_tool_names, refuse_set
from synaptum.vocabulary import ContentPart, Message, Role, Step, StreamEvent
from synaptum.wording import ENGLISH, SPANISH, Wording

__all__ = ["Agent", "Task"]

#: What a run is asked: a text, content parts (text with images ...), a conversation to go on
#: from (worked turns for a small model, an earlier chat), or None to go on with a run that is
#: on record.
Task = str | Sequence[ContentPart] | Sequence[Message] | None


class Agent:
    """A model with instructions and tools; it holds no state of any run.

    Args:
        name: for people, and for the model where this agent is another's delegate.
        model: `provider:name`, such as `openai-compatible:qwen3-8b`. The prefix names who
            normalises the answers and never travels.
        instructions: the system prompt, or a function asked for it at every turn.
        tools: in the order in which they are offered.
        delegates: sub-agents, offered after the tools; an `Agent` or a `Delegate`.
        output: the type of the answer: a dataclass, a Pydantic model or a JSON Schema.
            Without it the answer is text.
        limits: bounds of a run.
        sampling: settings of every request.
        wording: the sentences that the model and the people read.
        description: what a model reads about this agent where it is a delegate.

    Raises:
        ConfigurationError: a name stands twice, no such provider, an untranslatable type, or
            a setting of another type.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str,
        instructions: Instructions | None = None,
        tools: Iterable[Tool] = (),
        delegates: Iterable[Delegate | Agent] = (),
        output: Any = None,
        limits: Limits | None = None,
        sampling: Sampling | None = None,
        wording: Wording = ENGLISH,
        description: str = "",
    ) -> None:
        self.name = name
        self.description = description
        offered = check_tool_names(tools)
        refuse_set("delegates", delegates)
        handed_on = [_delegate(item) for item in delegates]
        _check_kinds(name, instructions, limits, sampling, wording)
        kind = None if output is None else output_type(output)
        self._plan = Plan(
            name=name,
            model=model,
            wire_model=_wire_model(model),
            instructions=instructions,
            tools={tool.name: tool for tool in offered},
            delegates=_by_name(handed_on, {tool.name for tool in offered}),
            definitions=(
                *(tool.definition for tool in offered),
                *(delegate.definition for delegate in handed_on),
            ),
            output=kind,
            response_format=None if kind is None else kind.response_format,
            limits=limits or Limits(),
            sampling=sampling or Sampling(),
            wording=wording,
        )

    def __repr__(self) -> str:
        return f"Agent({self.name!r}, model={self._plan.model!r})"

    @property
    def plan(self) -> Plan:
        """The configuration, checked and settled."""
        return self._plan

    def run(self, task: Task, *, session: Session) -> AsyncGenerator[Step, None]:
        """Run, or go on with a run; every step as ATTEMPTED and as COMPLETED.

        Steps that are on record come first, as they are. The last step is a `FinalStep`
        whose `output` is of the agent's output type; or an `ApprovalStep` that is ATTEMPTED:
        then the run is suspended until `session.decide`, and is resumed by running it again.
        Ending the iteration (`aclose`) is the cancellation.

        Raises:
            ConfigurationError: the run has another configuration or task, or the gateway
                lacks a tool.
            JournalBusyError: the run is going on elsewhere, in this process or another.
            UncertainEffect: a call was interrupted and may have taken effect.
            LimitExceeded, NoObjectGeneratedError, InvalidToolCallError, Denied: as they say.
            SynaptumError: what the model raised once no retry was left.
        """
        events = Run(self._plan, session, streaming=False).events(_opening(task))
        return events  # type: ignore[return-value] # without streaming there are only steps

    def stream(self, task: Task, *, session: Session) -> AsyncGenerator[Step | StreamEvent, None]:
        """As `run`, with the model's fragments between a step's intent and its end.

        It is the same loop and the same journal. A step that is on record gives no
        fragments; a retry opens the cycle again with another `StreamStart` and withdraws
        nothing. Ending the iteration closes the stream of the model. A sub-agent's
        fragments are not shown: its steps stand in its own journal.
        """
        return Run(self._plan, session, streaming=True).events(_opening(task))


def _delegate(given: object) -> Delegate:
    if isinstance(given, Delegate):
        return given
    if isinstance(given, Agent):
        return Delegate(given)
    msg = f"delegates= holds {given!r}, which is neither an Agent nor a Delegate."
    raise ConfigurationError(msg)


def _check_kinds(
    name: object, instructions: object, limits: object, sampling: object, wording: object
) -> None:
    """Refuse here what would break, or go unseen, in the middle of a run."""
    if not isinstance(name, str) or not name:
        msg = f"Agent({name!r}): an agent's name is a text that is not empty."
        raise ConfigurationError(msg)
    if not (instructions is None or isinstance(instructions, str) or callable(instructions)):
        msg = f"Agent(instructions={instructions!r}): give a text, or a function that gives one."
        raise ConfigurationError(msg)
    for what, value, kind in (("limits", limits, Limits), ("sampling", sampling, Sampling)):
        if not (value is None or isinstance(value, kind)):
            msg = f"Agent({what}={value!r}): give a {kind.__name__}, as in {kind.__name__}(...)."
            raise ConfigurationError(msg)
    if not isinstance(wording, Wording):
        msg = f"Agent(wording={wording!r}): give a Wording, such as ENGLISH or SPANISH."
        raise ConfigurationError(msg)
    if any(wording.name == ours.name and wording != ours for ours in (ENGLISH, SPANISH)):
        msg = (
            f"Agent(wording=...): its name is {wording.name!r}, which is that of other sentences,"
            " so a run could be resumed in other words: give it a name of its own."
        )
        raise ConfigurationError(msg)


def _opening(task: Task) -> tuple[Message, ...] | None:
    if task is None:
        return None
    if isinstance(task, str):
        return (Message.user(task),)
    given: object = task
    items: tuple[object, ...] = tuple(given) if isinstance(given, Sequence) else ()
    if items and all(isinstance(item, ContentPart) for item in items):
        return (Message(Role.USER, cast("tuple[ContentPart, ...]", items)),)
    messages = tuple(item for item in items if isinstance(item, Message))
    if not messages or len(messages) != len(items) or messages[-1].role is Role.ASSISTANT:
        msg = (
            "A task is a text, content parts, or messages of which the last is not the"
            " assistant's: ask something."
        )
        raise ConfigurationError(msg)
    return messages


def _by_name(delegates: Iterable[Delegate], taken: set[str]) -> dict[str, Delegate]:
    named: dict[str, Delegate] = {}
    for delegate in delegates:
        if delegate.name in taken or delegate.name in named:
            msg = (
                f"Two tools or delegates are called {delegate.name!r}, and a model cannot tell"
                " them apart: give one another name, as in Delegate(agent, name=...)."
            )
            raise ConfigurationError(msg)
        named[delegate.name] = delegate
    return named


def _wire_model(model: str) -> str:
    """The name that travels: what stands behind the provider's prefix."""
    if not model:
        msg = "Agent(model=''): name a model, such as 'openai-compatible:qwen3-8b'."
        raise ConfigurationError(msg)
    if ":" not in model:
        return model  # a name alone: whoever holds the model knows how to read its answers
    prefix, name = split_model(model)
    if prefix not in _known_prefixes and prefix not in installed():
        msg = (
            f"Agent(model={model!r}): no provider is installed for the prefix {prefix!r};"
            f" installed: {', '.join(installed()) or 'none'}."
        )
        raise ConfigurationError(msg)
    _known_prefixes.add(prefix)
    return name


#: Prefixes that were found once: looking through what is installed takes milliseconds.
_known_prefixes: set[str] = set()
