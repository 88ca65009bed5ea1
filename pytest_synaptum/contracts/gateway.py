"""What every gateway promises, as tests to subclass.

The tests give the gateway a model that answers from a script, tools, and a policy; the subclass
says how a gateway is made of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from synaptum.errors import Denied, InvalidToolCallError, NeedsHumanError, ToolExecutionError
from synaptum.gateway.base import CallContext
from synaptum.testing import ScriptedModel, says
from synaptum.tools import tool
from synaptum.vocabulary import (
    ALLOW,
    Decision,
    Disposition,
    Finish,
    Message,
    Request,
    ToolCall,
)

__all__ = ["GatewayContract"]

_REQUEST = Request("m", (Message.user("Hi"),))
_CONTEXT = CallContext("run-1", "000001-tool")


class GatewayContract:
    """Subclass it, name the subclass `Test...`, and say how a gateway is made.

    Attributes:
        has_policy: whether the gateway asks the policy it is given; one that is governed from
            elsewhere sets it to False, and these promises are skipped, visibly.
    """

    has_policy = True

    def open_gateway(self, model: ScriptedModel, tools: list[Any], policy: Any) -> Any:
        """A gateway to `model` (`.complete`, `.stream`) and `tools`; `policy` may be None."""
        msg = f"{type(self).__name__} must say how its gateway is made: open_gateway(...)."
        raise TypeError(msg)

    def _only_with_policy(self) -> None:
        if not self.has_policy:
            pytest.skip("the gateway is governed from elsewhere, and says so (has_policy = False)")

    def test_it_gives_the_whole_answer(self) -> None:
        """The model's answer, as the model gave it."""
        gateway = self.open_gateway(ScriptedModel(says("Hello")), [], None)

        response = asyncio.run(gateway.invoke_model(_REQUEST, _CONTEXT))

        assert response.text == "Hello", "invoke_model() gives another answer than the model's"

    def test_a_stream_folds_to_the_whole_answer(self) -> None:
        """Streamed and whole are one answer, and the last event carries it."""
        gateway = self.open_gateway(ScriptedModel(says("Hello there")), [], None)

        events = asyncio.run(_all(gateway.stream_model(_REQUEST, _CONTEXT)))

        assert isinstance(events[-1], Finish), "a stream ends with Finish"
        assert events[-1].response.text == "Hello there"

    def test_closing_a_stream_closes_that_of_the_model(self) -> None:
        """Or nobody stops the generation."""
        closed: list[bool] = []

        class Model(ScriptedModel):
            async def stream(self, request: Request, context: Any = None) -> Any:
                try:
                    async for event in super().stream(request, context):
                        yield event
                finally:
                    closed.append(True)

        async def leave() -> None:
            gateway = self.open_gateway(Model(says("Hello there")), [], None)
            events = gateway.stream_model(_REQUEST, _CONTEXT)
            await anext(events)
            await events.aclose()
            assert closed == [True], "the model's stream is still open after aclose()"

        asyncio.run(leave())

    def test_the_model_is_told_which_step_asks(self) -> None:
        """The idempotency key is made of it."""
        model = ScriptedModel(says("Hello"))

        asyncio.run(self.open_gateway(model, [], None).invoke_model(_REQUEST, _CONTEXT))

        context = model.contexts[0]
        assert context is not None, "the model was not given the context of the call"
        assert (context.run_id, context.step_id) == ("run-1", "000001-tool")

    def test_it_runs_a_tool_with_its_arguments(self) -> None:
        """And the result belongs to the call."""
        result = asyncio.run(self._call("add", {"a": 2, "b": 3}))

        assert (result.call_id, result.text, result.is_error) == ("call_1", "5", False)

    def test_an_unexpected_exception_of_a_tool_is_a_result_that_says_so(self) -> None:
        """The model reads it and goes on; the run does not end."""
        result = asyncio.run(self._call("explode", {}))

        assert result.is_error, "an exception of a tool must become an error result"

    def test_arguments_that_do_not_fit_are_refused(self) -> None:
        """Schema and function disagree, and somebody should know."""
        with pytest.raises(InvalidToolCallError):
            asyncio.run(self._call("add", {"a": 2}))

    def test_a_tool_that_is_not_there_is_refused(self) -> None:
        """By name."""
        with pytest.raises(InvalidToolCallError, match="nothing_of_that_name"):
            asyncio.run(self._call("nothing_of_that_name", {}))

    @pytest.mark.parametrize("error", [ToolExecutionError, NeedsHumanError])
    def test_what_a_tool_means_to_raise_gets_through(self, error: type[Exception]) -> None:
        """Whether to repeat, and whether a person is needed, is the tool's to say."""
        with pytest.raises(error):
            asyncio.run(self._call("raises", {"what": error.__name__}))

    def test_a_policy_that_refuses_is_obeyed_before_anything_happens(self) -> None:
        """Neither the tool nor the model is touched."""
        self._only_with_policy()
        decision = Decision(Disposition.DENY_STEP, "no", "Not today.")
        done: list[str] = []
        model = ScriptedModel(says("Hello"))
        gateway = self.open_gateway(model, _tools(done), lambda check: decision)

        call = ToolCall("c", "add", {"a": 1, "b": 1})
        with pytest.raises(Denied) as of_model:
            asyncio.run(gateway.invoke_model(_REQUEST, _CONTEXT))
        with pytest.raises(Denied) as of_tool:
            asyncio.run(gateway.invoke_tool(call, _CONTEXT))

        assert of_model.value.decision == of_tool.value.decision == decision
        assert (done, model.requests) == ([], []), "something happened although it was refused"

    def test_an_approval_answers_a_policy_that_asks_for_one(self) -> None:
        """And nothing else does."""
        self._only_with_policy()
        asks = Decision(Disposition.REQUIRE_APPROVAL, "sure")
        gateway = self.open_gateway(ScriptedModel(), _tools([]), lambda check: asks)
        call = ToolCall("c", "add", {"a": 1, "b": 1})
        with pytest.raises(Denied):
            asyncio.run(gateway.invoke_tool(call, _CONTEXT))

        allowed = CallContext("run-1", "000001-tool", approval=ALLOW)

        assert asyncio.run(gateway.invoke_tool(call, allowed)).text == "2"

    async def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        gateway = self.open_gateway(ScriptedModel(), _tools([]), None)
        return await gateway.invoke_tool(ToolCall("call_1", name, arguments), _CONTEXT)


def _tools(done: list[str]) -> list[Any]:
    @tool(idempotent=True)
    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        done.append("add")
        return a + b

    @tool
    async def explode() -> str:
        """Fail in a way that nobody foresaw."""
        msg = "boom"
        raise RuntimeError(msg)

    @tool(idempotent=True)
    async def raises(what: str) -> str:
        """Fail in a way that was meant."""
        msg = "as asked"
        if what == "NeedsHumanError":
            raise NeedsHumanError(msg)
        raise ToolExecutionError(msg, retryable=True)

    return [add, explode, raises]


async def _all(events: AsyncIterator[Any]) -> list[Any]:
    return [event async for event in events]
