"""`surface_report`: what a run cost on a surface, and which runs may be compared."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from support.agents import MODEL, run, session_of

from synaptum import (
    ALLOW,
    Agent,
    ConfigurationError,
    Decision,
    Disposition,
    RunState,
    SurfaceRun,
    Usage,
    deferred,
    surface_report,
    tool,
)
from synaptum.surfaces import code_tool
from synaptum.surfaces.measure import measure
from synaptum.testing import FakeClock, ScriptedModel, calls, fails, says

READS = frozenset({"read"})


@tool(idempotent=True)
async def look(n: int) -> str:
    """Look."""
    return "x" * 100


@tool
async def fussy(n: int) -> str:
    """Takes even numbers."""
    if n % 2:
        raise ValueError("odd")
    return "even"


async def ran(*script, tools=(look, fussy), surface="json", **settings):
    """A run of a script, as it is compared."""
    agent = Agent("a", model=MODEL, tools=tools)
    task = settings.pop("task", "Do it")
    made = {
        "operations": settings.pop("operations", READS),
        "server": settings.pop("server", "scripted"),
        "right": settings.pop("right", True),
    }
    session = session_of(ScriptedModel(*script), tools, **settings)
    await run(agent, task, session)
    return SurfaceRun(surface=surface, state=await session.state(), **made), session


def used(turn, *counts):
    return replace(turn, usage=Usage(*counts))


@pytest.mark.asyncio
async def test_measured_tokens_are_those_of_the_model_and_the_cache_is_apart():
    done, _ = await ran(
        used(calls("look", n=1), 1_000, 20, 0, 0, 0), says("ok", usage=Usage(1_200, 10, 0, 900, 0))
    )

    measured = measure(done)

    assert (measured.input, measured.cached, measured.uncached, measured.output) == (
        2_200,
        900,
        1_300,
        30,
    )
    assert measured.turns == 2
    assert measured.execution == 25


@pytest.mark.asyncio
async def test_what_nobody_measured_is_not_zero():
    done, _ = await ran("ok")

    measured = measure(done)

    assert (measured.input, measured.uncached, measured.output) == (None, None, None)
    assert "not measured" in surface_report([done]).table()


@pytest.mark.asyncio
async def test_retries_recoveries_and_failures_are_counted():
    done, _ = await ran(
        fails(503), calls("fussy", n=1), calls("fussy", n=3), calls("fussy", n=2), "ok"
    )

    measured = measure(done)

    assert (measured.retries, measured.recoveries, measured.turns) == (1, 2, 4)


@pytest.mark.asyncio
async def test_an_error_that_nothing_followed_is_no_recovery():
    done, _ = await ran(calls("fussy", n=1), calls("look", n=2), "ok")

    assert measure(done).recoveries == 0


@pytest.mark.asyncio
async def test_an_approval_is_an_escalation_and_its_wait_is_not_time():
    clock = FakeClock()

    def policy(check):
        asks = check.name == "fussy"
        return Decision(Disposition.REQUIRE_APPROVAL if asks else Disposition.ALLOW)

    done, session = await ran(calls("fussy", n=2), "ok", policy=policy, clock=clock)
    clock.advance(3_600)
    await session.decide((await session.waiting()).step_id, ALLOW)
    clock.advance(5)
    await run(Agent("a", model=MODEL, tools=[look, fussy]), "Do it", session)

    measured = measure(replace(done, state=await session.state()))

    assert measured.escalations == 1
    assert measured.time_s == 5.0


@pytest.mark.asyncio
async def test_discovery_counts_apart_and_what_finds_nothing_has_failed():
    offered = deferred([look, fussy])
    done, _ = await ran(
        calls("buscar_herramientas", consulta="look"),
        calls("buscar_herramientas", consulta="zzzz"),
        calls("usar_herramienta", nombre="look", argumentos={"n": 1}),
        "ok",
        tools=offered,
    )

    measured = measure(done)

    assert measured.failed_discovery == 1
    assert measured.discovery > 20
    assert measured.execution == 25


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("script", "counted"),
    [
        ("print(1)", (0, 0, 0)),
        ("print(", (1, 0, 0)),
        ("1 / 0", (0, 1, 0)),
        ("await look(1)\n1 / 0", (0, 1, 1)),
    ],
)
async def test_the_ways_a_script_can_fail_are_told_apart(script, counted):
    done, _ = await ran(calls("run_python", script=script), "ok", tools=[code_tool([look])])

    measured = measure(done)

    assert (
        measured.syntax_errors,
        measured.runtime_errors,
        measured.partial_endings,
    ) == counted


@pytest.mark.asyncio
async def test_what_a_script_read_is_not_in_the_context():
    script = "for n in range(9):\n    await look(n)\nprint('short')"
    done, _ = await ran(calls("run_python", script=script), "ok", tools=[code_tool([look])])

    assert measure(done).execution == math.ceil(len("short") / 4)


@pytest.mark.asyncio
async def test_means_are_over_the_runs_of_a_surface_and_right_ones_are_counted():
    first, _ = await ran("ok", surface="json")
    second, _ = await ran(calls("look", n=1), "ok", surface="json", right=False)
    other, _ = await ran("ok", surface="code")

    report = surface_report([first, second, other])

    assert [(row.surface, row.runs, row.right) for row in report.rows] == [
        ("json", 2, 1),
        ("code", 1, 1),
    ]
    assert report.rows[0].mean(lambda m: m.turns) == 1.5
    assert "| json | 1/2 |" in report.table()


@pytest.mark.asyncio
async def test_the_report_states_its_conditions():
    one, _ = await ran("ok")

    table = surface_report([one, replace(one, surface="mcp")]).table()

    assert f"- model: {MODEL}" in table
    assert "- server: scripted" in table
    assert "- task: Do it" in table
    assert "- permitted: read" in table
    assert "- runs: json 1, mcp 1" in table
    assert "catalogue ≈" in table
    assert "estimated" in table
    assert "NOT ALIKE" not in table


@pytest.mark.asyncio
async def test_more_than_one_server_is_said_aloud():
    one, _ = await ran("ok")

    report = surface_report([one, replace(one, server="llama.cpp")])

    assert "NOT ALIKE: more than one model or server took part." in report.table()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"task": "Do something else"}, "differ in task: 'Do it' and 'Do something else'"),
        ({"operations": {"read", "write"}}, "differ in permitted operations"),
    ],
)
async def test_runs_of_another_task_or_of_other_operations_are_refused(other, told):
    one, _ = await ran("ok")
    two, _ = await ran("ok", surface="code", **other)

    with pytest.raises(ConfigurationError, match=told):
        surface_report([one, two])


def test_nothing_to_compare_is_said():
    empty = SurfaceRun(
        surface="json", state=RunState("r9"), operations=READS, server="x", right=True
    )

    with pytest.raises(ConfigurationError, match="given no runs"):
        surface_report([])
    with pytest.raises(ConfigurationError, match="'r9' has no request on record"):
        surface_report([empty])


@pytest.mark.asyncio
async def test_the_plot_is_a_picture_that_stands_alone_and_says_what_was_not_measured():
    one, _ = await ran("ok", task="<b>Do</b> it & go\x00 | now", surface="a<b")

    report = surface_report([one])
    picture = report.svg()
    root = ElementTree.fromstring(picture)

    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "not measured" in texts
    assert "task: <b>Do</b> it & go  | now" in texts
    assert "a<b" in texts
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")
    assert "\\|" in report.table() or "| now" in report.table()


@pytest.mark.asyncio
async def test_the_longest_bar_of_a_panel_is_the_largest_value():
    small, _ = await ran(says("ok", usage=Usage(100, 1, 0, 0, 0)), surface="small")
    large, _ = await ran(says("ok", usage=Usage(400, 1, 0, 0, 0)), surface="large")

    root = ElementTree.fromstring(surface_report([small, large]).svg())

    widths = {}
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        title = group[0].text
        widths[title] = float(group[1].get("width"))
    assert widths["large: input uncached: 400"] == 4 * widths["small: input uncached: 100"]
