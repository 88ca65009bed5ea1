"""`model_double`: the scripted model as a fixture, which also holds the test to its script.

    async def test_agent(model_double):
        model = model_double(calls("search", q="fjord"), "It is a narrow inlet.", tools=[search])
        session = Session("run-1", model.gateway())

The script itself is `synaptum.testing.ScriptedModel`. What the double adds: every request is
written as a body and linted, scripted arguments are checked against the tool's schema, a turn
too many fails the test even where the code under test swallows the error, and turns that
nobody asked for fail it at teardown.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_synaptum.corpus.wire_lint import lint, report
from pytest_synaptum.report.parts import Parts
from pytest_synaptum.resume.repeating import is_repeating
from synaptum import canonical
from synaptum.gateway.base import CallContext
from synaptum.gateway.local import LocalGateway, Policy
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.schema.problems import SchemaProblemError
from synaptum.schema.validate import validate
from synaptum.testing import (
    FakeClock,
    ScriptedModel,
    ScriptError,
    breaks,
    calls,
    cut,
    denies,
    drops,
    fails,
    filtered,
    refuses,
    says,
    thinks,
)
from synaptum.tools.base import Tool
from synaptum.vocabulary import Finish, Request, Response, Step, StreamEvent
from synaptum.vocabulary.codec import from_json, to_json
from synaptum.wording import ENGLISH

__all__ = [
    "ModelDouble",
    "breaks",
    "calls",
    "cut",
    "denies",
    "drops",
    "fails",
    "filtered",
    "refuses",
    "says",
    "scripted_models",
    "slow",
    "thinks",
]


@dataclass(frozen=True, slots=True)
class _Slow:
    seconds: float
    item: Any


def slow(seconds: float, item: Any) -> _Slow:
    """The turn `item`, its first token after `seconds` on the double's clock; nothing is waited."""
    return _Slow(seconds, item)


class ModelDouble:
    """A model that answers from a script; fits wherever a real model does.

    Args:
        script: one item a turn; see `synaptum.testing.scripted`, and `slow`.
        tools: what `gateway()` can run.
        policy: what `gateway()` asks before every call.
        strict: check scripted calls against the tools that the request offers and their
            schemas; switch it off for a model that is meant to stray.
        lint: refuse a request whose body no OpenAI-compatible server takes.
        clock: what `slow` turns let pass.
        journalled: told of every step of the runs that `gateway()` serves.

    Attributes:
        answers: what each was answered; None where no whole answer came.
    """

    def __init__(
        self,
        *script: Any,
        tools: Iterable[Tool] = (),
        policy: Policy | None = None,
        strict: bool = True,
        lint: bool = True,
        clock: FakeClock | None = None,
        journalled: Callable[[Step], None] | None = None,
    ) -> None:
        if not script:
            msg = (
                "model_double needs a script of at least one turn, such as model_double('Hello.')."
            )
            raise ValueError(msg)
        self.clock = clock or FakeClock()
        self._requests: list[bytes] = []
        self._wire: list[bytes] = []
        self.answers: list[Response | None] = []
        self.misuse: list[str] = []
        self._tools = tuple(tools)
        self._policy = policy
        self._lint = lint
        self._journalled = journalled
        self._wait_s = 0.0
        self._model = ScriptedModel(
            *(self._item(item) for item in script),
            strict=strict,
            check=_check_arguments if strict else None,
        )

    def __repr__(self) -> str:
        if not hasattr(self, "_model"):
            return "ModelDouble(not made)"  # its script or its settings were refused
        return f"ModelDouble({len(self._requests)} requests, {len(self.left)} turns left)"

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request, as it was when it came; nothing that is done to it changes it."""
        # A request is frozen, and what it holds (schemas, provider options) is not.
        return tuple(from_json(Request, canonical.loads(text)) for text in self._requests)

    @property
    def wire(self) -> tuple[dict[str, Any], ...]:
        """The JSON body of each, as the reference adapter writes it; likewise."""
        return tuple(canonical.loads(text) for text in self._wire)

    @property
    def left(self) -> tuple[Any, ...]:
        """The turns that nobody asked for yet."""
        return self._model.left

    @property
    def contexts(self) -> list[CallContext | None]:
        """Which step of which run each request belonged to; None where nobody said."""
        return self._model.contexts

    async def __call__(self, request: Request, context: CallContext | None = None) -> Response:
        """The same as `complete`."""
        return await self.complete(request, context)

    async def complete(self, request: Request, context: CallContext | None = None) -> Response:
        """The next turn, whole.

        Raises:
            ScriptError: a turn too many, a call that does not fit, or a body that no server
                takes; the test fails even if nobody lets it through.
            Exception: what the turn is scripted to raise.
        """
        with self._noting():
            place = self._keep(request, stream=False)
            response = await self._model.complete(request, context)
        self.answers[place] = response
        await self._pass_time()
        return response

    async def stream(
        self, request: Request, context: CallContext | None = None
    ) -> AsyncGenerator[StreamEvent, None]:
        """The next turn as a stream. Raises what `complete` raises."""
        with self._noting():
            place = self._keep(request, stream=True)
            events = self._model.stream(request, context)
            try:
                async for event in events:
                    await self._pass_time()
                    if isinstance(event, Finish):
                        self.answers[place] = event.response
                    yield event
            finally:
                await events.aclose()

    def gateway(
        self, tools: Iterable[Tool] | None = None, policy: Policy | None = None
    ) -> LocalGateway:
        """A gateway with this model; tools and policy are the double's unless given here."""
        return LocalGateway(
            model=self.complete,
            stream=self.stream,
            tools=self._tools if tools is None else tools,
            policy=policy or self._policy,
            journalled=self._journalled,
        )

    def _item(self, item: Any) -> Any:
        if not isinstance(item, _Slow):
            return item

        def answer(request: Request) -> Any:
            self._wait_s = item.seconds
            return item.item(request) if callable(item.item) else item.item

        return answer

    async def _pass_time(self) -> None:
        if self._wait_s:
            wait_s, self._wait_s = self._wait_s, 0.0
            await self.clock.sleep(wait_s)

    def _keep(self, request: Request, *, stream: bool) -> int:
        """Keep a request, and lint it; its place."""
        # Copies: what the caller changes later must not change what was asked.
        self._requests.append(canonical.wire_bytes(to_json(request)))
        provider = OpenAICompatible()
        body = provider.to_wire_stream(request) if stream else provider.to_wire(request)
        self._wire.append(canonical.wire_bytes(body))
        self.answers.append(None)
        findings = lint(body) if self._lint else []
        if findings:
            raise ScriptError(report(findings))
        return len(self.answers) - 1

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except ScriptError as error:
            self.misuse.append(str(error))
            raise


def _check_arguments(response: Response, request: Request) -> None:
    schemas = {tool.name: tool.parameters for tool in request.tools}
    for call in response.tool_calls:
        if call.name not in schemas or call.unreadable_arguments is not None:
            continue
        try:
            validate(schemas[call.name], to_json(call.arguments))
        except SchemaProblemError as error:
            told = error.problem.text(ENGLISH.problems)
            msg = (
                f"The script calls {call.name!r} with arguments that its schema refuses: {told}"
                " Correct the script; for a model that is meant to stray, strict=False."
            )
            raise ScriptError(msg) from None


@contextmanager
def scripted_models(
    passed: Callable[[], bool], parts: Parts | None = None
) -> Iterator[Callable[..., ModelDouble]]:
    """What the fixture gives: makes doubles, and holds them to their scripts at the end.

    Args:
        passed: called at the end; whether the test's body passed.
        parts: takes what the doubles were asked, and their runs, for the page of the run.
    """
    watching = {} if parts is None else {"journalled": parts.journalled}
    made: list[ModelDouble] = []

    def model_double(*script: Any, **settings: Any) -> ModelDouble:
        double = ModelDouble(*script, **watching | settings)
        if not is_repeating():
            made.append(double)
        return double

    yield model_double
    if parts is not None:
        for double in made:
            parts.scripted += zip(double.requests, double.wire, double.answers, strict=True)
    if not passed():
        return
    for double in made:
        if double.misuse:
            pytest.fail(double.misuse[0], pytrace=False)
        if double.left:
            shown = ", ".join(_short(item) for item in double.left)
            msg = (
                f"The script of this double has turns that nobody asked for: {shown}. Requests that"
                f" came: {len(double.requests)}. Remove the turns, or find out why the run ended"
                " early."
            )
            pytest.fail(msg, pytrace=False)


def _short(item: Any) -> str:
    text = repr(item)
    return text if len(text) <= 80 else f"{text[:79]}…"
