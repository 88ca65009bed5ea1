"""A journal that an agent of this version wrote is resumed by every later one, from every line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.resumable import deferred, everything, read, weigh, write

from pytest_synaptum.cassette.writing import write_atomically
from synaptum import JsonlCheckpointer, LocalGateway, Session, UncertainEffect
from synaptum.testing import FakeClock
from synaptum.vocabulary import ModelStep

JOURNALS = sorted((Path(__file__).parents[2] / "journals").glob("v*/agent.jsonl"))


async def events_of(path: Path, run_id: str):
    with JsonlCheckpointer(path, durable=False) as store:
        return (await store.load(run_id)).events


async def resumed(path: Path, answers) -> None:
    async def model(request, context):
        return answers[context.run_id, context.step_id]

    clock = FakeClock()
    with JsonlCheckpointer(path, durable=False) as store:
        gateway = LocalGateway(model=model, tools=[read, write, *deferred([weigh])])
        session = Session("r1", gateway, store, clock=clock, sleep=clock.sleep)
        while True:
            try:
                async for _ in everything().run("Go", session=session):
                    pass
            except UncertainEffect as error:
                await session.resolve(error.step_id, result="x" * 400)
            else:
                return


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.parent.name)
def test_an_old_journal_is_resumed_from_every_line(path, tmp_path):
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = asyncio.run(events_of(path, "r1"))
    child = asyncio.run(events_of(path, "r1.000005-delegate"))
    answers = {
        (event.run_id, event.step_id): event.response
        for event in (*whole, *child)
        if isinstance(event, ModelStep) and event.response is not None
    }
    assert len(lines) == 35

    for kept in range(2, len(lines) + 1):
        copy = tmp_path / f"{kept}.jsonl"
        write_atomically(copy, "".join(lines[:kept]))
        asyncio.run(resumed(copy, answers))
        ended = asyncio.run(events_of(copy, "r1"))
        assert [event.step_id for event in ended] == [event.step_id for event in whole], kept
        assert ended[-1].output == whole[-1].output == {"n": 1.0}, kept


def test_there_is_one_for_this_version():
    from synaptum.journal.store import JOURNAL_FORMAT

    assert f"v{JOURNAL_FORMAT}" in [path.parent.name for path in JOURNALS]
