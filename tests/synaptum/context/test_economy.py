"""What a run cost and why, from its journal alone."""

from __future__ import annotations

import dataclasses

import pytest

from synaptum.context.economy import economy
from synaptum.journal.store import RunState
from synaptum.vocabulary import (
    DelegateStep,
    FinishReason,
    Message,
    ModelStep,
    Phase,
    Request,
    Response,
    ResponseFormat,
    Risk,
    ToolCall,
    ToolDefinition,
    Usage,
    make_step_id,
)
from synaptum.wording import ENGLISH, SPANISH, use_wording

LEER = ToolDefinition("leer", "Lee.", {"type": "object"})
BORRAR = ToolDefinition("borrar", "Borra.", {"type": "object"})


def turns(*asked: tuple[Request, Usage | None], metas: dict[int, dict] | None = None) -> RunState:
    """A run that asked these requests and got an answer of that usage to each."""
    events = []
    for seq, (request, usage) in enumerate(asked):
        response = Response(Message.assistant("ok"), FinishReason.STOP, usage or Usage())
        intent = ModelStep(
            run_id="run-1",
            step_id=make_step_id(seq, "model"),
            step_seq=seq,
            phase=Phase.ATTEMPTED,
            at="",
            request=request,
        )
        events += [
            intent,
            dataclasses.replace(
                intent,
                phase=Phase.COMPLETED,
                response=response,
                usage=usage,
                meta=(metas or {}).get(seq, {}),
            ),
        ]
    return RunState("run-1", tuple(events))


def ask(*texts: str, **fields) -> Request:
    return Request(fields.pop("model", "m"), tuple(map(Message.user, texts)), **fields)


TWO_TURNS = (
    (ask("a"), Usage(177, 200, cache_read=0)),
    (ask("a", "b"), Usage(234, 178, cache_read=177)),
)


def test_the_spanish_report_is_the_text_of_the_documentation():
    assert economy(turns(*TWO_TURNS)).report(wording=SPANISH) == (
        "Run run-1 · 2 turnos\n"
        "  caché      43% de la entrada servida de caché\n"
        "  crecimiento +57 tokens de entrada por turno\n"
        "  prefijo    estable durante todo el run\n"
        "  total      entrada=411 salida=378 caché=177"
    )


def test_the_english_report_is_the_default():
    assert economy(turns(*TWO_TURNS)).report() == (
        "Run run-1 · 2 turns\n"
        "  cache      43% of the input served from cache\n"
        "  growth     +57 input tokens a turn\n"
        "  prefix     stable during the whole run\n"
        "  total      input=411 output=378 cached=177"
    )


def test_the_wording_in_use_is_that_of_the_report():
    with use_wording(SPANISH):
        assert economy(turns(*TWO_TURNS)).report().startswith("Run run-1 · 2 turnos\n")


def test_the_figures_are_there_as_values():
    result = economy(turns(*TWO_TURNS))
    assert result.turns == 2
    assert result.total == Usage(411, 378, None, 177, None)
    assert result.cache_hit_ratio == 177 / 411
    assert result.prefix_rewrites == 0
    assert result.prefix_changes == ()
    assert result.input_growth == 57.0


def test_the_hit_ratio_is_over_totals_and_no_mean_of_turns():
    state = turns(
        (ask("a"), Usage(50, 1, cache_read=50)), (ask("a"), Usage(50_000, 1, cache_read=0))
    )
    assert economy(state).cache_hit_ratio == 50 / 50_050


def test_growth_is_the_slope_between_first_and_last():
    state = turns(*((ask("a"), Usage(size, 1)) for size in (100, 900, 50, 160)))
    assert economy(state).input_growth == 20.0


def test_what_nobody_measured_is_said_so_and_never_zero():
    state = turns((ask("a"), Usage(10, 5)), (ask("a"), None))
    result = economy(state)
    assert result.total == Usage()
    assert result.cache_hit_ratio is None
    assert result.input_growth is None
    assert result.report(wording=SPANISH) == (
        "Run run-1 · 2 turnos\n"
        "  caché      sin medir\n"
        "  crecimiento sin medir\n"
        "  prefijo    estable durante todo el run\n"
        "  total      entrada=sin medir salida=sin medir caché=sin medir"
    )


def test_a_measured_zero_is_zero():
    state = turns((ask("a"), Usage(10, 5, cache_read=0)))
    assert economy(state).report(wording=SPANISH) == (
        "Run run-1 · 1 turno\n"
        "  caché      0% de la entrada servida de caché\n"
        "  crecimiento no se sabe con menos de dos turnos\n"
        "  prefijo    estable durante todo el run\n"
        "  total      entrada=10 salida=5 caché=0"
    )


def test_a_run_without_turns_cost_nothing():
    result = economy(RunState("run-1"))
    assert (result.turns, result.total, result.cache_hit_ratio) == (0, Usage.zero(), None)
    assert result.report().startswith("Run run-1 · 0 turns\n")


def test_an_intent_without_answer_is_no_turn():
    state = turns(*TWO_TURNS)
    assert economy(RunState("run-1", state.events[:3])).turns == 1


def test_a_sub_agent_counts_in_the_total_and_is_no_turn():
    state = turns(*TWO_TURNS)
    child = DelegateStep(
        run_id="run-1",
        step_id="000002-delegate",
        step_seq=2,
        phase=Phase.COMPLETED,
        at="",
        call=ToolCall("c", "buscar", {}),
        child_run_id="run-1/2",
        usage=Usage(1000, 10, cache_read=0),
    )
    result = economy(RunState("run-1", (*state.events, child)))
    assert result.turns == 2
    assert result.total.input == 1411
    unknown = dataclasses.replace(child, usage=None)
    assert economy(RunState("run-1", (*state.events, unknown))).total == Usage()


def test_changed_instructions_are_named_with_their_turn():
    state = turns(
        (ask("a", system="Sé breve."), Usage(1, 1)),
        (ask("a", system="Sé extenso."), Usage(1, 1)),
        (ask("a", system="Sé extenso."), Usage(1, 1)),
    )
    result = economy(state)
    assert result.prefix_rewrites == 1
    assert result.prefix_changes[0].step_id == "000001-model"
    assert result.report(wording=SPANISH).splitlines()[3:5] == [
        "  ⚠ prefijo  reescrito 1 vez — cada una tira toda la caché posterior",
        "      · 000001-model: instrucciones de sistema: cambiaron",
    ]


def causes(old: Request, new: Request, wording=ENGLISH, **options) -> list[str]:
    """The lines of the report that name a cause, without the step."""
    lines = economy(turns((old, None), (new, None), **options)).report(wording).splitlines()
    return [line.split(": ", 1)[1] for line in lines if line.startswith("      · ")]


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("Hoy es 2026-11-30.", "Hoy es 2026-12-01.", "2026-11-30", "2026-12-01"),
        (
            "Now: 2026-11-30T12:00:00.123Z. Help.",
            "Now: 2026-11-30T12:00:07.004Z. Help.",
            "2026-11-30T12:00:00.123Z",
            "2026-11-30T12:00:07.004Z",
        ),
        ("Son las 9:05.", "Son las 10:15.", "9:05", "10:15"),
        (
            "Hoy, lunes, 30 de noviembre de 2026, ayuda.",
            "Hoy, martes, 1 de diciembre de 2026, ayuda.",
            "lunes, 30 de noviembre de 2026",
            "martes, 1 de diciembre de 2026",
        ),
        ("Today: Nov 30, 2026.", "Today: Dec 1, 2026.", "Nov 30, 2026", "Dec 1, 2026"),
        (
            "At 30/11/2026 10:00 am.",
            "At 30/11/2026 10:01 am.",
            "30/11/2026 10:00 am",
            "30/11/2026 10:01 am",
        ),
        ("t=1796040000", "t=1796040060", "1796040000", "1796040060"),
    ],
)
def test_a_date_in_the_instructions_is_called_what_it_is(old, new, before, after):
    assert causes(ask(system=old), ask(system=new)) == [
        f"system instructions: the date in them changed ({before} → {after}); say it in a"
        " message instead"
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Hoy es 2026-11-30. Sé breve.", "Hoy es 2026-12-01. Sé extenso."),
        ("Corre 10 veces.", "Corre 20 veces."),
        (None, "Hoy es 2026-11-30."),
        ("", "Sé breve."),
    ],
)
def test_instructions_that_differ_beyond_a_date_changed(old, new):
    assert causes(ask(system=old), ask(system=new)) == ["system instructions: changed"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([LEER], [LEER, BORRAR], "tools: added borrar"),
        ([LEER, BORRAR], [BORRAR], "tools: removed leer"),
        ([LEER, BORRAR], [BORRAR, LEER], "tools: another order (leer, borrar → borrar, leer)"),
        (
            [LEER],
            [dataclasses.replace(LEER, description="Lee bien.")],
            "tools: another description or schema of leer",
        ),
        (
            [LEER],
            [dataclasses.replace(LEER, parameters={"type": "object", "minProperties": True})],
            "tools: another description or schema of leer",
        ),
    ],
)
def test_a_changed_catalogue_says_how(old, new, expected):
    assert causes(ask(tools=old), ask(tools=new)) == [expected]


def test_what_only_the_policy_sees_breaks_no_prefix():
    harder = dataclasses.replace(LEER, risk=Risk.DESTRUCTIVE, idempotent=True)
    assert causes(ask(tools=[LEER]), ask(tools=[harder])) == []


def test_another_output_format_and_another_model_are_named_in_the_order_of_the_prefix():
    old = ask(response_format=ResponseFormat("json_schema", {"type": "object", "minItems": 1}))
    new = ask(response_format=ResponseFormat("json_schema", {"type": "object"}), model="n")
    assert causes(old, new) == ["model: m → n", "output format: changed"]
    assert causes(old, new, SPANISH) == ["modelo: m → n", "formato de salida: cambió"]


def test_a_chain_of_models_that_moves_on_is_a_rewrite():
    answered = {0: {"answered_by": "grande"}, 1: {"answered_by": "pequeño"}}
    assert causes(ask("a"), ask("a", "b"), metas=answered) == ["model: grande → pequeño"]


def test_messages_that_grow_at_the_end_break_nothing_and_rewritten_ones_do():
    assert causes(ask("a", "b"), ask("a", "b", "c")) == []
    assert causes(ask("a", "b", "c"), ask("a", "x", "c", "d")) == [
        "messages: rewritten, only the first 1 of 3 are the same"
    ]
    assert causes(ask("a", "b"), ask("a")) == [
        "messages: rewritten, only the first 1 of 2 are the same"
    ]


def test_every_turn_is_compared_with_the_one_before_it():
    state = turns(*((ask("a", system=f"Turno a las 10:{n:02d}"), None) for n in range(4)))
    report = economy(state).report(SPANISH).splitlines()
    assert report[3] == "  ⚠ prefijo  reescrito 3 veces — cada una tira toda la caché posterior"
    assert report[4:7] == [
        f"      · 00000{n}-model: instrucciones de sistema: cambió la fecha que llevan dentro"
        f" (10:0{n - 1} → 10:0{n}); dila en un mensaje"
        for n in (1, 2, 3)
    ]


@pytest.mark.parametrize("name", list(ENGLISH.economy.causes))
def test_every_cause_has_a_sentence_with_the_same_fields_in_both_languages(name):
    fields = {"before": "x", "after": "y", "names": "z", "kept": "1", "count": "2"}
    for wording in (ENGLISH, SPANISH):
        assert wording.economy.causes[name].format(**fields)
    assert ENGLISH.economy.causes.keys() == SPANISH.economy.causes.keys()
