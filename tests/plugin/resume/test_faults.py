"""For each promise an agent or a store that breaks it: red, at the step, with the cause named."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import replace

import pytest
from support.agents import MODEL, outline
from support.resumable import check, read, small

from pytest_synaptum import Stop
from synaptum import Agent, MemoryCheckpointer, deferred, tool
from synaptum.errors import UncertainEffect
from synaptum.gateway.base import CallContext
from synaptum.journal.store import RunState
from synaptum.testing import ScriptedModel, calls
from synaptum.tools.search import ToolIndex
from synaptum.vocabulary import Phase, ToolStep

READS = (calls("read", path="a"), calls("read", path="b"), "Done.")


def first(report):
    """The first finding of a report that is red."""
    assert not report
    assert not report.ok
    return report.findings[0]


def test_a_clock_in_the_instructions():
    ticks = itertools.count(1_764_547_200)

    found = first(check(lambda: small(instructions=lambda: f"It is {next(ticks)}."), *READS))

    assert (found.check, found.step, found.path) == ("request", "000000-model attempted", "system")
    assert (found.recorded, found.came) == ('"It is 1764547200."', '"It is 1764547203."')
    assert found.cause.startswith("the clock")


def test_a_random_id_in_the_instructions():
    found = first(check(lambda: small(instructions=lambda: f"Session {uuid.uuid4().hex}"), *READS))

    assert (found.check, found.path) == ("request", "system")
    assert found.cause.startswith("randomness")


def test_a_random_id_in_a_tools_result():
    @tool
    async def order(item: str) -> str:
        """Order something."""
        return f"order {uuid.uuid4()}"

    found = first(check(lambda: small(order), calls("order", item="x"), "Done."))

    assert (found.check, found.step) == ("journal", "000001-tool completed")
    assert found.path == "result.content[0].text"
    assert found.cause.startswith("randomness")


def test_a_set_in_a_tools_result():
    turn = itertools.cycle([["alpha", "beta"], ["beta", "alpha"]])

    @tool(idempotent=True)
    async def names() -> list[str]:
        """List names."""
        return next(turn)

    found = first(check(lambda: small(names), calls("names"), "Done."))

    assert found.step == "000001-tool completed"
    assert found.cause.startswith("the order of a set")


def counting_tool():
    """An agent whose tool says that it may be repeated, and counts."""
    count = itertools.count(1)

    @tool(idempotent=True)
    async def book(seat: str) -> str:
        """Book a seat."""
        return f"booking {next(count)}"

    return small(book)


def test_a_tool_wrongly_declared_idempotent():
    model = ScriptedModel(calls("book", seat="1A"), "Done.")

    report = check(
        counting_tool, gateway=lambda: model.gateway(counting_tool().plan.tools.values())
    )

    found = first(report)
    assert found.step == "000001-tool completed"
    assert (found.recorded, found.came) == ('"booking 1"', '"booking 2"')
    assert found.cause.startswith("a tool wrongly declared idempotent")
    # It shows where the tool ran before the stop and its result was not written, only there.
    assert [str(one.cell) for one in report.findings] == [
        "error before write, 3 000001-tool completed"
    ]


def test_state_that_goes_on_from_run_to_run():
    count = itertools.count(1)

    @tool
    async def ticket() -> str:
        """Draw a ticket."""
        return f"ticket {next(count)}"

    found = first(check(small(ticket), calls("ticket"), "Done."))

    assert found.where == "the same run again, not stopped"
    assert found.cause.startswith("state that outlives a run")


def test_changed_tools():
    made = itertools.count()

    def changing():
        @tool(idempotent=True)
        async def more() -> str:
            """Do more."""
            return ""

        return small(read, more) if next(made) > 3 else small(read)

    found = first(check(changing, *READS))

    assert "tools" in found.cause
    assert found.cause.startswith("changed code")


def test_a_truncation_that_depends_on_time():
    clock = itertools.count(0, 100)

    @tool(idempotent=True)
    async def page() -> str:
        """Read a page, in the time that is left."""
        return ("word " * 100)[: 400 - next(clock)]

    found = first(check(small(page), calls("page"), "Done."))

    assert found.step == "000001-tool completed"
    assert found.cause.startswith("a truncation")


def test_a_search_of_the_deferred_catalogue_that_is_not_deterministic(monkeypatch):
    real, turn = ToolIndex.search, itertools.count()

    def unstable(self, query, limit):
        found = real(self, query, limit)
        return found if next(turn) % 2 == 0 else found[::-1]

    monkeypatch.setattr(ToolIndex, "search", unstable)

    @tool(idempotent=True)
    async def read_letter(path: str) -> str:
        """Read a letter."""
        return path

    @tool(idempotent=True)
    async def read_mail(path: str) -> str:
        """Read a mail."""
        return path

    agent = Agent("a", model=MODEL, tools=deferred([read_letter, read_mail]))
    found = first(check(agent, calls("buscar_herramientas", consulta="read"), "Done."))

    assert found.step == "000001-tool completed"
    assert found.cause.startswith("a search of the deferred catalogue")


class Store:
    """A store in memory that goes wrong at one event, once a run."""

    def __init__(self):
        self.inner = MemoryCheckpointer()

    async def append(self, run_id, event):
        await self.inner.append(run_id, event)

    async def load(self, run_id):
        return await self.inner.load(run_id)


class Losing(Store):
    async def append(self, run_id, event):
        if (event.step_id, event.phase) != ("000001-tool", Phase.COMPLETED):
            await self.inner.append(run_id, event)


class Duplicating(Store):
    async def load(self, run_id):
        events = (await self.inner.load(run_id)).events
        return RunState(run_id, (*events[:3], *events[2:]))


class Reordering(Store):
    async def load(self, run_id):
        events = (await self.inner.load(run_id)).events
        return RunState(run_id, (*events[:4], *reversed(events[4:6]), *events[6:]))


@pytest.mark.parametrize(
    ("store", "cause", "step"),
    [
        (Losing, "did not keep it", "000001-tool completed"),
        (Duplicating, "kept one write twice", "000001-tool attempted"),
        (Reordering, "another order", "000002-model attempted"),
    ],
)
def test_a_store_that_loses_duplicates_or_reorders_a_write(store, cause, step):
    found = first(check(small, *READS, checkpointer=store))

    assert (found.check, found.step) == ("store", step)
    assert cause in found.cause


def test_a_store_that_loses_a_write_only_where_the_run_is_stopped():
    class LosingAtStops(Store):
        last = None

        async def append(self, run_id, event):
            self.last, before = (run_id, event), self.last
            if before is not None:
                await self.inner.append(*before)

        async def load(self, run_id):
            # What is written last is lost where somebody else reads before the next write.
            if self.last is not None and self.last[1].step_id.endswith("final"):
                await self.inner.append(*self.last)
            return await self.inner.load(run_id)

    found = first(check(small, *READS, checkpointer=LosingAtStops))

    assert (found.check, found.cell.boundary.number) == ("store", 0)
    assert "did not keep it" in found.cause


class Wrapped:
    """An agent in front of another, that does one thing wrong."""

    def __init__(self, inner):
        self.inner = inner

    async def run(self, task, *, session):
        async for step in self.inner.run(task, session=session):
            yield step


def test_an_agent_that_runs_an_uncertain_call_again():
    @tool
    async def send(to: str) -> str:
        """Send a letter."""
        return "sent"

    class Repeating(Wrapped):
        async def run(self, task, *, session):
            while True:
                try:
                    async for step in self.inner.run(task, session=session):
                        yield step
                except UncertainEffect as error:
                    await session.resolve(error.step_id, rerun=True)
                else:
                    return

    report = check(
        lambda: Repeating(small(send)),
        gateway=lambda: model.gateway([send]),
        model=(model := ScriptedModel(calls("send", to="A"), "Done.")),
    )

    checks = {finding.check for finding in report.findings}
    assert "uncertain" in checks
    found = next(one for one in report.findings if one.check == "uncertain")
    assert found.step == "000001-tool attempted"
    assert found.message == "UncertainEffect was not raised"


def test_an_answer_on_record_that_is_asked_for_again():
    class Asking(Wrapped):
        async def run(self, task, *, session):
            state = await session.state()
            last = state.events[-1] if state.events else None
            if last is not None and outline([last]) == ["000000-model completed"]:
                question = replace(last.request, tools=self.inner.plan.definitions)
                context = CallContext(session.run_id, last.step_id)
                await session.gateway.invoke_model(question, context)
            async for step in self.inner.run(task, session=session):
                yield step

    report = check(
        lambda: Asking(small()),
        gateway=lambda: model.gateway([read]),
        model=(model := ScriptedModel(*READS)),
    )

    found = first(report)
    assert (found.check, found.step) == ("asked again", "000000-model completed")
    assert "tokens are paid twice" in found.cause


def test_an_agent_that_goes_on_with_another_configuration():
    class Lax(Agent):
        def run(self, task, *, session):
            return super().run(task, session=forgetting(session))

    def forgetting(session):
        class Store:
            async def append(self, run_id, event):
                await inner.append(run_id, event)

            async def load(self, run_id):
                events = (await inner.load(run_id)).events
                return RunState(run_id, tuple(replace(event, meta={}) for event in events))

        inner, session.checkpointer = session.checkpointer, Store()
        return session

    report = check(Lax("a", model=MODEL, tools=[read]), *READS)

    found = next(one for one in report.findings if one.check == "configuration")
    assert found.message == "the run was gone on with by another model"


def test_an_agent_that_swallows_the_error_of_the_store():
    class Stubborn(Wrapped):
        async def run(self, task, *, session):
            while True:
                try:
                    async for step in self.inner.run(task, session=session):
                        yield step
                except Exception as error:
                    if type(error).__name__ != "StoppedError":
                        raise
                else:
                    return

    report = check(
        lambda: Stubborn(small()),
        gateway=lambda: model.gateway([read]),
        model=(model := ScriptedModel(*READS)),
        stops={Stop.AFTER},
    )

    assert first(report).message == "the run was stopped here, and went on or ended otherwise"


def test_an_effect_that_happens_twice_is_found():
    done = []

    @tool
    async def send(to: str) -> str:
        """Send a letter."""
        done.append(to)
        return "sent"

    class Calling(Wrapped):
        async def run(self, task, *, session):
            state = await session.state()
            last = state.events[-1] if state.events else None
            if isinstance(last, ToolStep) and last.phase is Phase.ATTEMPTED:
                context = CallContext(session.run_id, last.step_id)
                result = await session.gateway.invoke_tool(last.call, context)
                await session.resolve(last.step_id, result=result)
            async for step in self.inner.run(task, session=session):
                yield step

    report = check(
        lambda: Calling(small(send)),
        gateway=lambda: model.gateway([send]),
        model=(model := ScriptedModel(calls("send", to="A"), "Done.")),
    )

    found = next(one for one in report.findings if one.check == "effect")
    assert found.message == "the tool 'send' took effect 2 times"
    assert found.cell.stop is Stop.BEFORE
