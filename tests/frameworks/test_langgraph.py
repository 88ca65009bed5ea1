"""A LangGraph graph with its own SQLite checkpointer, killed at every write.

These tests hold what docs/resume.md says of it; a new version that does better turns them red.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from graph_agent import GraphAgent

from pytest_synaptum import Stop, check_resume

pytestmark = [pytest.mark.asyncio, pytest.mark.filterwarnings("default")]
KILLS = {Stop.KILLED_BEFORE, Stop.KILLED_AFTER, Stop.KILLED_EFFECT}


async def test_the_conversation_comes_out_the_same_wherever_the_process_is_killed():
    report = await check_resume(GraphAgent, "Send a letter.", stops=KILLS)

    assert len(report.boundaries) == 13
    others = [one for one in report.findings if one.check not in {"effect", "asked again"}]
    told = [(str(one.cell), one.message, one.came, *one.lines) for one in others]
    assert told == [], "a kill came out otherwise than docs/resume.md says"


async def test_a_tool_killed_before_its_result_is_written_takes_effect_twice():
    report = await check_resume(GraphAgent, "Send a letter.", stops={Stop.KILLED_EFFECT})

    assert [(one.check, one.cell) for one in report.findings] == [
        ("effect", cell) for cell in report.cells
    ]
    assert len(report.cells) == 2, "the graph sends two letters"


async def test_writing_at_the_exit_alone_repeats_every_effect_of_a_killed_run():
    report = await check_resume(
        lambda folder: GraphAgent(folder, "exit"), "Send a letter.", stops={Stop.KILLED_BEFORE}
    )

    assert len(report.boundaries) == 1
    assert [one.check for one in report.findings] == ["effect"]
