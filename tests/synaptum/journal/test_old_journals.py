"""Journals that earlier versions wrote are read for ever (made by scripts/make-journals)."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from support.runs import every_kind

from synaptum.journal.jsonl import JsonlCheckpointer
from synaptum.journal.sqlite import SqliteCheckpointer

JOURNALS = Path(__file__).parents[2] / "journals"
STORES = {".jsonl": JsonlCheckpointer, ".sqlite": SqliteCheckpointer}


def load(path: Path, folder: Path):
    """Read a copy: SQLite puts files of its own beside the one it reads."""
    copy = Path(shutil.copy(path, folder))

    async def go():
        with STORES[path.suffix](copy) as store:
            return await store.load("run-1")

    return asyncio.run(go()).events


@pytest.mark.parametrize("name", ["v1/every-kind.jsonl", "v1/every-kind.sqlite"])
def test_an_old_journal_holds_what_was_written(name, tmp_path):
    assert load(JOURNALS / name, tmp_path) == tuple(every_kind())


@pytest.mark.parametrize("name", ["v1/every-kind.jsonl", "v1/every-kind.sqlite"])
def test_what_an_old_journal_says_stands_here_in_words(name, tmp_path):
    events = load(JOURNALS / name, tmp_path)
    assert [(event.step_id, event.phase.value) for event in events] == [
        (step, phase)
        for step in (
            "000000-model",
            "000001-approval",
            "000002-tool",
            "000003-delegate",
            "000004-model",
            "000005-final",
        )
        for phase in ("attempted", "completed")
    ]
    first, last = events[1], events[9]
    assert first.request.system == "Eres útil."
    assert first.request.messages[1].text == "Mira: 你好 🙂 \ud800 \u2028 \x00"
    assert first.response.tool_calls[0].arguments == {"ruta": "/tmp/ñ", "n": 2**70, "x": 1.0}
    assert first.response.tool_calls[1].unreadable_arguments == '{"ruta": '
    assert first.usage.reasoning is None
    assert first.usage.cache_write == 0
    assert last.request.system is None
    assert len(last.request.messages) == 4
    assert events[11].output == {"ok": True}


def test_this_version_writes_the_same_bytes(tmp_path):
    """Or the format version must be raised."""

    async def write() -> None:
        with JsonlCheckpointer(tmp_path / "now.jsonl", durable=False) as store:
            for event in every_kind():
                await store.append("run-1", event)

    asyncio.run(write())
    old = (JOURNALS / "v1" / "every-kind.jsonl").read_bytes()
    assert (tmp_path / "now.jsonl").read_bytes() == old
