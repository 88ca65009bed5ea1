"""What every store promises, shown on each."""

from __future__ import annotations

import asyncio
import dataclasses
from decimal import Decimal

import pytest
from support.runs import conversation
from support.stores import FILE_STORES

from synaptum.errors import ConfigurationError, EncodingError, JournalDivergedError
from synaptum.journal.memory import MemoryCheckpointer
from synaptum.journal.store import Checkpointer, Releasable, RunState
from synaptum.vocabulary import FinalStep, Message, ModelStep, Phase, Request, Step, ToolResult

pytestmark = pytest.mark.asyncio


@pytest.fixture(params=["memory", *FILE_STORES])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryCheckpointer()
        return
    with FILE_STORES[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture(params=[*FILE_STORES])
def open_store(request, tmp_path):
    """Opens a new store on the same file."""
    return lambda: FILE_STORES[request.param](tmp_path)


async def fill(store: Checkpointer, events: list[Step]) -> None:
    for event in events:
        await store.append(event.run_id, event)


async def test_an_unknown_run_is_an_empty_journal(store):
    assert await store.load("nobody") == RunState("nobody", ())


async def test_what_was_appended_is_loaded_in_order(store):
    events = list(conversation(3, closed=True))
    await fill(store, events)
    assert (await store.load("run-1")).events == tuple(events)


async def test_a_new_store_on_the_same_file_loads_what_the_first_wrote(open_store):
    events = list(conversation(3, closed=True))
    with open_store() as first:
        await fill(first, events)
    with open_store() as second:
        assert (await second.load("run-1")).events == tuple(events)


async def test_loading_what_is_not_there_makes_no_file(open_store, tmp_path):
    with open_store() as store:
        await store.load("run-1")
    assert list(tmp_path.iterdir()) == []


async def test_the_same_event_twice_is_on_record_once(store):
    events = list(conversation(2))
    await fill(store, events)
    await fill(store, events)
    assert (await store.load("run-1")).events == tuple(events)


async def test_the_time_of_an_event_does_not_make_it_another(store):
    events = list(conversation(1))
    await fill(store, events)
    await store.append("run-1", dataclasses.replace(events[1], at="2027-01-01T00:00:00.000Z"))
    assert (await store.load("run-1")).events == tuple(events)


async def test_another_payload_is_refused_with_the_step_and_the_place(store):
    events = list(conversation(2))
    await fill(store, events)
    other = dataclasses.replace(events[3], result=ToolResult.of("call_0", "otro"))
    with pytest.raises(JournalDivergedError) as caught:
        await store.append("run-1", other)
    assert caught.value.step_id == "000001-tool"
    assert caught.value.path == "/result/content/0/text"
    assert (await store.load("run-1")).events == tuple(events)


async def test_meta_counts_as_payload(store):
    events = list(conversation(1))
    await fill(store, events)
    with pytest.raises(JournalDivergedError) as caught:
        await store.append("run-1", dataclasses.replace(events[1], meta={"attempts": []}))
    assert caught.value.path == "/meta/attempts"


@pytest.mark.parametrize("other", [True, 1.0])
async def test_one_true_and_one_point_zero_are_three_values(store, other):
    call = next(conversation(1, run_id="run-1"))
    step = dataclasses.replace(call, meta={"n": 1})
    await store.append("run-1", step)
    with pytest.raises(JournalDivergedError):
        await store.append("run-1", dataclasses.replace(call, meta={"n": other}))


async def test_runs_of_one_store_do_not_mix(store):
    events = [list(conversation(2, run_id=name)) for name in ("padre", "padre/000001")]
    for pair in zip(*events, strict=True):
        await fill(store, list(pair))
    assert (await store.load("padre")).events == tuple(events[0])
    assert (await store.load("padre/000001")).events == tuple(events[1])


async def test_a_request_that_forgets_messages_or_changes_its_prefix_comes_back_as_it_was(store):
    a, b, c = (Message.user(text) for text in "abc")
    requests = [
        Request("m", (a, b), system="s"),
        Request("m", (a, b, c), system=None),
        Request("m", (a,), temperature=0.5),
        Request("m", ()),
        Request("n", (c, b), stop=("fin",), provider_options={"seed": 1}),
        Request("n", (c, b), stop=("fin",), provider_options={"seed": True}),
        Request("n", (c, b, a), stop=("fin",)),
    ]
    frame = {"run_id": "r", "phase": Phase.ATTEMPTED, "at": ""}
    events = [
        ModelStep(**frame, step_id=f"{seq:06d}-model", step_seq=seq, request=request)
        for seq, request in enumerate(requests)
    ]
    await fill(store, events)
    loaded = (await store.load("r")).events
    assert loaded == tuple(events)
    assert loaded[5].request.provider_options["seed"] is True
    assert loaded[4].request.provider_options["seed"] == 1


async def test_a_value_without_json_form_is_refused_and_leaves_no_trace(store):
    bad = ToolResult("c", (), structured=Decimal(1))
    events = list(conversation(1))
    await fill(store, events[:3])
    with pytest.raises(EncodingError):
        await store.append("run-1", dataclasses.replace(events[3], result=bad))
    await store.append("run-1", events[3])
    assert (await store.load("run-1")).events == tuple(events)


async def test_an_event_of_another_run_is_refused(store):
    with pytest.raises(ConfigurationError, match="belongs to run 'run-1'"):
        await store.append("run-2", next(conversation(1)))


@pytest.mark.parametrize("run_id", ["", "a\nb", "a\x00b", "\ud800"])
async def test_a_run_id_that_cannot_be_kept_is_refused(store, run_id):
    with pytest.raises(ConfigurationError, match="printable"):
        await store.load(run_id)


async def test_events_appended_at_once_keep_their_order(store):
    events = list(conversation(20))
    await asyncio.gather(*(store.append("run-1", event) for event in events))
    assert (await store.load("run-1")).events == tuple(events)


async def test_two_stores_of_one_process_act_as_one(open_store):
    events = list(conversation(4))
    with open_store() as one, open_store() as other:
        for index, event in enumerate(events):
            await (one, other)[index % 2].append("run-1", event)
        await other.append("run-1", events[0])
        assert (await one.load("run-1")).events == tuple(events)


async def test_a_cancelled_append_can_be_made_again(store):
    events = list(conversation(1))
    task = asyncio.create_task(store.append("run-1", events[0]))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await fill(store, events)
    assert (await store.load("run-1")).events == tuple(events)


async def test_a_closed_run_can_still_be_loaded_and_appended_to_idempotently(store):
    events = list(conversation(1, closed=True))
    await fill(store, events)
    assert isinstance((await store.load("run-1")).events[-1], FinalStep)
    await store.append("run-1", events[-1])
    assert len((await store.load("run-1")).events) == len(events)


async def test_a_store_that_was_closed_says_so(open_store):
    store = open_store()
    store.close()
    store.close()
    with pytest.raises(Exception, match="closed"):
        await store.load("run-1")


async def test_stores_on_disk_can_let_go_of_a_run(open_store):
    with open_store() as store:
        assert isinstance(store, Releasable)
        await store.release("never held")
        events = list(conversation(1))
        await fill(store, events[:2])
        await store.release("run-1")
        await fill(store, events[2:])
        assert (await store.load("run-1")).events == tuple(events)


async def test_loaded_requests_share_their_messages(store):
    await fill(store, list(conversation(20)))
    models = [e for e in (await store.load("run-1")).events if isinstance(e, ModelStep)]
    assert all(
        models[0].request.messages.shares_storage_with(model.request.messages) for model in models
    )


@pytest.mark.parametrize("turns", [100])
async def test_a_journal_grows_with_the_run_and_not_with_its_square(open_store, tmp_path, turns):
    async def size(name: str, count: int) -> int:
        with open_store() as store:
            await fill(store, list(conversation(count, run_id=name)))
        return sum(path.stat().st_size for path in tmp_path.iterdir())

    first = await size("a", turns)
    second = await size("b", 2 * turns) - first
    assert second < 2.5 * first


async def test_the_repr_of_a_long_run_is_short(store):
    """`asyncio.run(store.load(...))` asks for it, and whole it would grow with the square."""
    await fill(store, list(conversation(20)))
    state = await store.load("run-1")
    assert repr(state) == "RunState('run-1', 80 events, the last 000039-tool completed)"
    assert repr(RunState("x")) == "RunState('x', 0 events)"
    assert "<31 more>" in repr(state.events[-4])
