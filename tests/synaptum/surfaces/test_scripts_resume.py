"""A script that was stopped: run again from the journal where that is safe, and not otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.agents import MODEL, done, final_of, outline, run, session_of
from support.stores import FILE_STORES

from synaptum import (
    ALLOW,
    Agent,
    Decision,
    Disposition,
    MemoryCheckpointer,
    NeedsHumanError,
    Phase,
    UncertainEffect,
    tool,
)
from synaptum.canonical import encode
from synaptum.surfaces import code_tool
from synaptum.testing import ScriptedModel, calls
from synaptum.vocabulary.codec import to_json

READS = "import asyncio\nprint(sum(await asyncio.gather(look(1), look(2), look(3))))"
PAYS = "a = await look(1)\nb = await pay(5)\nc = await look(2)\nprint(a, b, c)"
PAYS_LAST = "a = await look(1)\nb = await look(2)\nprint(a, await pay(a + b))"


class CrashError(Exception):
    """The store's, in the middle of a run."""


class Crashing:
    """A store that fails at its write number `at` (from 0), before or after writing."""

    def __init__(self, inner, at, *, written):
        self._inner, self._at, self._written, self._writes = inner, at, written, 0

    async def append(self, run_id, event):
        number, self._writes = self._writes, self._writes + 1
        if number == self._at and not self._written:
            raise CrashError
        await self._inner.append(run_id, event)
        if number == self._at:
            raise CrashError

    async def load(self, run_id):
        return await self._inner.load(run_id)


class World:
    """One tool that may be repeated, one that may not, and scripts of both."""

    def __init__(self, script, *, policy=None):
        self.looked, self.paid = [], []

        @tool(idempotent=True)
        async def look(n: int) -> int:
            """Look."""
            self.looked.append(n)
            return n * 10

        @tool
        async def pay(n: int) -> str:
            """Pay."""
            self.paid.append(n)
            return f"paid {n}"

        self.code = code_tool([look, pay])
        self.agent = Agent("a", model=MODEL, tools=[self.code])
        self.model = ScriptedModel(calls("run_python", script=script), "Done.")
        self.policy = policy
        self.store = MemoryCheckpointer()

    def session(self, store=None):
        return session_of(
            self.model, [self.code], policy=self.policy, checkpointer=store or self.store
        )

    async def go(self, store=None):
        return await run(self.agent, "Go", self.session(store))

    async def stopped_at(self, at, *, written, inner=None):
        with pytest.raises(CrashError):
            await self.go(Crashing(inner or self.store, at, written=written))

    async def journal(self):
        state = await self.store.load("r1")
        return [encode(to_json(replace(event, at=""))) for event in state.events]


@pytest.mark.asyncio
async def test_the_calls_of_a_script_are_steps_inside_of_its_own():
    world = World(PAYS)

    steps = await world.go()

    assert outline(steps)[2:11] == [
        "000001-tool attempted",
        "000002-tool attempted",
        "000002-tool completed",
        "000003-tool attempted",
        "000003-tool completed",
        "000004-tool attempted",
        "000004-tool completed",
        "000001-tool completed",
        "000005-model attempted",
    ]
    inner = next(s for s in steps if s.step_id == "000003-tool" and s.result is not None)
    assert (inner.call.name, inner.call.arguments, inner.idempotent) == ("pay", {"n": 5}, False)
    assert (inner.meta["within"], inner.meta["number"]) == ("000001-tool", 1)
    assert final_of(steps).output == "Done."


@pytest.mark.asyncio
async def test_the_model_sees_the_scripts_result_and_none_of_its_calls():
    world = World(PAYS)
    session = world.session()

    steps = await run(world.agent, "Go", session)

    last = [s for s in steps if s.kind == "model"][-1].request.messages
    assert [m.role.value for m in last] == ["user", "assistant", "tool"]
    assert [part.text for part in last[-1].content] == ["10 paid 5 20"]


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["memory", *FILE_STORES])
async def test_the_intent_of_a_call_is_on_disk_before_it_runs(kind, tmp_path):
    store = MemoryCheckpointer() if kind == "memory" else FILE_STORES[kind](tmp_path)
    seen = []

    @tool
    async def pay(n: int) -> str:
        """Pay."""
        state = await store.load("r1")
        seen.append((state.events[-1].call.name, state.events[-1].phase))
        return "paid"

    code = code_tool([pay])
    agent = Agent("a", model=MODEL, tools=[code])
    model = ScriptedModel(calls("run_python", script="print(await pay(1))"), "Done.")

    await run(agent, "Go", session_of(model, [code], checkpointer=store))

    assert seen == [("pay", Phase.ATTEMPTED)]


@pytest.mark.asyncio
@pytest.mark.parametrize("written", [False, True], ids=["before the write", "after the write"])
async def test_a_script_of_repeatable_calls_resumes_from_anywhere_as_if_never_stopped(written):
    straight = World(READS)
    await straight.go()
    whole = await straight.journal()
    for at in range(len(whole)):
        world = World(READS)
        await world.stopped_at(at, written=written)

        steps = await world.go()

        assert await world.journal() == whole, at
        assert final_of(steps).output == "Done."
        assert len(world.looked) <= 4  # three, and at most the one that was interrupted


@pytest.mark.asyncio
async def test_calls_on_record_are_answered_from_there():
    world = World(READS)
    await world.stopped_at(7, written=True)  # look(1) and look(2) have ended, look(3) began
    assert world.looked == [1, 2]

    await world.go()

    assert world.looked == [1, 2, 3]


@pytest.mark.asyncio
@pytest.mark.parametrize("at", [5, 6, 7, 8])
async def test_a_script_cut_after_a_call_that_must_not_be_repeated_is_uncertain(at):
    world = World(PAYS)
    await world.stopped_at(at, written=True)

    for _ in range(2):
        with pytest.raises(UncertainEffect) as caught:
            await world.go()

    # While the call itself is open its own fate is the question, then the script's.
    assert caught.value.step_id == ("000003-tool" if at == 5 else "000001-tool")
    assert len(world.paid) == (0 if at == 5 else 1)


@pytest.mark.asyncio
@pytest.mark.parametrize("at", [2, 3, 4])
async def test_a_script_cut_before_any_such_call_is_run_again(at):
    world = World(PAYS)
    await world.stopped_at(at, written=True)

    steps = await world.go()

    assert final_of(steps).output == "Done."
    assert world.paid == [5]


@pytest.mark.asyncio
async def test_run_again_by_a_person_a_script_does_not_repeat_what_is_on_record():
    world = World(PAYS)
    await world.stopped_at(7, written=True)
    await world.session().resolve("000001-tool", rerun=True)

    steps = await world.go()

    assert world.paid == [5]
    assert world.looked == [1, 2]
    script = [s for s in done(steps, "tool") if s.call.name == "run_python"][-1]
    assert (script.step_id, script.result.text) == ("000005-tool", "10 paid 5 20")


@pytest.mark.asyncio
async def test_a_person_can_say_what_came_of_the_whole_script():
    world = World(PAYS)
    await world.stopped_at(7, written=True)
    await world.session().resolve("000001-tool", result="It paid 5.")

    steps = await world.go()

    assert world.paid == [5]
    assert final_of(steps).output == "Done."


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("answer", "printed", "paid"),
    [
        ({"result": "paid by hand"}, "10 paid by hand 20", []),
        ({"rerun": True}, "10 paid 5 20", [5]),
    ],
)
async def test_once_a_person_settled_the_open_call_the_script_goes_on(answer, printed, paid):
    world = World(PAYS)
    await world.stopped_at(5, written=True)
    await world.session().resolve("000003-tool", **answer)

    steps = await world.go()

    script = next(s for s in done(steps, "tool") if s.call.name == "run_python")
    assert script.result.text == printed
    assert world.paid == paid


@pytest.mark.asyncio
async def test_a_script_that_strays_from_what_is_on_record_is_stopped_before_it_acts():
    world = World("import os\nawait look(1)\nawait pay(os.getpid())\nawait pay(3)")
    await world.stopped_at(7, written=True)  # pay(pid) has ended, pay(3) began
    paid = list(world.paid)
    await world.session().resolve("000004-tool", result="done by hand")

    with pytest.raises(UncertainEffect) as caught:
        await world.go()

    assert caught.value.step_id == "000001-tool"
    assert world.paid == paid


def asks_about_pay(check):
    disposition = Disposition.REQUIRE_APPROVAL if check.name == "pay" else Disposition.ALLOW
    return Decision(disposition, "money", "somebody must see it")


@pytest.mark.asyncio
async def test_a_call_that_needs_a_person_suspends_the_run_and_then_the_script_goes_on():
    world = World(PAYS_LAST, policy=asks_about_pay)

    steps = await world.go()
    waiting = await world.session().waiting()
    before = list(world.paid)
    await world.session().decide(waiting.step_id, ALLOW)
    resumed = await world.go()

    assert steps[-1].kind == "approval"
    assert (waiting.call.name, waiting.call.arguments) == ("pay", {"n": 30})
    assert (before, world.paid, world.looked) == ([], [30], [1, 2])
    script = next(s for s in done(resumed, "tool") if s.call.name == "run_python")
    assert script.result.text == "10 paid 30"
    assert final_of(resumed).output == "Done."


@pytest.mark.asyncio
async def test_a_person_who_refuses_raises_in_the_script():
    script = "try:\n    await pay(1)\nexcept ToolError as error:\n    print(error)"
    world = World(script, policy=asks_about_pay)
    await world.go()
    waiting = await world.session().waiting()
    await world.session().decide(waiting.step_id, Decision(Disposition.DENY_STEP, "no", "too much"))

    steps = await world.go()

    script = next(s for s in done(steps, "tool") if s.call.name == "run_python")
    assert script.result.text == "pay was not run: a person refused it (too much)."
    assert world.paid == []


@pytest.mark.asyncio
@pytest.mark.parametrize("written", [False, True], ids=["before the write", "after the write"])
async def test_a_run_with_an_approval_inside_a_script_can_crash_at_every_write(written):
    for at in range(24):
        world = World(PAYS_LAST, policy=asks_about_pay)
        store = Crashing(world.store, at, written=written)
        try:
            await world.go(store)
            waiting = await world.session(store).waiting()
            await world.session(store).decide(waiting.step_id, ALLOW)
            await world.go(store)
        except CrashError:
            pass
        else:
            return
        for _ in range(3):
            try:
                steps = await world.go()
            except UncertainEffect as error:
                assert world.paid in ([], [30])
                await world.session().resolve(error.step_id, result="paid by hand")
                continue
            if steps[-1].kind == "approval":
                await world.session().decide(steps[-1].step_id, ALLOW)
        assert final_of(await world.go()).output == "Done."
        assert world.paid in ([], [30])
    pytest.fail("the run has more writes than were tried")


@pytest.mark.asyncio
async def test_a_policy_that_ends_the_run_at_a_call_ends_the_script_with_it():
    def policy(check):
        ends = check.name == "pay"
        return Decision(Disposition.TERMINATE_RUN if ends else Disposition.ALLOW, "stop")

    world = World(PAYS, policy=policy)

    steps = await world.go()

    assert final_of(steps).reason == "terminated"
    assert world.looked == [1]
    assert world.paid == []
    script = next(s for s in done(steps, "tool") if s.call.name == "run_python")
    assert script.result.text == "The script of run_python was stopped: the run ends here."


@pytest.mark.asyncio
async def test_a_terminated_script_is_closed_the_same_after_a_crash():
    def policy(check):
        ends = check.name == "pay"
        return Decision(Disposition.TERMINATE_RUN if ends else Disposition.ALLOW, "stop")

    straight = World(PAYS, policy=policy)
    await straight.go()
    whole = await straight.journal()
    for at in (6, 7, 8):
        world = World(PAYS, policy=policy)
        await world.stopped_at(at, written=True)
        steps = await world.go()

        assert await world.journal() == whole
        assert final_of(steps).reason == "terminated"


@pytest.mark.asyncio
async def test_a_tool_in_a_script_may_ask_for_a_person_itself():
    asked = []

    @tool(idempotent=True)
    async def check(n: int) -> str:
        """Check."""
        asked.append(n)
        raise NeedsHumanError("look at it")

    code = code_tool([check])
    agent = Agent("a", model=MODEL, tools=[code])
    model = ScriptedModel(calls("run_python", script="print(await check(1))"), "Done.")
    session = session_of(model, [code])

    steps = await run(agent, "Go", session)
    await session.resolve(steps[-1].step_id, result="looked at")
    resumed = await run(agent, "Go", session)

    script = next(s for s in done(resumed, "tool") if s.call.name == "run_python")
    assert script.result.text == "looked at"
    assert asked == [1]


@pytest.mark.asyncio
async def test_a_script_that_needs_approval_itself_is_not_run_before_it():
    def policy(check):
        needs = check.name == "run_python"
        return Decision(Disposition.REQUIRE_APPROVAL if needs else Disposition.ALLOW)

    world = World(PAYS, policy=policy)
    first = await world.go()
    before = (list(world.looked), list(world.paid))
    await world.session().decide(first[-1].step_id, ALLOW)

    steps = await world.go()

    assert before == ([], [])
    assert world.paid == [5]
    assert final_of(steps).output == "Done."


@pytest.mark.asyncio
async def test_another_tool_behind_a_script_is_another_configuration():
    world = World(READS)
    await world.stopped_at(3, written=True)

    @tool(idempotent=True)
    async def look(n: int, twice: bool = False) -> int:
        """Look otherwise."""
        return n

    world.code = code_tool([look, world.code.catalogue[1]])
    world.agent = Agent("a", model=MODEL, tools=[world.code])

    with pytest.raises(Exception, match="run_python"):
        await world.go()
