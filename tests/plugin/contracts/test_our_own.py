"""Our own stores, gateway and provider pass the contracts that people subclass."""

import pytest

from pytest_synaptum import CheckpointerContract, GatewayContract, ProviderContract
from synaptum import JsonlCheckpointer, LocalGateway, MemoryCheckpointer, SqliteCheckpointer
from synaptum.providers.openai_compatible import OpenAICompatible


class TestMemory(CheckpointerContract):
    outlives = False

    def open_store(self, folder):
        return MemoryCheckpointer()


class TestSqlite(CheckpointerContract):
    def open_store(self, folder):
        return SqliteCheckpointer(folder / "journal.db", durable=False)


class TestJsonl(CheckpointerContract):
    def open_store(self, folder):
        return JsonlCheckpointer(folder / "journal.jsonl", durable=False)


class TestLocalGateway(GatewayContract):
    def open_gateway(self, model, tools, policy):
        return LocalGateway(model=model.complete, stream=model.stream, tools=tools, policy=policy)


class TestOpenAICompatible(ProviderContract):
    def open_provider(self):
        return OpenAICompatible()


@pytest.mark.parametrize("profile", ["llama.cpp", "openai"])
class TestProfiles:
    def test_a_profile_is_held_to_the_same(self, profile):
        class Held(ProviderContract):
            def open_provider(self):
                return OpenAICompatible(profile=profile)

        Held().test_a_conversation_that_grows_keeps_the_bytes_it_had()
        Held().test_text_and_calls_are_what_was_said()
