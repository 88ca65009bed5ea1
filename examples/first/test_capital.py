import asyncio

from synaptum import Message, Request


def test_the_capital_is_named(recorded_provider, synaptum_golden):
    question = Message.user("What is the capital of France? Answer in one short sentence.")
    request = Request(recorded_provider.model_name, [question], temperature=0, max_output_tokens=40)

    response = asyncio.run(recorded_provider.complete(request))

    assert "Paris" in response.text
    synaptum_golden.check(response.text)
