"""Agents that are not ours, killed: the child of each kill, and which effect it dies after."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time

import pytest

from pytest_synaptum import Stop, check_resume
from pytest_synaptum.resume import children

pytestmark = pytest.mark.skipif(not children.can_fork(), reason="this system has no fork")


class Sender:
    """Notes a letter, sends it, and notes that it was sent: two writes around one effect."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "notes"

    async def start(self, task, probe):
        return await self.resume(probe)

    async def resume(self, probe):
        notes = await self.journal()
        if not notes:
            self.note(probe, "to send")
        if "sent" not in notes:
            self.send(probe)
            self.note(probe, "sent")
        return "done"

    def send(self, probe):
        probe.effect("send", {"to": "Ana"})
        probe.effect_happened()

    def note(self, probe, what):
        notes = json.loads(self.file.read_text()) if self.file.exists() else []
        probe.before_write()
        self.file.write_text(json.dumps([*notes, what]))
        probe.after_write(what)

    async def journal(self):
        return json.loads(self.file.read_text()) if self.file.exists() else []


class LateWriter(Sender):
    """Writes in the background: the first note may come before the letter is sent or after it."""

    async def resume(self, probe):
        if await self.journal():
            return await super().resume(probe)
        is_late = self.folder.name not in {"straight", "again"}
        for step in (self.send, self.first) if is_late else (self.first, self.send):
            step(probe)
        self.note(probe, "sent")
        return "done"

    def first(self, probe):
        self.note(probe, "to send")


class Stuck(Sender):
    """Hangs in every process but the test's own."""

    def __init__(self, folder):
        super().__init__(folder)
        self.is_stuck = os.getpid() != TESTS

    def send(self, probe):
        if self.is_stuck:
            time.sleep(60)
        super().send(probe)


class Quitter(Sender):
    """Kills whatever forked it."""

    def send(self, probe):
        if os.getpid() != TESTS:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        super().send(probe)


TESTS = os.getpid()


def checked(agent, *stops):
    return asyncio.run(check_resume(agent, "Go", stops=set(stops)))


@pytest.mark.parametrize("agent", [Sender, LateWriter])
def test_a_process_killed_after_its_effect_sends_again_wherever_its_writes_are(agent):
    report = checked(agent, Stop.KILLED_EFFECT)

    assert [(one.check, one.cell.boundary.number) for one in report.findings] == [("effect", 1)]


def test_killed_before_the_note_that_it_was_sent_it_sends_again_and_after_it_does_not():
    report = checked(Sender, Stop.KILLED_BEFORE, Stop.KILLED_AFTER)

    assert [(one.check, str(one.cell)) for one in report.findings] == [
        ("effect", "killed before write, 1 sent")
    ]


def test_a_child_that_hangs_is_told_with_the_time_it_was_waited_for(monkeypatch):
    monkeypatch.setattr(children, "PATIENCE_S", 1)

    report = checked(Stuck, Stop.KILLED_EFFECT)

    assert [(one.check, one.came) for one in report.findings] == [("end", "no end after 1 seconds")]


def test_where_the_process_that_forks_is_killed_the_check_says_so_instead_of_hanging():
    with pytest.raises(RuntimeError, match="something else killed it"):
        checked(Quitter, Stop.KILLED_EFFECT)


def test_no_process_and_no_folder_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    checked(Sender, Stop.KILLED_BEFORE)

    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
