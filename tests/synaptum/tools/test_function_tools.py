"""`@tool`: what a function becomes, and what a call of it comes to."""

import asyncio
import contextvars
import dataclasses
import datetime
import functools
import re
import sys
import threading
from typing import Annotated, Any, Literal

import pytest

from synaptum.errors import (
    AbortError,
    ConfigurationError,
    InvalidToolCallError,
    NeedsHumanError,
    NetworkError,
    ToolExecutionError,
    UncertainEffect,
)
from synaptum.tools import Tool, check_tool_names, invalid_call_result, tool
from synaptum.vocabulary import Image, Risk, Text, ToolResult
from synaptum.wording import ENGLISH, SPANISH, current_wording, use_wording


@dataclasses.dataclass
class Transfer:
    to: str
    amount: float

    def __post_init__(self):
        if self.amount <= 0:
            raise ValueError("the amount must be above zero")


@tool
async def echo(text: str = "") -> str:
    """Gives back the text.

    This second paragraph is for people.
    """
    return text


def test_silence_on_risk_means_harmless_and_on_repeating_means_never():
    """Seed 000: hardening a default is a major change, relaxing one is never done."""
    assert echo.definition.risk is Risk.READ
    assert echo.definition.idempotent is False


def test_name_and_description_come_from_the_function():
    assert (echo.name, echo.definition.description) == ("echo", "Gives back the text.")
    assert isinstance(echo, Tool)


def test_everything_can_be_declared():
    @tool(
        risk=Risk.DESTRUCTIVE,
        idempotent=True,
        name="bank.transfer",
        description="Orders a transfer.",
        input_examples=[{"order": {"to": "ES12", "amount": 3}}],
    )
    def transfer(order: Transfer) -> str: ...

    definition = transfer.definition
    assert (definition.name, definition.description) == ("bank.transfer", "Orders a transfer.")
    assert (definition.risk, definition.idempotent) == (Risk.DESTRUCTIVE, True)
    assert definition.parameters["examples"] == [{"order": {"to": "ES12", "amount": 3}}]


@pytest.mark.parametrize(
    ("example", "reason"),
    [
        ({}, r"input_examples\[0\] of f .*order is required"),
        ({"order": {"to": "x", "amount": "much"}}, r"\$\.order\.amount: expected number"),
        ({"order": {"to": "x", "amount": -1}}, "above zero"),
        ({"order": {"to": "x", "amount": float("nan")}}, "no JSON"),
    ],
)
def test_an_example_that_does_not_fit_is_refused_at_decoration(example, reason):
    with pytest.raises(ConfigurationError, match=reason):

        @tool(input_examples=[example])
        def f(order: Transfer) -> str: ...


def test_a_tool_can_still_be_called_as_its_function():
    @tool
    def double(n: int) -> int:
        return 2 * n

    assert double(4) == 8
    assert double.__name__ == "double"
    assert asyncio.run(echo("hi")) == "hi"


@pytest.mark.asyncio
async def test_arguments_arrive_as_the_annotated_types():
    seen = []

    @tool
    async def f(order: Transfer, day: datetime.date, ratio: float, tags: tuple[str, ...] = ()):
        seen.append((order, day, ratio, tags))

    await f.invoke(
        "c1", {"order": {"to": "a", "amount": 1}, "day": "2026-03-24", "ratio": 2, "tags": ["x"]}
    )

    assert seen == [(Transfer("a", 1.0), datetime.date(2026, 3, 24), 2.0, ("x",))]
    assert type(seen[0][2]) is float


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "At $: user is required and missing."),
        (
            {"user": "u", "is_admin": "false"},
            'At $.is_admin: expected boolean, found string "false".',
        ),
        ({"user": "u", "is_admin": 1}, "At $.is_admin: expected boolean, found integer 1."),
        (
            {"user": "u", "security_note": "safe"},
            "At $: there is no security_note; the names are: user, is_admin.",
        ),
    ],
)
async def test_arguments_that_do_not_fit_raise_and_nothing_runs(arguments, told):
    ran = []

    @tool
    def edit(user: str, is_admin: bool = False) -> str:
        ran.append(user)
        return "done"

    with pytest.raises(InvalidToolCallError) as caught:
        await edit.invoke("c1", arguments)

    assert str(caught.value) == f"The arguments of edit do not fit. {told}"
    assert not caught.value.retryable
    assert ran == []


def test_the_model_can_be_told_of_a_call_that_does_not_fit_with_the_schema():
    result = invalid_call_result("c1", echo.definition, InvalidToolCallError("No."), SPANISH)

    assert result.is_error
    assert '"properties":{"text":' in result.text
    assert "echo" in result.text


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"order": {"to": "a", "amount": 0}}, "At $.order: the amount must be above zero."),
        ({"order": {"to": "a", "amount": 1}, "day": "2026-02-30"}, "is no valid date"),
    ],
)
async def test_a_refused_value_goes_to_the_model(arguments, told):
    @tool
    def send(order: Transfer, day: datetime.date | None = None) -> str: ...

    result = await send.invoke("c1", arguments)

    assert (result.call_id, result.is_error) == ("c1", True)
    assert told in result.text


@pytest.mark.asyncio
async def test_a_pydantic_model_as_parameter_arrives_validated_and_its_no_goes_to_the_model():
    pydantic = pytest.importorskip("pydantic")

    class Query(pydantic.BaseModel):
        ticker: str = pydantic.Field(description="Such as NVDA")

        @pydantic.field_validator("ticker")
        @classmethod
        def known(cls, value):
            if not value.isupper():
                raise ValueError("write it in capitals")
            return value

    seen = []

    @tool
    def price(query: Query) -> str:
        seen.append(query)
        return "1"

    await price.invoke("c1", {"query": {"ticker": "NVDA"}})
    refused = await price.invoke("c2", {"query": {"ticker": "nvda"}})

    assert seen == [Query(ticker="NVDA")]
    assert refused.is_error
    assert "At $.query.ticker: Value error, write it in capitals." in refused.text
    with pytest.raises(InvalidToolCallError, match=r"\$\.query\.ticker"):
        await price.invoke("c3", {"query": {}})
    assert price.definition.parameters["$defs"]["Query"]["properties"]["ticker"] == {
        "description": "Such as NVDA",
        "title": "Ticker",
        "type": "string",
    }


@pytest.mark.asyncio
async def test_a_pydantic_constraint_in_annotated_is_told_and_kept():
    pydantic = pytest.importorskip("pydantic")

    def even(n):
        if n % 2:
            raise ValueError("must be even")
        return n

    seen = []

    @tool
    def roll(
        sides: Annotated[int, pydantic.Field(ge=2, le=20, description="Of the die")],
        times: Annotated[int, pydantic.AfterValidator(even)] = 2,
    ) -> str:
        seen.append((sides, times))
        return ""

    assert roll.definition.parameters["properties"]["sides"] == {
        "type": "integer",
        "minimum": 2,
        "maximum": 20,
        "description": "Of the die",
    }
    await roll.invoke("c1", {"sides": 6, "times": 4})
    too_many = await roll.invoke("c2", {"sides": 21})
    odd = await roll.invoke("c3", {"sides": 6, "times": 3})
    assert seen == [(6, 4)]
    assert "At $.sides: Input should be less than or equal to 20." in too_many.text
    assert "must be even" in odd.text
    with pytest.raises(InvalidToolCallError, match=r"expected integer, found string"):
        await roll.invoke("c4", {"sides": "6"})


def test_a_pydantic_field_as_default_is_refused_because_the_function_would_get_it():
    pydantic = pytest.importorskip("pydantic")

    with pytest.raises(ConfigurationError, match=r"put it inside Annotated\[\.\.\.\]"):

        @tool
        def f(n: int = pydantic.Field(default=3)) -> str: ...


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("no such file"), "ValueError: no such file. The same call would fail again"),
        (KeyError(), "KeyError. The same call would fail again"),
        (ToolExecutionError("Quota used up."), "Quota used up. The same call would fail again"),
        (ToolExecutionError("busy", retryable=True), "busy. The same call may succeed later"),
        (TimeoutError(), "TimeoutError. The same call may succeed later"),
        (ConnectionResetError("reset"), "reset. The same call may succeed later"),
        (NetworkError("cut"), "NetworkError: cut. The same call may succeed later"),
        (StopIteration("x"), "StopIteration: x. The same call would fail again"),
    ],
    ids=repr,
)
async def test_a_failure_inside_is_told_to_the_model_with_what_to_do(error, told):
    @tool
    def fetch(url: str) -> str:
        raise error

    result = await fetch.invoke("c1", {"url": "u"})

    assert result.is_error
    assert result.text.startswith("fetch failed: ")
    assert told in result.text


@pytest.mark.asyncio
async def test_a_failure_that_may_pass_is_raised_only_where_repeating_is_safe():
    @tool(idempotent=True)
    async def fetch() -> str:
        raise ToolExecutionError("busy", retryable=True, retry_after=7.0)

    @tool(idempotent=True)
    async def connect() -> str:
        raise TimeoutError("slow")

    @tool(idempotent=True)
    async def broken() -> str:
        raise ValueError("never")

    with pytest.raises(ToolExecutionError, match="busy") as caught:
        await fetch.invoke("c1", {})
    assert (caught.value.retryable, caught.value.retry_after) == (True, 7.0)
    with pytest.raises(ToolExecutionError, match="TimeoutError: slow") as caught:
        await connect.invoke("c1", {})
    assert caught.value.retryable
    assert (await broken.invoke("c1", {})).is_error


@pytest.mark.asyncio
async def test_an_error_whose_text_cannot_be_made_is_still_told_by_its_type():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    @tool
    def f() -> str:
        raise Odd

    assert "f failed: Odd." in (await f.invoke("c1", {})).text


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "error",
    [
        NeedsHumanError("ask"),
        AbortError("stop"),
        UncertainEffect("?", "1"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_what_ends_or_suspends_a_run_goes_through(error, kind):
    @tool(idempotent=True)
    def blocking() -> str:
        raise error

    @tool(idempotent=True)
    async def waiting() -> str:
        raise error

    with pytest.raises(type(error)):
        await (blocking if kind == "thread" else waiting).invoke("c1", {})


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_a_tool_whose_own_wait_was_cancelled_has_failed_and_nobody_is_cancelled(kind):
    @tool(idempotent=True)
    def blocking() -> str:
        raise asyncio.CancelledError

    @tool(idempotent=True)
    async def waiting() -> str:
        other = asyncio.create_task(asyncio.sleep(60))
        other.cancel()
        await other
        return "never"

    called = blocking if kind == "thread" else waiting
    result = await called.invoke("c1", {})

    assert result.is_error
    assert result.text == (
        f"{called.name} failed: what it waited for was cancelled. The same call would fail again:"
        " change it, or go on."
    )


@pytest.mark.asyncio
async def test_sys_exit_in_a_blocking_function_fails_the_tool_and_ends_nothing():
    @tool
    def old_program() -> str:
        sys.exit("bad usage")

    result = await old_program.invoke("c1", {})

    assert result.is_error
    assert result.text.startswith("old_program failed: RuntimeError: SystemExit: bad usage.")


@pytest.mark.asyncio
async def test_a_blocking_function_does_not_hold_up_the_loop_and_sees_the_context():
    request = contextvars.ContextVar("request", default="none")
    released = threading.Event()

    @tool
    def wait() -> str:
        assert released.wait(10)
        return request.get()

    request.set("r1")
    call = asyncio.create_task(wait.invoke("c1", {}))
    await asyncio.sleep(0)  # the loop goes round while the function blocks
    released.set()

    assert (await call).text == "r1"


@pytest.mark.asyncio
async def test_cancelling_a_call_of_a_blocking_function_ends_the_wait_at_once():
    begun, released, ended = threading.Event(), threading.Event(), threading.Event()

    @tool
    def wait() -> str:
        begun.set()
        released.wait(10)
        ended.set()
        return ""

    call = asyncio.create_task(wait.invoke("c1", {}))
    await asyncio.to_thread(begun.wait, 10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert not ended.is_set()  # the function goes on, as no thread can be stopped
    released.set()
    assert await asyncio.to_thread(ended.wait, 10)


@pytest.mark.asyncio
async def test_wrappers_of_async_functions_are_awaited_however_they_wrap():
    async def inner(n: int) -> str:
        return f"n={n}"

    @functools.wraps(inner)
    def handing_on(*args, **kwargs):
        return inner(*args, **kwargs)

    @functools.wraps(inner)
    def awaiting(*args, **kwargs):
        return asyncio.run(inner(*args, **kwargs))

    for function in (inner, handing_on, awaiting, functools.partial(inner)):
        assert (await tool(function).invoke("c1", {"n": 1})).text == "n=1"


@pytest.mark.asyncio
async def test_partials_keep_their_own_names_and_never_show_what_they_bind():
    def get_weather(key: str, city: str) -> str:
        """Current weather."""
        return f"{key}/{city}"

    def get_forecast(key: str, city: str) -> str:
        """Weather to come."""
        return f"{key}/{city}"

    weather = tool(functools.partial(get_weather, "k"))
    forecast = tool(functools.partial(get_forecast, key="k"))

    assert [weather.name, forecast.name] == ["get_weather", "get_forecast"]
    assert forecast.definition.description == "Weather to come."
    assert (await weather.invoke("c1", {"city": "Oslo"})).text == "k/Oslo"
    assert (await forecast.invoke("c1", {"city": "Oslo"})).text == "k/Oslo"


@pytest.mark.asyncio
async def test_a_method_becomes_a_tool_of_its_object():
    class Desk:
        def __init__(self, name):
            self.name = name

        @tool(risk=Risk.SOFT_WRITE)
        def open(self, ticket: str) -> str:
            """Opens a ticket."""
            return f"{self.name}: {ticket}"

        def find(self, query: str) -> str:
            return f"{self.name}? {query}"

    north = Desk("north")

    assert list(north.open.definition.parameters["properties"]) == ["ticket"]
    assert (await north.open.invoke("c1", {"ticket": "t"})).text == "north: t"
    assert north.open("t") == "north: t"
    assert (await tool(north.find).invoke("c1", {"query": "q"})).text == "north? q"
    with pytest.raises(ConfigurationError, match="take the tool from an instance"):
        await Desk.open.invoke("c1", {"ticket": "t"})


@pytest.mark.asyncio
async def test_a_schema_by_hand_is_what_travels_and_what_is_checked():
    @tool(parameters={"properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]})
    def f(**values: Any) -> dict:
        return values

    assert f.definition.parameters["type"] == "object"
    assert (await f.invoke("c1", {"n": 2})).structured == {"n": 2}
    with pytest.raises(InvalidToolCallError, match=r"At \$\.n: the rule is minimum 1, found 0"):
        await f.invoke("c1", {"n": 0})


def test_what_a_schema_by_hand_says_is_null_does_not_travel():
    @tool(parameters={"type": "object", "properties": None, "required": None})
    def f(**values: Any) -> dict:
        return values

    assert f.definition.parameters == {"type": "object", "properties": {}}


@pytest.mark.parametrize("parameters", [{"type": "array"}, {"properties": {"a": {"type": "x"}}}])
def test_a_schema_by_hand_that_cannot_be_sent_is_refused(parameters):
    with pytest.raises(ConfigurationError, match="parameters= of f"):

        @tool(parameters=parameters)
        def f(**values: Any) -> str: ...


def test_what_has_no_name_or_gives_many_values_is_no_tool():
    def many(n: int):
        yield n

    async def flow(n: int):
        yield n

    with pytest.raises(ConfigurationError, match="give it one with name="):
        tool(lambda: "")
    with pytest.raises(ConfigurationError, match="many is a generator"):
        tool(many)
    with pytest.raises(ConfigurationError, match="flow is a generator"):
        tool(flow)


def test_two_tools_of_one_name_are_refused():
    other = tool(name="echo")(lambda: "")

    assert check_tool_names([echo]) == (echo,)
    with pytest.raises(ConfigurationError, match="Two tools are called 'echo'"):
        check_tool_names([echo, other])
    with pytest.raises(ConfigurationError, match="put @tool on the function"):
        check_tool_names([len])


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_of_tools_is_refused_because_its_order_is_another_in_every_process(kind):
    with pytest.raises(ConfigurationError, match=r"tools= is a set.*give a list"):
        check_tool_names(kind([echo]))


@pytest.mark.asyncio
async def test_the_wording_in_use_is_what_the_model_reads_also_from_a_thread():
    @tool
    def fail(kind: Literal["now"] = "now") -> str:
        raise ValueError(current_wording().name)

    with use_wording(SPANISH):
        result = await fail.invoke("c1", {})

    assert result.text.startswith("fail falló: ValueError: spanish.")
    assert current_wording() is ENGLISH


@dataclasses.dataclass
class Answer:
    total: int
    day: Annotated[datetime.date, "When"]


class _Unknown:
    pass


def _endless():
    value = {}
    value["again"] = value
    return value


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        ("", "", None),
        ("año", "año", None),
        (None, "", None),
        ({"b": 1, "a": "ñ"}, '{"a":"ñ","b":1}', {"b": 1, "a": "ñ"}),
        ([1, None, True], "[1,null,true]", [1, None, True]),
        ((), "[]", []),
        (3, "3", 3),
        (2.5, "2.5", 2.5),
        (False, "false", False),
        (
            Answer(1, datetime.date(2026, 3, 24)),
            '{"day":"2026-03-24","total":1}',
            {"total": 1, "day": "2026-03-24"},
        ),
        (Risk.READ, "read", None),
    ],
    ids=repr,
)
async def test_what_is_returned_becomes_text_and_its_value_is_kept(value, text, structured):
    @tool
    def f():
        return value

    result = await f.invoke("c1", {})

    assert result == ToolResult("c1", (Text(text),), structured=structured)


@pytest.mark.asyncio
async def test_a_returned_pydantic_model_becomes_json():
    pydantic = pytest.importorskip("pydantic")

    class News(pydantic.BaseModel):
        headline: str
        day: datetime.date

    @tool
    def f():
        return News(headline="ñ", day=datetime.date(2026, 3, 24))

    assert (await f.invoke("c1", {})).text == '{"day":"2026-03-24","headline":"ñ"}'


@pytest.mark.asyncio
async def test_content_parts_stand_as_they_are():
    picture = Image("image/png", data=b"x")

    @tool
    def one():
        return picture

    @tool
    def several():
        return ["A", picture, Text("B")]

    @tool
    def whole():
        return ToolResult.of("other", "done", is_error=True)

    assert (await one.invoke("c1", {})).content == (picture,)
    assert (await several.invoke("c1", {})).content == (Text("A"), picture, Text("B"))
    assert await whole.invoke("c1", {}) == ToolResult.of("c1", "done", is_error=True)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (_Unknown(), "a _Unknown"),
        ({1}, "a set"),
        (b"x", "a bytes"),
        (float("nan"), "The number at $ is nan"),
        ({"a": {1}}, "The value at $.a is a set, which has no order: return a sorted list"),
        ({"a": [_Unknown()]}, "The value at $.a[0] is a _Unknown"),
        (_endless(), "nested deeper than 200 levels at $.again.again"),
        ({1: "a"}, "The key 1 at $ is a int"),
        (Answer, "a type"),
    ],
)
async def test_what_has_no_json_form_is_an_error_that_names_the_type(value, told):
    @tool
    def f():
        return value

    result = await f.invoke("c1", {})

    assert result.is_error
    assert told in result.text
    assert "object at 0x" not in result.text


class Model:
    """As a Pydantic model that cannot serialise one of its members."""

    @classmethod
    def model_json_schema(cls):
        return {}

    @classmethod
    def model_validate(cls, value):
        return value

    def model_dump(self, mode):
        raise ValueError("un socket")


DEEP = functools.reduce(lambda inner, _: [inner], range(300), 1)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({1: 2}, "La clave 1 en $ es de tipo int; en JSON los nombres son textos."),
        ({"a": float("inf")}, "El número en $.a es inf, que no existe en JSON."),
        ({"a": b"x"}, "El valor en $.a es de tipo bytes, que no existe en JSON."),
        ({"a": {1, 2}}, "El valor en $.a es un conjunto, que no tiene orden"),
        (DEEP, "El valor tiene más de 200 niveles de anidamiento en $[0][0]"),
        (10**5000, "Un número tiene más cifras de las que se pueden escribir."),
        ({"a": "\ud83d\ude00"}, "Un texto contiene por separado las dos mitades de un carácter"),
        (Model(), "El Model en $ no da JSON: un socket"),
    ],
    ids=["key", "number", "type", "set", "deep", "digits", "halves", "model"],
)
async def test_why_a_value_cannot_be_shown_is_said_in_the_words_in_use(value, told):
    @tool
    def give() -> Any:
        return value

    with use_wording(SPANISH):
        result = await give.invoke("c1", {})

    assert result.is_error
    assert told in result.text
    assert "JSON form" not in result.text


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"risk": "destructive"}, "@tool(risk='destructive') on wipe: give a Risk."),
        ({"idempotent": "no"}, "@tool(idempotent='no') on wipe: give a bool."),
        ({"name": 3}, "@tool(name=3) on 3: give a str."),
        ({"description": ["Wipes."]}, "@tool(description=['Wipes.']) on wipe: give a str."),
        ({"parameters": ["path"]}, "@tool(parameters=['path']) on wipe: give a Mapping."),
    ],
)
def test_a_word_in_place_of_a_risk_is_refused_at_decoration_and_passes_no_policy(declared, told):
    with pytest.raises(ConfigurationError, match=re.escape(told)):

        @tool(**declared)
        def wipe(path: str) -> str:
            return path
