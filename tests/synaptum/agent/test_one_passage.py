"""A run is gone through once at a time, in one process too: nothing is carried out twice."""

from __future__ import annotations

import asyncio

import pytest
from support.agents import MODEL, outline, run
from support.stores import FILE_STORES

from synaptum import Agent, MemoryCheckpointer, Phase, Session, ToolStep, tool
from synaptum.errors import JournalBusyError
from synaptum.testing import ScriptedModel, calls


class Till:
    """A payment that takes as long as it is told to, and the agent that makes it."""

    def __init__(self):
        self.paid = []
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()

        @tool
        async def pay(amount: int) -> str:
            """Pay."""
            self.paid.append(amount)
            self.begun.set()
            for _ in range(50):  # the loop goes round, and others have their turn
                await asyncio.sleep(0)
            await self.may_end.wait()
            return "paid"

        self.tool = pay
        self.agent = Agent("a", model=MODEL, tools=[pay])

    def session(self, store, run_id="r1"):
        model = ScriptedModel(calls("pay", amount=5), "Paid.")
        return Session(run_id, model.gateway([self.tool]), store)


@pytest.fixture(params=["memory", *FILE_STORES])
def stores(request, tmp_path):
    """Two stores of the same journals, where a store is more than its object."""
    if request.param == "memory":
        only = MemoryCheckpointer()
        yield only, only
        return
    with FILE_STORES[request.param](tmp_path) as one, FILE_STORES[request.param](tmp_path) as two:
        yield one, two


@pytest.mark.asyncio
async def test_two_tasks_that_begin_the_same_run_at_once_pay_once(stores):
    till = Till()
    till.may_end.set()

    ends = await asyncio.gather(
        *(run(till.agent, "Go", till.session(store)) for store in stores), return_exceptions=True
    )

    assert till.paid == [5]
    (busy,) = [end for end in ends if isinstance(end, Exception)]
    assert isinstance(busy, JournalBusyError)
    assert str(busy) == (
        "Run 'r1' is being written by another task of this process; wait until it ends, or use"
        " another run_id."
    )


@pytest.mark.asyncio
async def test_who_comes_while_a_tool_runs_is_told_that_the_run_is_going_on_and_not_that_it_broke(
    stores,
):
    till = Till()
    first = asyncio.create_task(run(till.agent, "Go", till.session(stores[0])))
    await till.begun.wait()

    with pytest.raises(JournalBusyError):
        await run(till.agent, "Go", till.session(stores[1]))
    till.may_end.set()

    assert outline(await first)[-1] == "000003-final completed"
    assert till.paid == [5]


@pytest.mark.asyncio
async def test_a_call_that_is_running_is_not_settled_from_beside(stores):
    till = Till()
    first = asyncio.create_task(run(till.agent, "Go", till.session(stores[0])))
    await till.begun.wait()

    with pytest.raises(JournalBusyError):
        await till.session(stores[1]).resolve("000001-tool", result="paid by hand")
    till.may_end.set()

    (end,) = [e for e in await first if isinstance(e, ToolStep) and e.phase is Phase.COMPLETED]
    assert end.result.text == "paid"


@pytest.mark.asyncio
async def test_other_runs_of_the_store_go_on_beside_it(stores):
    till = Till()
    till.may_end.set()

    await asyncio.gather(
        *(
            run(till.agent, "Go", till.session(store, f"r{number}"))
            for number, store in enumerate(stores)
        )
    )

    assert till.paid == [5, 5]


@pytest.mark.asyncio
async def test_a_closed_run_is_read_by_as_many_as_want_to(stores):
    till = Till()
    till.may_end.set()
    whole = await run(till.agent, "Go", till.session(stores[0]))
    one, two = (till.agent.run("Go", session=till.session(store)) for store in stores)

    await anext(one)
    read = [event async for event in two]

    assert outline(read) == outline(whole)
    await one.aclose()


@pytest.mark.asyncio
async def test_a_passage_that_was_left_without_closing_it_stands_in_nobodys_way(stores):
    till = Till()
    till.may_end.set()
    async for event in till.agent.run("Go", session=till.session(stores[0])):
        if event.step_id == "000000-model":
            break

    whole = await run(till.agent, "Go", till.session(stores[1]))

    assert outline(whole)[-1] == "000003-final completed"
    assert till.paid == [5]


@pytest.mark.asyncio
async def test_nor_does_one_that_was_left_inside_of_another_generator(stores):
    till = Till()
    till.may_end.set()

    async def watched(steps):
        async for step in steps:
            yield step

    async for event in watched(till.agent.run("Go", session=till.session(stores[0]))):
        if event.step_id == "000000-model":
            break

    whole = await run(till.agent, "Go", till.session(stores[1]))

    assert outline(whole)[-1] == "000003-final completed"
    assert till.paid == [5]
