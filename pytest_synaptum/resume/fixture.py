"""`resume_check`: a run stopped anywhere, in any way, ends as the run that was not stopped.

async def test_it_survives(resume_check, recorded_provider):
await resume_check(agent, "Go", gateway=lambda: recorded_provider.gateway(tools))

def test_it_survives(resume_check, model_double):
resume_check.run(agent, "Go", model=model_double(calls("read"), "Done."),
checkpointer=lambda folder: SqliteCheckpointer(folder / "journal.db"))
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any

import pytest

from pytest_synaptum.resume.any_agent import check_any
from pytest_synaptum.resume.check import Checker
from pytest_synaptum.resume.given import (
    agent_factory,
    allow,
    check_extent,
    gateway_factory,
    imported,
    is_reference,
    refuse_settings,
)
from pytest_synaptum.resume.passage import Setup
from pytest_synaptum.resume.perturb import perturbed
from pytest_synaptum.resume.protocol import is_any_agent
from pytest_synaptum.resume.report import ResumeReport
from pytest_synaptum.resume.stops import Stop
from pytest_synaptum.resume.stores import store_factory
from pytest_synaptum.resume.workplace import workplace
from synaptum.vocabulary import ApprovalStep, Decision

__all__ = ["RESUME_REPORTS", "ResumeCheck", "check_resume"]

#: The reports of a test, as plain JSON, for those who show a run.
RESUME_REPORTS = pytest.StashKey[list[dict[str, Any]]]()


async def check_resume(
    agent: Any,
    task: Any = None,
    *,
    gateway: Any = None,
    model: Any = None,
    checkpointer: Callable[..., Any] | None = None,
    stream: bool = False,
    stops: Collection[Stop] | None = None,
    decide: Callable[[ApprovalStep], Decision] = allow,
    perturb: bool = False,
    sample: int | None = None,
) -> ResumeReport:
    """Run once straight, then stop at every boundary in every way, resume, and compare.

    Args:
        agent: an `Agent`, a function that makes one, or a function of a folder that makes an
            `AnyAgent` (another framework's); each of them as `module:name` too.
        task: what the agent is asked.
        gateway: a function that makes the gateway, from nothing or from `model`;
            `module:function` too. Without it the model answers and the agent's own tools run.
        model: who answers: a `recorded_provider`, a double, any model. It is asked by the
            straight run only.
        checkpointer: opens a store; a function of a new folder, or of nothing. In memory
            without it. Where the store outlives the process, processes are killed too.
        stream: run by `agent.stream`.
        stops: the kinds of stop; all that can be made without it.
        decide: answers each approval; all are allowed without it.
        perturb: also in fresh processes under other surroundings; the agent (and the gateway)
            must be importable then.
        sample: look at about so many boundaries, not at all of them.

    Raises:
        TypeError, ValueError, ConfigurationError: what was given cannot be checked.
        Exception: what the straight run raised, where that is no end of a run.
    """
    check_extent(stops, sample, perturb)
    given = imported(agent) if is_reference(agent) else agent
    with workplace() as folder:
        if is_any_agent(given):
            ours = {"gateway": gateway, "model": model, "checkpointer": checkpointer}
            ours |= {"stream": stream, "decide": decide, "perturb": perturb}
            refuse_settings(agent, ours)
            return await check_any(given, task, folder, stops=stops, sample=sample)
        make_agent = agent_factory(agent)
        setup = Setup(
            agent=make_agent,
            task=task,
            gateway=gateway_factory(gateway, model, make_agent),
            open_store=store_factory(checkpointer),
            is_streamed=stream,
            decide=decide,
        )
        checker = Checker(setup, folder)
        report = await checker.run(stops=stops, sample=sample)
        if perturb and report.ok:
            await perturbed(checker.runner, agent=agent, gateway=gateway, setup=setup)
        return report


class ResumeCheck:
    """What the fixture gives: `await resume_check(...)`, or `resume_check.run(...)`.

    Takes what `check_resume` takes, and fails the test with the report where it found anything.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    async def __call__(self, agent: Any, task: Any = None, **settings: Any) -> ResumeReport:
        """Check from a coroutine. The report that is returned is true."""
        __tracebackhide__ = True
        return self._judged(await check_resume(agent, task, **settings))

    def run(self, agent: Any, task: Any = None, **settings: Any) -> ResumeReport:
        """Check from a plain function. The report that is returned is true.

        Raises:
            RuntimeError: an event loop is running here.
        """
        __tracebackhide__ = True
        if _is_in_loop():
            msg = (
                "resume_check.run(...) is for plain functions, and this is called from a coroutine:"
                " write `await resume_check(...)`."
            )
            raise RuntimeError(msg)
        return self._judged(asyncio.run(check_resume(agent, task, **settings)))

    def _judged(self, report: ResumeReport) -> ResumeReport:
        __tracebackhide__ = True
        self._item.stash.setdefault(RESUME_REPORTS, []).append(report.to_json())
        if not report.ok:
            pytest.fail(report.text(), pytrace=False)
        return report


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
