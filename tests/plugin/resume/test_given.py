"""A check that would look at nothing is refused: it would be green for that."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_synaptum import ModelDouble, check_resume, says
from synaptum import Agent


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
