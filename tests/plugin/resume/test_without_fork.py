"""A system that cannot fork: asked for kills it refuses, and unasked it says what was left out."""

from __future__ import annotations

import asyncio
import json
import os

import pytest
from support.resumable import check, small
from support.stores import FILE_STORES

from pytest_synaptum import Stop, check_resume
from synaptum.errors import ConfigurationError


class Writer:
    """An agent of another framework that writes once."""

    def __init__(self, folder):
        self.file = folder / "written"

    async def start(self, task, probe):
        return await self.resume(probe)

    async def resume(self, probe):
        if not self.file.exists():
            probe.before_write()
            self.file.write_text(json.dumps(["done"]))
            probe.after_write("the only one")
        return "done"

    async def journal(self):
        return json.loads(self.file.read_text()) if self.file.exists() else []


def check_ours(**settings):
    return check(small, "Done.", checkpointer=FILE_STORES["jsonl"], **settings)


def check_another(**settings):
    return asyncio.run(check_resume(Writer, "Go", **settings))


@pytest.mark.parametrize("checked", [check_ours, check_another])
def test_kills_that_are_asked_for_are_refused(checked, monkeypatch):
    monkeypatch.delattr(os, "fork")

    with pytest.raises(
        ConfigurationError, match=r"cannot fork one .* Stop\.BEFORE and Stop\.AFTER"
    ):
        checked(stops={Stop.KILLED_AFTER})


@pytest.mark.parametrize("checked", [check_ours, check_another])
def test_without_being_asked_the_report_says_that_no_process_was_killed(checked, monkeypatch):
    monkeypatch.delattr(os, "fork")

    report = checked()

    assert report.ok, str(report)
    assert report.notes == ["no process was killed: this system has no fork"]
    assert not {cell.stop for cell in report.cells} & {Stop.KILLED_BEFORE, Stop.KILLED_AFTER}
