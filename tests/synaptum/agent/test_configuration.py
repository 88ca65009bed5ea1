"""Resuming is continuing that run: any other configuration is refused, saying what differs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pytest
from support.agents import MODEL, final_of, run, session_of

from synaptum import (
    ENGLISH,
    SPANISH,
    Agent,
    ConfigurationError,
    FallbackModel,
    HttpModel,
    JournalDivergedError,
    Limits,
    LocalGateway,
    MemoryCheckpointer,
    Message,
    Risk,
    Sampling,
    Session,
    deferred,
    tool,
)
from synaptum.testing import ScriptedModel, calls


@tool
def leer(ruta: str) -> str:
    """Lee un fichero."""
    return ruta


@tool
def borrar(ruta: str) -> str:
    """Borra un fichero."""
    return ruta


@dataclass
class One:
    x: int


@dataclass
class Two:
    y: int


BASE = {"model": MODEL, "instructions": "Be brief.", "tools": [leer]}


async def begun(**settings):
    """A store with a run that closed under these settings."""
    store = MemoryCheckpointer()
    agent = Agent("a", **settings)
    answer = '{"x": 1}' if settings.get("output") is One else "ok"
    await run(
        agent,
        "Go",
        session_of(ScriptedModel(answer), agent.plan.tools.values(), checkpointer=store),
    )
    return store


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "openai-compatible:other"}, f"model: '{MODEL}' → 'openai-compatible:other'"),
        ({"instructions": "Be long."}, "instructions: changed"),
        ({"instructions": None}, "instructions: changed"),
        ({"tools": [leer, borrar]}, "tools: ['leer'] → ['leer', 'borrar']"),
        ({"tools": []}, "tools: ['leer'] → []"),
        ({"sampling": Sampling(temperature=0.5)}, 'sampling: {"temperature":null} → {"temp'),
        ({"limits": Limits(max_tool_chars=500)}, "max_tool_chars: 16000 → 500"),
        ({"limits": Limits(max_tool_chars=None)}, "max_tool_chars: 16000 → None"),
        ({"output": Two}, "output format: None → 'Two'"),
        ({"wording": replace(ENGLISH, name="curt")}, "wording: 'english' → 'curt'"),
    ],
)
async def test_another_configuration_is_refused_by_name(change, words):
    store = await begun(**BASE)
    agent = Agent("a", **{**BASE, **change})
    model = ScriptedModel("never")
    session = session_of(model, [leer, borrar], checkpointer=store)
    with pytest.raises(ConfigurationError) as caught:
        await run(agent, "Go", session)

    assert words in str(caught.value)
    assert "use a new run_id" in str(caught.value)
    assert model.requests == []


@pytest.mark.asyncio
async def test_the_refusal_in_spanish_is_the_documented_one():
    settings = {**BASE, "wording": SPANISH}
    store = await begun(**settings)
    agent = Agent("a", **{**settings, "tools": [leer, borrar]})
    session = session_of(ScriptedModel(), [leer, borrar], checkpointer=store)
    with pytest.raises(ConfigurationError) as caught:
        await run(agent, "Go", session)

    assert str(caught.value) == (
        "El run 'r1' se creó con otra configuración y reanudarlo con esta mezclaría dos agentes"
        " en un mismo diario (herramientas: ['leer'] → ['leer', 'borrar']). Reanudar es"
        " continuar ese run; una configuración distinta es otro run — usa un run_id nuevo."
    )


@pytest.mark.asyncio
async def test_the_order_of_tools_counts():
    store = await begun(**{**BASE, "tools": [leer, borrar]})
    agent = Agent("a", **{**BASE, "tools": [borrar, leer]})
    with pytest.raises(ConfigurationError, match=r"\['leer', 'borrar'\] → \['borrar', 'leer'\]"):
        await run(agent, "Go", session_of(ScriptedModel(), [leer, borrar], checkpointer=store))


@pytest.mark.asyncio
async def test_a_tool_that_changed_behind_its_name_counts():
    def changed(ruta: str) -> str:
        """Lee un fichero."""
        return ruta

    store = await begun(**BASE)
    other = tool(changed, name="leer", risk=Risk.HARD_WRITE)
    agent = Agent("a", **{**BASE, "tools": [other]})
    with pytest.raises(ConfigurationError, match=r"tools \['leer'\]: changed"):
        await run(agent, "Go", session_of(ScriptedModel(), [other], checkpointer=store))


@pytest.mark.asyncio
async def test_a_deferred_catalogue_counts_whole():
    catalogue = [leer, borrar]
    store = await begun(**{**BASE, "tools": deferred([leer])})
    tools = deferred(catalogue)
    agent = Agent("a", **{**BASE, "tools": tools})
    with pytest.raises(ConfigurationError, match="buscar_herramientas"):
        await run(agent, "Go", session_of(ScriptedModel(), tools, checkpointer=store))


@pytest.mark.asyncio
async def test_a_sub_agent_that_changed_counts():
    store, model = MemoryCheckpointer(), ScriptedModel("ok")
    sub = Agent("sub", model=MODEL, instructions="One way.")
    await run(Agent("a", model=MODEL, delegates=[sub]), "Go", session_of(model, checkpointer=store))
    other = Agent("sub", model=MODEL, instructions="Another way.")
    with pytest.raises(ConfigurationError, match=r"tools \['sub'\]: changed"):
        await run(
            Agent("a", model=MODEL, delegates=[other]), "Go", session_of(model, checkpointer=store)
        )


@pytest.mark.asyncio
async def test_an_output_type_that_changed_shape_counts():
    store = await begun(**{**BASE, "output": One})

    @dataclass
    class Changed:
        x: str

    Changed.__name__ = "One"
    agent = Agent("a", **{**BASE, "output": Changed})
    with pytest.raises(ConfigurationError, match="output format 'One': changed"):
        await run(agent, "Go", session_of(ScriptedModel(), [leer], checkpointer=store))


@pytest.mark.asyncio
async def test_bounds_that_are_no_part_of_the_prefix_may_change():
    store = await begun(**BASE)
    agent = Agent("a", **BASE, limits=Limits(max_steps=9, max_retries=0))
    steps = await run(agent, "Go", session_of(ScriptedModel(), [leer], checkpointer=store))

    assert final_of(steps).output == "ok"


@pytest.mark.asyncio
async def test_another_task_is_refused_and_none_goes_on():
    store, model = await begun(**BASE), ScriptedModel()
    agent, session = Agent("a", **BASE), session_of(model, [leer], checkpointer=store)
    with pytest.raises(ConfigurationError, match="another task"):
        await run(agent, "Go elsewhere", session)

    assert final_of(await run(agent, None, session)).output == "ok"


@pytest.mark.asyncio
async def test_the_provider_and_its_profile_count():
    model = HttpModel("http://127.0.0.1:9/v1", provider="openai-compatible")
    chain = FallbackModel(model, model)
    agent, store = Agent("a", model=MODEL), MemoryCheckpointer()

    async def answer(request):
        return await ScriptedModel("ok").complete(request)

    answer.configuration = model.configuration
    await run(agent, "Go", Session("r1", LocalGateway(model=answer), store))
    with pytest.raises(ConfigurationError, match=r"model: .*fallback"):
        await run(agent, "Go", Session("r1", LocalGateway(model=chain), store))
    steps = await run(agent, "Go", Session("r1", LocalGateway(model=model.complete), store))

    assert final_of(steps).output == "ok"


@pytest.mark.asyncio
async def test_the_configuration_stands_in_the_first_event_alone():
    store = await begun(**BASE)
    events = (await store.load("r1")).events

    assert [i for i, event in enumerate(events) if "configuration" in event.meta] == [0]
    assert events[0].meta["configuration"]["model"]["name"] == MODEL


@pytest.mark.asyncio
async def test_a_journal_whose_requests_this_code_would_not_build_is_refused():
    """As when a tool's result is shown otherwise by a newer version of the code."""
    model = ScriptedModel(calls("leer", ruta="a"), "ok")
    agent, session = Agent("a", **BASE), session_of(model, [leer])
    await run(agent, "Go", session)
    events = list((await session.state()).events)
    place = next(i for i, e in enumerate(events) if e.step_id == "000002-model")
    asked = events[place].request
    told = replace(asked, messages=(*asked.messages[:-1], Message.user("something else")))
    store = MemoryCheckpointer()
    for event in (*events[:place], replace(events[place], request=told)):
        await store.append("r1", event)

    with pytest.raises(JournalDivergedError) as caught:
        await run(agent, "Go", session_of(ScriptedModel(), [leer], checkpointer=store))
    assert caught.value.step_id == "000002-model"


@pytest.mark.asyncio
async def test_a_question_asked_again_carries_the_instructions_of_the_first_time():
    days = iter(["monday", "tuesday"])
    agent = Agent("a", model=MODEL, instructions=lambda: next(days))
    model = ScriptedModel("ok")
    session = session_of(model)
    events = agent.run("Go", session=session)
    await anext(events)
    await events.aclose()
    await run(agent, "Go", session)

    assert model.requests[0].system == "monday"


@pytest.mark.asyncio
async def test_a_number_of_another_kind_is_told_as_the_difference():
    store = await begun(**{**BASE, "sampling": Sampling(temperature=0.0)})
    agent = Agent("a", **{**BASE, "sampling": Sampling(temperature=0)})
    told = 'sampling: {"temperature":0.0} → {"temperature":0}'
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        await run(agent, "Go", session_of(ScriptedModel(), [leer], checkpointer=store))


@pytest.mark.parametrize("run_id", ["", 5, b"r1", None])
def test_a_run_is_named_by_a_text(run_id):
    with pytest.raises(ConfigurationError, match="a run needs a name"):
        Session(run_id, LocalGateway())


def test_a_model_is_no_gateway():
    with pytest.raises(ConfigurationError, match=r"a ScriptedModel is no gateway.*gateway\(tools="):
        Session("r1", ScriptedModel("Hello."))


def test_a_tool_alone_is_no_list_of_tools():
    with pytest.raises(ConfigurationError, match="is no list of tools"):
        Agent("a", model=MODEL, tools=leer)
