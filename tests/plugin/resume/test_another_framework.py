"""Agents that are not ours: what would have been green for looking at nothing, or at too little."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from pytest_synaptum import Stop, check_resume
from synaptum import Agent
from synaptum.errors import ConfigurationError, EncodingError
from synaptum.testing import ScriptedModel

IN_PROCESS = {Stop.BEFORE, Stop.AFTER}


class Notes:
    """Writes two notes; what else it does is a subclass's."""

    def __init__(self, folder):
        self.file = folder / "notes"

    async def start(self, task, probe):
        return await self.resume(probe)

    async def resume(self, probe):
        for name in ("one", "two"):
            if name not in await self.journal():
                self.note(probe, name)
        return "done"

    def note(self, probe, name):
        notes = json.loads(self.file.read_text()) if self.file.exists() else []
        probe.before_write()
        self.file.write_text(json.dumps([*notes, name]))
        probe.after_write(name)

    async def journal(self):
        return json.loads(self.file.read_text()) if self.file.exists() else []


def effect(probe, name, arguments):
    probe.effect(name, arguments)
    probe.effect_happened()


class TakenForDone(Notes):
    """Notes that it sends before it does, and takes that for sent."""

    async def resume(self, probe):
        if "one" not in await self.journal():
            self.note(probe, "one")
            effect(probe, "send", {"to": "Ana"})
        if "two" not in await self.journal():
            self.note(probe, "two")
        return "done"


class LastOfAll(Notes):
    """Sends when everything is written, and nothing tells that it did."""

    async def resume(self, probe):
        await super().resume(probe)
        effect(probe, "send", {"to": "Ana"})
        return "done"


class MakesUpForIt(Notes):
    """Does something else where it finds notes."""

    async def resume(self, probe):
        if "one" in await self.journal():
            effect(probe, "apologise", None)
        return await super().resume(probe)


class Polls(Notes):
    """Asks the same question before each note."""

    async def resume(self, probe):
        for name in ("one", "two"):
            if name not in await self.journal():
                probe.asked({"question": "What now?"})
                self.note(probe, name)
        return "done"


class Wraps(Notes):
    """Hands its store's error on as one of its own."""

    async def start(self, task, probe):
        try:
            return await self.resume(probe)
        except Exception as error:
            raise LookupError("no notes today") from error


class Groups(Notes):
    """Works in a task group, which hands errors on as a group."""

    async def start(self, task, probe):
        async with asyncio.TaskGroup() as group:
            work = group.create_task(self.resume(probe))
        return work.result()


class WritesBeside(Notes):
    """Writes in a task of its own, and does without what that one gives."""

    async def start(self, task, probe):
        async with asyncio.TaskGroup() as group:
            group.create_task(self.resume(probe))
        return "done"

    async def resume(self, probe):
        for name in ("one", "two"):
            if name not in await self.journal():
                self.note(probe, name)
                await asyncio.sleep(0)
        return "done"


class Hangs(Notes):
    """Waits for a lock that nobody lets go of."""

    async def start(self, task, probe):
        return await Notes.resume(self, probe)

    async def resume(self, probe):
        await asyncio.Event().wait()


def checked(agent, stops=IN_PROCESS, **settings):
    return asyncio.run(check_resume(agent, "Go", stops=stops, **settings))


def told(report):
    return [(str(one.cell), one.check, one.message) for one in report.findings]


def test_an_effect_that_is_on_record_and_never_happens_is_found():
    assert told(checked(TakenForDone)) == [
        ("error after write, 0 one", "effect", "the tool 'send' never took effect")
    ]


def test_an_effect_behind_the_last_write_is_died_after_too():
    report = checked(LastOfAll, {Stop.KILLED_EFFECT, Stop.AFTER})

    assert told(report) == [
        (
            "killed after effect, 2 (the end)",
            "effect",
            "the tool 'send' took effect again after the stop",
        )
    ]


def test_an_effect_that_the_straight_run_did_not_have_is_found():
    assert {(check, message) for _, check, message in told(checked(MakesUpForIt))} == {
        ("effect", "the tool 'apologise' takes effect as it did not in the straight run")
    }


def test_the_same_question_asked_twice_is_no_question_asked_again():
    report = checked(Polls)

    assert report.ok, str(report)
    assert report.asked_again == 2, "stopped before each of the two notes"


@pytest.mark.parametrize("agent", [Wraps, Groups])
def test_a_framework_may_hand_the_stores_error_on_as_its_own(agent):
    report = checked(agent)

    assert report.ok, str(report)


def test_the_run_is_cancelled_and_not_only_the_task_that_writes():
    report = checked(WritesBeside, {Stop.CANCELLED})

    assert report.ok, str(report)


def test_a_run_that_hangs_after_the_stop_is_told_with_its_boundary(monkeypatch):
    monkeypatch.setattr("pytest_synaptum.resume.children.PATIENCE_S", 0.1)

    found = checked(Hangs).findings[0]

    assert (str(found.cell), found.message) == ("error before write, 0 one", "the run hangs")


def test_a_framework_that_fails_otherwise_is_a_finding_with_its_boundary():
    class Fails(Notes):
        async def start(self, task, probe):
            if probe.gate.at is not None:
                raise LookupError("no notes today")
            return await self.resume(probe)

    found = checked(Fails).findings[0]

    assert (str(found.cell), found.came) == (
        "error before write, 0 one",
        "LookupError: no notes today",
    )


def test_it_may_be_named_as_text(monkeypatch):
    monkeypatch.setitem(sys.modules, "notes_of_ours", sys.modules[__name__])

    assert checked("notes_of_ours:Notes").ok


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"perturb": True}, "perturb="),
        ({"stream": True}, "stream="),
        ({"model": ScriptedModel("Hi")}, "model="),
        ({"checkpointer": lambda folder: None, "decide": lambda step: None}, "checkpointer=, dec"),
    ],
)
def test_what_only_agents_of_synaptum_have_is_refused_and_not_left_out(settings, named):
    with pytest.raises(TypeError, match=f"is checked without {named}"):
        checked(Notes, **settings)


def test_a_function_of_a_folder_that_makes_something_else_says_so():
    with pytest.raises(TypeError, match=r"made a Agent, which has no start\(\)"):
        checked(lambda folder: Agent("a", model="m"))


def test_an_adapter_that_tells_of_no_write_is_refused():
    class Silent(Notes):
        def note(self, probe, name):
            self.file.write_text(json.dumps(["one", "two"]))

    with pytest.raises(ConfigurationError, match="told its probe of no write"):
        checked(Silent)


@pytest.mark.parametrize("stop", [Stop.ENDED, Stop.KILLED_EFFECT])
def test_a_check_that_would_stop_nothing_is_refused(stop):
    with pytest.raises(ConfigurationError, match="Nothing in this run of 2 writes can be stopped"):
        checked(Notes, {stop})


def of_a_folder(folder, durability="sync"):
    return Notes(folder)


def of_nothing(temperature=0.0):
    return Agent("a", model="m")


def test_a_function_is_told_by_what_it_needs_and_not_by_what_it_may_be_given():
    assert checked(of_a_folder).ok
    assert checked(of_nothing, model=ScriptedModel("Hi")).ok


class GivesASet(Notes):
    async def journal(self):
        return [*await super().journal(), {1}]


class EndsWithAnObject(Notes):
    async def resume(self, probe):
        await super().resume(probe)
        return object()


class AsksAnObject(Notes):
    async def resume(self, probe):
        probe.asked(object())


@pytest.mark.parametrize(
    ("agent", "whose"),
    [
        (GivesASet, r"journal\(\)"),
        (EndsWithAnObject, "The output"),
        (AsksAnObject, r"probe\.asked\(\)"),
    ],
)
def test_what_is_no_json_is_told_with_who_gave_it(agent, whose):
    with pytest.raises(EncodingError, match=f"{whose} gave the check what is no JSON: The value"):
        checked(agent)


class Forgetful(Notes):
    """Does nothing where nothing is on record, instead of beginning."""

    async def start(self, task, probe):
        return await super().resume(probe)

    async def resume(self, probe):
        return await super().resume(probe) if await self.journal() else "done"


def test_a_run_that_is_not_begun_anew_where_nothing_is_on_record_says_that_as_its_cause():
    report = checked(Forgetful, {Stop.BEFORE})

    assert [one.cell.boundary.number for one in report.findings] == [0]
    assert "nothing was on record when the run was stopped" in report.findings[0].cause


def test_one_run_in_place_of_what_makes_runs_is_refused(tmp_path):
    with pytest.raises(TypeError, match="give its class"):
        checked(Notes(tmp_path))


def test_a_class_that_lacks_something_is_told_what():
    class Half:
        def __init__(self, folder):
            pass

        async def start(self, task, probe): ...

    with pytest.raises(TypeError, match=r"which has no resume\(\)"):
        checked(Half)
