"""A check that would look at nothing is refused: it would be green for that."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.resumable import with_approvals
from support.stores import FILE_STORES

from pytest_synaptum import ModelDouble, Stop, check_resume, says
from synaptum import Agent
from synaptum.errors import ConfigurationError


def check(agent: Any = None, **settings: Any) -> None:
    agent = agent or Agent("a", model="m")
    asyncio.run(check_resume(agent, "Go", model=ModelDouble(says("Done.")), **settings))


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"stops": set()}, ValueError, "nothing would be stopped"),
        ({"stops": {"after"}}, TypeError, "'after' is no kind of stop; there are Stop.ENDED"),
        ({"stops": "after"}, TypeError, "a collection of Stop is needed"),
        ({"sample": 0}, ValueError, "at least one boundary is looked at"),
        ({"sample": -1}, ValueError, "at least one boundary is looked at"),
        ({"sample": "3"}, TypeError, "is a whole number"),
        ({"sample": True}, TypeError, "is a whole number"),
    ],
)
def test_a_check_of_nothing_is_refused(
    settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        check(**settings)


def test_a_reference_that_makes_no_agent_says_so() -> None:
    with pytest.raises(TypeError, match="made a str, which is no Agent"):
        check("os:getcwd")


@pytest.mark.parametrize("stop", [Stop.IN_STREAM, Stop.KILLED_EFFECT])
def test_stops_that_this_run_does_not_have_are_refused(stop: Stop) -> None:
    with pytest.raises(ConfigurationError, match="can be stopped in the ways that are left"):
        check(stops={stop}, checkpointer=FILE_STORES["jsonl"])


def test_in_a_coroutine_the_plain_form_says_what_to_write(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import asyncio
        from synaptum import Agent

        def test_it(resume_check, model_double):
            async def go():
                resume_check.run(Agent("a", model="m"), "Go", model=model_double("Hi"))

            asyncio.run(go())
        """
    )

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")

    result.stdout.fnmatch_lines(["*RuntimeError: *write `await resume_check(...)`.*"])
    assert "never awaited" not in result.stdout.str()


def test_a_decision_that_is_none_is_told() -> None:
    agent, _, gateway = with_approvals()

    with pytest.raises(TypeError, match="decide= gave a NoneType"):
        check(agent, gateway=gateway, decide=lambda step: None)


def test_a_gateway_of_a_model_that_is_not_given_says_so() -> None:
    with pytest.raises(TypeError, match="takes a model, and there is none: give model= as well"):
        asyncio.run(
            check_resume(Agent("a", model="m"), "Go", gateway=lambda model: model.gateway())
        )
