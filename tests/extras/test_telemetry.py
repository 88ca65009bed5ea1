"""Spans of the loop's structure, read back from the SDK's in-memory exporter."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest
from support.runs import conversation, every_kind

from synaptum.telemetry import traced
from synaptum.vocabulary import TextDelta

pytest.importorskip("opentelemetry.sdk", reason="needs the OpenTelemetry SDK")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

pytestmark = pytest.mark.asyncio


@pytest.fixture
def spans():
    """Collects spans: `spans.tracer` makes them, `spans()` gives those that ended."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    class Collected:
        tracer = provider.get_tracer("test")

        def __call__(self):
            return exporter.get_finished_spans()

    yield Collected()
    provider.shutdown()


async def iterate(items):
    for item in items:
        await asyncio.sleep(0)
        if isinstance(item, BaseException):
            raise item
        yield item


async def consume(items, tracer) -> list:
    return [item async for item in traced(iterate(items), tracer=tracer)]


async def test_the_items_pass_through_untouched(spans):
    items = [*conversation(1), TextDelta(0, "hola")]
    assert await consume(items, spans.tracer) == items


async def test_a_run_is_a_span_and_each_step_one_below_it(spans):
    await consume(list(conversation(2, closed=True)), spans.tracer)
    *steps, run = spans()
    assert [span.name for span in steps] == ["model", "tool leer", "model", "tool leer", "final"]
    assert all(span.parent.span_id == run.context.span_id for span in steps)
    assert run.name == "synaptum.run"
    assert dict(run.attributes) == {"synaptum.run_id": "run-1", "synaptum.outcome": "finished"}
    assert dict(steps[0].attributes) == {
        "synaptum.step_id": "000000-model",
        "synaptum.step_seq": 0,
        "synaptum.at": "2026-11-30T12:00:00.000Z",
        "synaptum.finish_reason": "tool_calls",
        "synaptum.attempts": 1,
    }
    assert dict(steps[1].attributes) == {
        "synaptum.step_id": "000001-tool",
        "synaptum.step_seq": 1,
        "synaptum.at": "2026-11-30T12:00:00.000Z",
        "synaptum.tool": "leer",
        "synaptum.risk": "read",
        "synaptum.is_error": False,
    }


async def test_approvals_delegates_and_attempts_have_their_facts(spans):
    await consume(list(every_kind()), spans.tracer)
    by_name = {span.name: dict(span.attributes) for span in spans()}
    assert by_name["approval borrar"]["synaptum.target"] == "000002-tool"
    assert by_name["approval borrar"]["synaptum.disposition"] == "allow"
    assert by_name["delegate leer"]["synaptum.child_run_id"] == "run-1/000003"
    first = next(s for s in spans() if s.attributes.get("synaptum.step_id") == "000000-model")
    assert first.attributes["synaptum.attempts"] == 2


async def test_no_word_of_the_conversation_is_in_a_span(spans):
    await consume(list(every_kind()), spans.tracer)
    said = repr([(s.name, dict(s.attributes), s.status.description, s.events) for s in spans()])
    for secret in ("pienso", "Mira", "/tmp/ñ", "borrado", "no es JSON", "listo", "Eres útil"):
        assert secret not in said


async def test_a_run_that_ends_without_a_final_step_is_suspended(spans):
    await consume(list(conversation(1))[:3], spans.tracer)
    assert [span.name for span in spans()] == ["model", "tool leer", "synaptum.run"]
    assert spans()[-1].attributes["synaptum.outcome"] == "suspended"


async def test_a_failure_is_recorded_by_its_type_and_goes_on(spans):
    failure = ValueError("el modelo dijo: secreto")
    with pytest.raises(ValueError, match="secreto"):
        await consume([*list(conversation(1))[:3], failure], spans.tracer)
    tool, run = spans()[-2:]
    assert run.attributes["synaptum.outcome"] == "failed"
    for span in (tool, run):
        assert span.status.status_code is trace.StatusCode.ERROR
        assert span.status.description == "ValueError"
        assert span.events == ()


async def test_closing_the_iterator_closes_the_run_and_the_source(spans):
    ended = []

    async def source():
        try:
            for step in conversation(2):
                yield step
        finally:
            ended.append(True)

    flow = traced(source(), tracer=spans.tracer)
    await anext(flow)
    await flow.aclose()
    assert ended == [True]
    assert [span.name for span in spans()] == ["model", "synaptum.run"]
    assert spans()[-1].attributes["synaptum.outcome"] == "closed"


async def test_what_a_tool_traces_hangs_below_its_step_and_the_callers_spans_do_not(spans):
    steps = list(conversation(1))

    async def source():
        yield steps[2]
        with spans.tracer.start_as_current_span("inside the tool"):
            await asyncio.sleep(0)
        yield steps[3]

    async for _ in traced(source(), tracer=spans.tracer):
        spans.tracer.start_span("the caller's").end()
    by_name = {span.name: span for span in spans()}
    assert by_name["inside the tool"].parent.span_id == by_name["tool leer"].context.span_id
    assert by_name["the caller's"].parent is None


async def test_a_resumed_step_that_has_only_its_end_still_has_a_span(spans):
    await consume([list(conversation(1))[1]], spans.tracer)
    assert [span.name for span in spans()] == ["model", "synaptum.run"]


async def test_the_global_tracer_is_the_default():
    items = [dataclasses.replace(step) for step in conversation(1)]
    assert [item async for item in traced(iterate(items))] == items


async def test_the_call_of_a_script_is_a_span_below_the_scripts(spans):
    steps = list(conversation(1))
    script = [dataclasses.replace(s, step_id="000001-tool", step_seq=1) for s in steps[2:]]
    inner = [
        dataclasses.replace(
            s, step_id="000002-tool", step_seq=2, meta={"within": "000001-tool", "number": 0}
        )
        for s in steps[2:]
    ]

    await consume([*steps[:2], script[0], *inner, script[1]], spans.tracer)

    _, call, outer, run = spans()
    assert call.attributes["synaptum.step_id"] == "000002-tool"
    assert call.parent.span_id == outer.context.span_id
    assert outer.attributes["synaptum.step_id"] == "000001-tool"
    assert outer.parent.span_id == run.context.span_id
