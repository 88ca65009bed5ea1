"""model_double as a user meets it."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from pytest_synaptum.doubles import ModelDouble, breaks, calls, drops, fails, says, slow
from synaptum.errors import NetworkError, ProviderError
from synaptum.testing import ScriptError
from synaptum.vocabulary import Message, Request, Text, ToolDefinition, ToolResult

WEATHER = ToolDefinition(
    "weather",
    "Tells the weather.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def ask(text: str = "Hi", **settings) -> Request:
    return Request(model="m", messages=(Message.user(text),), **settings)


def test_it_answers_in_the_order_of_its_script(model_double):
    model = model_double("one", says("two"))

    async def both():
        return [(await model.complete(ask())).text for _ in range(2)]

    assert asyncio.run(both()) == ["one", "two"]


@pytest.mark.asyncio
async def test_whole_and_streamed_are_the_same_answer(model_double):
    model = model_double("Grüße 😀", "Grüße 😀")

    whole = await model.complete(ask())
    events = [event async for event in model.stream(ask())]

    assert events[-1].response == whole
    assert model.wire[0] == {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    assert model.wire[1]["stream"] is True


@pytest.mark.asyncio
async def test_what_was_asked_is_kept_as_it_was():
    arguments = {"deep": [1]}
    model = ModelDouble("ok")

    await model.complete(ask(provider_options={"metadata": arguments}))
    arguments["deep"].append(2)

    assert model.requests[0].provider_options == {"metadata": {"deep": [1]}}
    assert model.wire[0]["metadata"] == {"deep": [1]}


@pytest.mark.asyncio
async def test_what_is_done_to_a_kept_request_changes_nothing():
    model = ModelDouble("ok")
    await model.complete(ask(provider_options={"metadata": {"deep": [1]}}))

    model.requests[0].provider_options["metadata"]["deep"].append(2)
    model.wire[0]["messages"].clear()
    with pytest.raises(AttributeError):
        model.requests.append(ask())

    assert model.requests[0].provider_options == {"metadata": {"deep": [1]}}
    assert len(model.wire[0]["messages"]) == 1


@pytest.mark.asyncio
async def test_scripted_faults_are_the_real_errors():
    model = ModelDouble(fails(429, retry_after=2.0), drops(after=2), breaks(after=1))

    with pytest.raises(ProviderError) as caught:
        await model.complete(ask())
    assert (caught.value.status, caught.value.retryable, caught.value.retry_after) == (429, True, 2)

    seen = []
    with pytest.raises(NetworkError):
        async for event in model.stream(ask()):
            seen.append(event.kind)
    assert seen == ["stream_start", "text_start", "text_delta", "text_delta"]

    seen.clear()
    with pytest.raises(ProviderError, match="inside its stream"):
        async for event in model.stream(ask()):
            seen.append(event.kind)
    assert seen == ["stream_start", "text_start", "text_delta"]


@pytest.mark.asyncio
async def test_a_slow_turn_passes_time_on_the_doubles_clock_only():
    model = ModelDouble(slow(30.0, "late"), "soon")

    first = [event.kind async for event in model.stream(ask())]
    await model.complete(ask())

    assert first[0] == "stream_start"
    assert model.clock.slept == [30.0]


@pytest.mark.asyncio
async def test_scripted_arguments_are_held_to_the_tools_schema():
    model = ModelDouble(calls("weather", town="Oslo"), calls("wether", city="Oslo"))

    with pytest.raises(ScriptError, match=r"calls 'weather' with arguments that its schema.*city"):
        await model.complete(ask(tools=(WEATHER,)))
    with pytest.raises(ScriptError, match="'wether', which was not offered"):
        await model.complete(ask(tools=(WEATHER,)))


@pytest.mark.asyncio
async def test_a_model_that_strays_is_scripted_on_purpose():
    model = ModelDouble([calls("weather", town=1), calls("weather", raw='{"ci')], strict=False)

    response = await model.complete(ask(tools=(WEATHER,)))

    assert [call.arguments for call in response.tool_calls] == [{"town": 1}, {}]
    assert response.tool_calls[1].unreadable_arguments == '{"ci'


@pytest.mark.asyncio
async def test_a_function_of_the_request_answers_what_it_saw():
    model = ModelDouble(lambda request: request.messages[-1].text.upper())

    assert (await model.complete(ask("abc"))).text == "ABC"


@pytest.mark.asyncio
async def test_a_body_that_no_server_takes_is_refused_with_what_to_change():
    model = ModelDouble("ok", "ok")
    orphan = Message.tool_results(ToolResult("nobody", (Text("x"),)))
    request = Request(model="m", messages=(Message.user("Hi"), orphan))

    with pytest.raises(ScriptError, match="result-without-call at /messages/1/tool_call_id"):
        await model.complete(request)


def test_an_empty_script_is_refused_when_the_double_is_made():
    with pytest.raises(ValueError, match="model_double needs a script"):
        ModelDouble()


def test_a_turn_too_many_fails_the_test_even_if_the_error_is_swallowed(pytester):
    pytester.makepyfile(
        """
        import asyncio, contextlib
        from synaptum.vocabulary import Message, Request
        def test_one(model_double):
            model = model_double("only one")
            request = Request(model="m", messages=(Message.user("again please"),))
            async def twice():
                await model.complete(request)
                with contextlib.suppress(BaseException):
                    await model.complete(request)
            asyncio.run(twice())
        """
    )

    result = pytester.runpytest()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*has 1 turns and was asked for one more*again please*"])


def test_turns_left_over_fail_at_teardown_and_are_named(pytester):
    pytester.makepyfile(
        """
        from pytest_synaptum import calls
        def test_one(model_double):
            model_double(calls("search", q="x"), "never asked")
        """
    )

    result = pytester.runpytest()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*turns that nobody asked for*never asked*"])


def test_a_test_that_failed_is_not_failed_twice(pytester):
    pytester.makepyfile(
        """
        def test_one(model_double):
            model_double("x")
            assert False
        """
    )

    pytester.runpytest().assert_outcomes(failed=1)


def test_importing_the_package_imports_no_double():
    code = "import pytest_synaptum, sys; print(sorted(m for m in sys.modules if 'synaptum' in m))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "['pytest_synaptum']"


@pytest.mark.asyncio
async def test_a_streamed_call_without_arguments_calls_with_an_empty_object():
    model = ModelDouble(calls("list_harbours"))
    tool = ToolDefinition("list_harbours", "Lists.", {"type": "object"})

    events = [event async for event in model.stream(ask(tools=(tool,)))]

    assert events[-1].response.tool_calls[0].arguments == {}


@pytest.mark.asyncio
async def test_an_item_of_a_wrong_kind_names_what_a_script_can_hold():
    with pytest.raises(ScriptError, match=r"42 is nothing a script can hold: use a text, says"):
        await ModelDouble(42).complete(ask())


@pytest.mark.parametrize("wrong", ["", "'one', tools=3"])
def test_a_double_that_was_not_made_does_not_spoil_the_traceback(pytester, wrong):
    pytester.makepyfile(f"def test_it(model_double):\n    model_double({wrong})\n")

    result = pytester.runpytest_inprocess("-p", "no:hypothesispytest", "--showlocals")

    result.assert_outcomes(failed=1)
    assert "raised in repr()" not in result.stdout.str()
