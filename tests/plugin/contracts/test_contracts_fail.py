"""A store, gateway or provider made wrong on purpose fails the contract that it breaks."""

import itertools

import pytest

from pytest_synaptum import CheckpointerContract, GatewayContract, ProviderContract
from synaptum import JsonlCheckpointer, LocalGateway, MemoryCheckpointer
from synaptum.journal.store import RunState
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary.codec import from_json, to_json


def fails(contract, name, *arguments):
    """How a test of the contract is red; a failed `pytest.raises` is no `Exception`."""
    with pytest.raises((pytest.fail.Exception, Exception)) as caught:
        getattr(contract, name)(*arguments)
    return caught.value


class Wrapped:
    """A store in front of another, to go wrong in one place."""

    def __init__(self, inner):
        self.inner = inner

    async def append(self, run_id, event):
        await self.inner.append(run_id, event)

    async def load(self, run_id):
        return await self.inner.load(run_id)


def contract_of(store):
    class Contract(CheckpointerContract):
        outlives = False

        def open_store(self, folder):
            return store()

    return Contract()


class Losing(Wrapped):
    def __init__(self):
        super().__init__(MemoryCheckpointer())

    async def append(self, run_id, event):
        if event.step_id != "000001-tool":
            await super().append(run_id, event)


class Reordering(Losing):
    async def append(self, run_id, event):
        await self.inner.append(run_id, event)

    async def load(self, run_id):
        state = await self.inner.load(run_id)
        return RunState(run_id, tuple(sorted(state.events, key=lambda e: e.phase.value)))


class Forgiving:
    """Takes every event, as often and with whatever payload it comes."""

    def __init__(self):
        self.events = {}

    async def append(self, run_id, event):
        self.events.setdefault(run_id, []).append(event)

    async def load(self, run_id):
        return RunState(run_id, tuple(self.events.get(run_id, ())))


class Rounding(Forgiving):
    async def load(self, run_id):
        def rounded(value):
            if isinstance(value, dict):
                return {key: rounded(inner) for key, inner in value.items()}
            if isinstance(value, list):
                return [rounded(inner) for inner in value]
            return int(value) if isinstance(value, float) and value.is_integer() else value

        events = self.events.get(run_id, ())
        read = tuple(from_json(type(e), rounded(to_json(e))) for e in events)
        return RunState(run_id, read)


@pytest.mark.parametrize(
    ("store", "test"),
    [
        (Losing, "test_what_was_appended_is_loaded_as_it_was_and_in_order"),
        (Reordering, "test_what_was_appended_is_loaded_as_it_was_and_in_order"),
        (Forgiving, "test_the_same_event_twice_is_on_record_once"),
        (Forgiving, "test_another_payload_is_refused_and_what_is_on_record_stays"),
        (Forgiving, "test_an_event_of_another_run_is_refused"),
        (Forgiving, "test_a_value_without_json_is_refused_and_leaves_no_trace"),
        (Forgiving, "test_one_and_one_point_zero_are_two_payloads"),
    ],
)
def test_a_store_that_breaks_a_promise_is_red(store, test, tmp_path):
    assert fails(contract_of(store), test, tmp_path)


def test_a_store_that_keeps_nothing_until_it_is_closed_is_red(tmp_path):
    class Buffering(Wrapped):
        def __init__(self, folder):
            super().__init__(JsonlCheckpointer(folder / "j.jsonl", durable=False))
            self.kept = []

        async def append(self, run_id, event):
            self.kept.append((run_id, event))

        async def load(self, run_id):
            return await self.inner.load(run_id)

        async def aclose(self):
            for run_id, event in self.kept:
                await self.inner.append(run_id, event)
            self.inner.close()

    class Contract(CheckpointerContract):
        def open_store(self, folder):
            return Buffering(folder)

    from pytest_synaptum import Stop

    test = "test_a_killed_process_leaves_exactly_what_was_acknowledged"
    assert "once and in order" in str(fails(Contract(), test, tmp_path, Stop.KILLED_AFTER))


def test_a_store_that_two_processes_may_write_is_red(tmp_path):
    class Open(Wrapped):
        def __init__(self, folder):
            super().__init__(None)
            self.path = folder / "j.jsonl"

        async def append(self, run_id, event):
            with JsonlCheckpointer(self.path, durable=False) as store:
                await store.append(run_id, event)

        async def load(self, run_id):
            with JsonlCheckpointer(self.path, durable=False) as store:
                return await store.load(run_id)

    class Contract(CheckpointerContract):
        def open_store(self, folder):
            return Open(folder)

    error = fails(Contract(), "test_a_run_has_one_writer_at_a_time", tmp_path)
    assert "second process" in str(error)


def test_a_contract_without_its_factory_says_what_is_missing(tmp_path):
    error = fails(CheckpointerContract(), "test_an_unknown_run_is_an_empty_journal", tmp_path)
    assert "open_store(folder)" in str(error)
    assert "open_gateway" in str(fails(GatewayContract(), "test_it_gives_the_whole_answer"))
    assert "open_provider" in str(
        fails(ProviderContract(), "test_its_name_can_stand_before_a_model")
    )


class GatewayOf(GatewayContract):
    def __init__(self, make):
        self.make = make

    def open_gateway(self, model, tools, policy):
        return self.make(model, tools, policy)


def local(model, tools, policy):
    return LocalGateway(model=model.complete, stream=model.stream, tools=tools, policy=policy)


def test_a_gateway_that_forgets_the_policy_is_red():
    contract = GatewayOf(lambda model, tools, policy: local(model, tools, None))

    assert fails(contract, "test_a_policy_that_refuses_is_obeyed_before_anything_happens")


def test_a_gateway_that_leaves_the_models_stream_open_is_red():
    class Leaving(LocalGateway):
        async def stream_model(self, request, context):
            self.kept = super().stream_model(request, context)
            async for event in self.kept:
                yield event

    def make(model, tools, policy):
        return Leaving(model=model.complete, stream=model.stream, tools=tools)

    error = fails(GatewayOf(make), "test_closing_a_stream_closes_that_of_the_model")
    assert "still open" in str(error)


def test_a_gateway_that_hides_the_step_is_red():
    def make(model, tools, policy):
        return LocalGateway(model=lambda request: model.complete(request), tools=tools)

    assert fails(GatewayOf(make), "test_the_model_is_told_which_step_asks")


class ProviderOf(ProviderContract):
    def __init__(self, make):
        self.make = make

    def open_provider(self):
        return self.make()


def test_a_provider_that_draws_ids_is_red():
    counter = itertools.count()

    class Drawing(OpenAICompatible):
        def to_wire(self, request):
            return {**super().to_wire(request), "user": f"u{next(counter)}"}

    test = "test_the_body_of_a_request_has_the_same_bytes_every_time"
    assert fails(ProviderOf(Drawing), test, "a question")


def test_a_provider_that_numbers_messages_from_the_end_is_red():
    class Numbering(OpenAICompatible):
        def to_wire(self, request):
            body = super().to_wire(request)
            for number, message in enumerate(reversed(body["messages"])):
                message["n"] = number
            return body

    test = "test_a_conversation_that_grows_keeps_the_bytes_it_had"
    assert "changed as others followed" in str(fails(ProviderOf(Numbering), test))


def test_a_provider_that_waits_for_the_whole_stream_is_red():
    class Waiting(OpenAICompatible):
        def stream_from_wire(self, chunks):
            return super().stream_from_wire(iter(list(chunks)))

    assert "whole stream" in str(fails(ProviderOf(Waiting), "test_a_stream_is_read_lazily", "text"))


class OnDisk(Wrapped):
    """A store on disk that keeps every promise; a subclass breaks one."""

    def __init__(self, folder):
        super().__init__(JsonlCheckpointer(folder / "j.jsonl", durable=False))

    async def release(self, run_id):
        await self.inner.release(run_id)

    async def claim(self, run_id):
        await self.inner.claim(run_id)

    def close(self):
        self.inner.close()


class ClaimsNothing(OnDisk):
    async def claim(self, run_id):
        pass


class LetsNothingGo(OnDisk):
    async def release(self, run_id):
        pass


class EverywhereTheSame(OnDisk):
    place = "here"


class SomewhereElse(OnDisk):
    @property
    def place(self):
        return next(PLACES)


class CallsItOtherwise(OnDisk):
    async def load(self, run_id):
        state = await self.inner.load(run_id)
        return RunState("another" if state.events else run_id, state.events)


PLACES = itertools.count()


@pytest.mark.parametrize(
    ("store", "test"),
    [
        (ClaimsNothing, "test_a_claimed_run_is_held_as_if_it_were_written"),
        (LetsNothingGo, "test_a_run_that_was_let_go_of_can_be_written_elsewhere"),
        (EverywhereTheSame, "test_stores_that_name_their_place_name_the_same_for_the_same_runs"),
        (SomewhereElse, "test_stores_that_name_their_place_name_the_same_for_the_same_runs"),
        (CallsItOtherwise, "test_what_was_appended_is_loaded_as_it_was_and_in_order"),
    ],
)
def test_a_store_on_disk_that_breaks_a_promise_is_red(store, test, tmp_path):
    class Contract(CheckpointerContract):
        def open_store(self, folder):
            return store(folder)

    class Kept(CheckpointerContract):
        def open_store(self, folder):
            return OnDisk(folder)

    for name in ("broken", "kept"):
        (tmp_path / name).mkdir()
    assert isinstance(fails(Contract(), test, tmp_path / "broken"), AssertionError)
    getattr(Kept(), test)(tmp_path / "kept")


def test_a_factory_that_opens_no_store_is_told_by_name(tmp_path):
    class Contract(CheckpointerContract):
        async def open_store(self, folder):
            return OnDisk(folder)

    error = fails(Contract(), "test_an_unknown_run_is_an_empty_journal", tmp_path)

    assert "Contract.open_store(folder) made a coroutine, which is no store" in str(error)
