"""A store for a process that does one run and nothing else: no thread stands between."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from support.runs import conversation
from support.stores import FILE_STORES

from synaptum.errors import JournalDivergedError
from synaptum.journal.blocking import on_this_thread

pytestmark = pytest.mark.asyncio


def journal_threads():
    return [t for t in threading.enumerate() if t.name.startswith("synaptum-journal")]


@pytest.mark.parametrize("name", FILE_STORES)
async def test_it_keeps_the_same_journal_without_a_thread(name, tmp_path):
    events = list(conversation(3, closed=True))
    before = journal_threads()
    with on_this_thread():
        store = FILE_STORES[name](tmp_path)
    with store:
        for event in events:
            await store.append(event.run_id, event)
        assert journal_threads() == before

    with FILE_STORES[name](tmp_path) as again:
        assert (await again.load("run-1")).events == tuple(events)
        assert len(journal_threads()) == len(before) + 1


@pytest.mark.parametrize("name", FILE_STORES)
async def test_it_refuses_what_the_other_refuses(name, tmp_path):
    first, *_ = conversation(1)
    other = replace(first, request=replace(first.request, model="another"))
    with on_this_thread():
        store = FILE_STORES[name](tmp_path)
    with store:
        await store.append("run-1", first)
        with pytest.raises(JournalDivergedError):
            await store.append("run-1", other)
