"""Members of enumerations come back from a journal as members, wherever their class stands."""

from __future__ import annotations

import dataclasses
import enum

import pytest
from support.agents import MODEL, final_of, run, session_of
from support.stores import FILE_STORES

from synaptum import Agent
from synaptum.testing import ScriptedModel


class Shop:
    class Phase(enum.Enum):
        OPEN = "shop_open"


class Colour(enum.StrEnum):
    RED = "red"


class Floor(enum.IntEnum):
    FIRST = 1


@dataclasses.dataclass
class Visit:
    phase: Shop.Phase
    colours: list[Colour]
    floor: Floor
    before: Shop.Phase | None = None


@pytest.mark.asyncio
@pytest.mark.parametrize("store", FILE_STORES)
async def test_members_keep_their_class_when_a_closed_run_is_read_back(store, tmp_path):
    agent = Agent("a", model=MODEL, output=Visit)
    answer = '{"phase": "shop_open", "colours": ["red"], "floor": 1, "before": "shop_open"}'
    written = session_of(ScriptedModel(answer), checkpointer=FILE_STORES[store](tmp_path))
    await run(agent, "Where?", written)

    read = session_of(ScriptedModel(), checkpointer=FILE_STORES[store](tmp_path))
    output = final_of(await run(agent, None, read)).output

    assert output.phase is Shop.Phase.OPEN
    assert output.colours[0] is Colour.RED
    assert output.floor is Floor.FIRST
    assert output.before is Shop.Phase.OPEN
