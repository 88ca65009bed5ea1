"""Scripts of the model: what they can call, what comes back, and how they end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from pathlib import Path

import pytest
from support.agents import MODEL, done, final_of, run, session_of
from support.expenses import EXPENSE_SCRIPT, Company

from synaptum import (
    Agent,
    ConfigurationError,
    Decision,
    Disposition,
    InvalidToolCallError,
    Limits,
    LocalGateway,
    Risk,
    ToolCall,
    deferred,
    tool,
)
from synaptum.gateway.base import CallContext
from synaptum.surfaces import code_only, code_tool
from synaptum.testing import ScriptedModel, calls

SEED = next(iter(Path(__file__).parents[4].glob("shared/seeds/004_*.txt")), None)


@tool(idempotent=True)
async def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool(idempotent=True)
async def greet(name: str) -> str:
    """Greet."""
    return f"hello {name}"


@tool
async def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


async def carry_out(script, tools=(add, greet, fail), **settings):
    """One script in one run; its step, and all steps."""
    policy = settings.pop("policy", None)
    code = code_tool(tools, **settings)
    model = ScriptedModel(calls("run_python", script=script), "Done.")
    agent = Agent("a", model=MODEL, tools=[code])
    steps = await run(agent, "Go", session_of(model, [code], policy=policy))
    final_of(steps)
    return next(s for s in done(steps, "tool") if s.call.name == "run_python"), steps


def seeds_script():
    text = SEED.read_text(encoding="utf-8")
    block = re.search(
        r"^# Custom decoded Python adapters.*?^asyncio\.run\(main\(\)\)$", text, re.M | re.S
    )
    return block.group()


@pytest.mark.asyncio
async def test_the_expense_script_reads_200_kb_of_rows_and_gives_back_one():
    company = Company()
    script, steps = await carry_out(EXPENSE_SCRIPT, company.tools)

    rows = sum(len(s.result.text) for s in done(steps, "tool") if s.call.name == "get_expenses")
    assert rows > 200_000
    assert not script.result.is_error
    assert 500 < len(script.result.text) < 1_500
    assert json.loads(script.result.text) == company.over_budget()
    assert script.result.structured == {"ending": "finished", "calls": 1 + 4 + 20}


@pytest.mark.asyncio
@pytest.mark.skipif(SEED is None, reason="the documents that the rules come from are not here")
async def test_the_documents_own_expense_script_runs_unchanged():
    company = Company()
    script, _ = await carry_out(seeds_script(), company.tools)

    assert json.loads(script.result.text) == company.over_budget()


@pytest.mark.asyncio
async def test_only_what_is_printed_comes_back():
    script, _ = await carry_out("x = await add(1, 2)\nawait greet('you')\nprint(x)")

    assert script.result.text == "3"
    assert script.result.structured == {"ending": "finished", "calls": 2}


@pytest.mark.asyncio
async def test_a_script_that_prints_nothing_says_so():
    script, _ = await carry_out("await add(1)")

    assert script.result.text == "(the script printed nothing)"
    assert not script.result.is_error


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("print(await add(1, 2))", "3"),
        ("print(await add(1))", "2"),
        ("print(await add(b=5, a=1))", "6"),
        ("print(await greet('Añá 🙂'))", "hello Añá 🙂"),
        ("print([await add(i) for i in range(3)])", "[1, 2, 3]"),
        ("import asyncio\nprint(await asyncio.gather(add(1), greet('x')))", "[2, 'hello x']"),
        ("import asyncio\nprint(asyncio.run(add(1)))\nprint(asyncio.run(add(2)))", "2\n3"),
        ("if __name__ == '__main__':\n    print('main')", "main"),
        ("import sys\nprint('before')\nsys.exit(0)\nprint('after')", "before"),
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint(P(1))",
            "P(x=1)",
        ),
    ],
)
async def test_a_script_is_an_ordinary_python_script(line, printed):
    script, _ = await carry_out(line)

    assert (script.result.text, script.result.is_error) == (printed, False)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            "add('one')",
            'The arguments of add do not fit. At $.a: expected integer, found string "one".',
        ),
        ("add()", "At $: a is required and missing."),
        ("add(1, 2, 3)", "add() takes 2 arguments, and 3 were given by position."),
        ("add(1, a=2)", "add() was given a twice, by position and by name."),
        ("add(1, c=2)", "there is no c; the names are: a, b"),
        ("fail('broken')", "fail failed: ValueError: broken."),
    ],
)
async def test_a_call_that_fails_raises_in_the_script_and_can_be_handled(call, told):
    script, _ = await carry_out(
        f"try:\n    await {call}\nexcept ToolError as error:\n    print(error)"
    )

    assert not script.result.is_error
    assert told in script.result.text


@pytest.mark.asyncio
async def test_a_wrong_call_of_a_script_does_not_end_the_run():
    script, steps = await carry_out("await add('one')")

    assert script.result.is_error
    assert "ToolError: add was not run" in script.result.text
    assert final_of(steps).output == "Done."


@pytest.mark.asyncio
async def test_what_json_cannot_hold_is_refused_before_it_is_a_call():
    script, steps = await carry_out(
        "for bad in ({1}, float('nan'), b'x', object()):\n"
        "    try:\n        await add(bad)\n"
        "    except TypeError as error:\n        print(str(error)[:28])"
    )

    assert script.result.text == "\n".join(["add() takes what JSON can hol"[:28]] * 4)
    assert [s.call.name for s in done(steps, "tool")] == ["run_python"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("script", "ending", "told"),
    [
        ("print('a'\n", "syntax_error", "'(' was never closed"),
        ("x = 1\ny = x / 0", "runtime_error", 'File "<script>", line 2'),
        ("await add(1)\nraise KeyError('k')", "runtime_error", "KeyError: 'k'"),
        ("import sys\nsys.exit('bad')", "runtime_error", "SystemExit: bad"),
        ("import os\nos._exit(3)", "lost", "ended before the script did"),
        ("import httpx", "runtime_error", "No module named 'httpx'"),
        ("import synaptum", "runtime_error", "No module named 'synaptum'"),
    ],
)
async def test_a_script_that_does_not_finish_says_how_it_ended(script, ending, told):
    step, _ = await carry_out(script)

    assert step.result.is_error
    assert step.result.structured["ending"] == ending
    assert told in step.result.text


@pytest.mark.asyncio
async def test_what_was_printed_before_a_failure_is_kept_and_its_traceback_is_the_scripts():
    script, _ = await carry_out("def f():\n    return {}['x']\nprint('so far')\nf()")

    assert script.result.text.startswith("so far\nThe script failed: ")
    assert "return {}['x']" in script.result.text
    assert "code_child" not in script.result.text


@pytest.mark.asyncio
async def test_after_a_failed_call_no_further_call_of_a_gather_is_made():
    sent = []

    @tool
    async def send(to: str) -> str:
        """Send."""
        sent.append(to)
        if to == "b":
            raise ValueError("no b")
        return to

    script, _ = await carry_out(
        "import asyncio\n"
        "async def main():\n"
        "    await asyncio.gather(send('a'), send('b'), send('c'), send('d'))\n"
        "asyncio.run(main())",
        [send],
    )

    assert sent == ["a", "b"]
    assert script.result.structured == {"ending": "runtime_error", "calls": 2}


@pytest.mark.asyncio
async def test_the_calls_of_a_gather_are_made_one_at_a_time_in_the_order_of_the_script():
    running, most, order = 0, 0, []

    @tool
    async def visit(place: str) -> str:
        """Visit."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        order.append(place)
        await asyncio.sleep(0)
        running -= 1
        return place

    await carry_out(
        "import asyncio\n"
        "async def walk(who):\n"
        "    for n in range(3):\n"
        "        await visit(f'{who}{n}')\n"
        "async def main():\n"
        "    await asyncio.gather(walk('a'), walk('b'))\n"
        "asyncio.run(main())",
        [visit],
    )

    assert most == 1
    assert order == ["a0", "b0", "a1", "b1", "a2", "b2"]


@pytest.mark.asyncio
async def test_the_order_of_a_set_of_texts_is_the_same_in_every_process():
    script = "print(list({'alpha', 'beta', 'gamma', 'delta', 'epsilon'}))"

    first, _ = await carry_out(script)
    second, _ = await carry_out(script)

    assert first.result.text == second.result.text


@pytest.mark.asyncio
async def test_the_script_gets_no_environment_but_what_is_allowed(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    monkeypatch.setenv("REGION", "eu")

    script, _ = await carry_out(
        "import os\nprint(sorted(os.environ))\nprint(os.environ.get('REGION'))",
        environment=["REGION"],
    )

    assert "sk-secret" not in script.result.text
    assert "SOME_API_KEY" not in script.result.text
    assert script.result.text.endswith("\neu")


@pytest.mark.asyncio
async def test_another_program_can_stand_between_as_a_sandbox_does():
    between = ("/usr/bin/env", "SANDBOX=on", sys.executable)

    script, _ = await carry_out(
        "import os\nprint(os.environ['SANDBOX'], await add(1))", python=between
    )

    assert script.result.text == "on 2"


@pytest.mark.asyncio
async def test_a_python_that_is_not_there_is_an_error_result():
    script, steps = await carry_out("print(1)", python=("/no/such/python",))

    assert script.result.is_error
    assert "/no/such/python" in script.result.text
    assert final_of(steps).output == "Done."


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "line",
    ["b'no json'", "b'[1]'", 'b\'{"ended": "as never seen"}\'', "b'{\"call\": 1}'"],
)
async def test_a_script_that_speaks_to_the_parent_itself_cannot_confuse_it(line):
    script, steps = await carry_out(
        "import os, stat, time\n"
        "def is_link(fd):\n"
        "    try:\n        return stat.S_ISSOCK(os.fstat(fd).st_mode)\n"
        "    except OSError:\n        return False\n"
        "link = next(filter(is_link, range(3, 64)))\n"
        f"os.write(link, {line} + b'\\n')\n"
        "time.sleep(600)",
        deadline=5,
    )

    assert script.result.is_error
    assert script.result.structured["ending"] in ("lost", "deadline")
    assert final_of(steps).output == "Done."


@pytest.mark.asyncio
async def test_output_without_end_is_bounded_and_says_what_is_gone():
    script, _ = await carry_out("print('x' * 3_000_000 + 'the end')", max_output_bytes=1_000)

    assert len(script.result.text) < 1_200
    assert "characters of output were dropped here" in script.result.text
    assert script.result.text.endswith("the end")


@pytest.mark.asyncio
async def test_a_script_that_never_ends_is_stopped_with_what_it_started(tmp_path):
    pid_file = tmp_path / "pid"
    began = time.monotonic()
    script, _ = await carry_out(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pid_file)!r}, 'w').write(str(child.pid))\n"
        "print('started', flush=True)\n"
        "while True: pass",
        deadline=1.5,
    )

    assert script.result.text == "started\nThe script was stopped after 1.5 seconds."
    assert script.result.structured["ending"] == "deadline"
    assert time.monotonic() - began < 20
    await gone(int(pid_file.read_text()))


async def gone(pid):
    """Wait until a process has ended (a zombie has)."""
    for _ in range(200):
        try:
            state = (
                Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            )
        except FileNotFoundError:
            return
        if state == "Z":
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"process {pid} still lives")


@pytest.mark.asyncio
async def test_cancelling_the_run_kills_the_script(tmp_path):
    pid_file = tmp_path / "pid"
    script = (
        f"import os\nopen({str(pid_file)!r}, 'w').write(str(os.getpid()))\n"
        "await add(1)\nwhile True: pass"
    )
    code = code_tool([add])
    agent = Agent("a", model=MODEL, tools=[code])
    session = session_of(ScriptedModel(calls("run_python", script=script)), [code])
    steps = agent.run("Go", session=session)
    async for step in steps:
        if step.kind == "tool" and step.call.name == "add":
            break
    pid = int(pid_file.read_text())
    os.kill(pid, 0)  # it lives

    await steps.aclose()

    await gone(pid)


@pytest.mark.asyncio
async def test_more_calls_than_allowed_are_refused():
    script, _ = await carry_out("for n in range(5):\n    print(await add(n))", max_calls=2)

    assert script.result.text.startswith("1\n2\nThe script failed: ")
    assert "No more calls: a script may make 2." in script.result.text


@pytest.mark.asyncio
async def test_the_calls_of_a_script_do_not_count_as_steps_of_the_run():
    code = code_tool([add])
    model = ScriptedModel(
        calls("run_python", script="for n in range(30):\n    await add(n)"), "Done."
    )
    agent = Agent("a", model=MODEL, tools=[code], limits=Limits(max_steps=3))

    steps = await run(agent, "Go", session_of(model, [code]))

    assert final_of(steps).output == "Done."
    assert len(done(steps, "tool")) == 31


@pytest.mark.asyncio
async def test_every_call_passes_the_policy_and_carries_its_own_risk_and_script():
    seen = []

    def policy(check):
        seen.append((check.name, check.risk, check.arguments, check.step_id, check.within))
        if check.name == "greet":
            return Decision(Disposition.DENY_STEP, "manners", "no greetings")
        return Decision(Disposition.ALLOW)

    script, _ = await carry_out("await add(1, 2)\nawait greet('you')", (add, greet), policy=policy)

    assert seen[1][:2] == ("run_python", Risk.HARD_WRITE)
    assert seen[2] == ("add", Risk.READ, {"a": 1, "b": 2}, "000002-tool", "000001-tool")
    assert seen[3][0] == "greet"
    assert "the policy does not allow it (no greetings)" in script.result.text


def test_the_risk_is_the_highest_of_the_tools_and_never_under_a_hard_write():
    @tool(risk=Risk.DESTRUCTIVE)
    async def wipe() -> str:
        """Wipe."""
        return ""

    assert code_tool([add]).definition.risk is Risk.HARD_WRITE
    assert code_tool([]).definition.risk is Risk.HARD_WRITE
    assert code_tool([add, wipe]).definition.risk is Risk.DESTRUCTIVE
    assert code_tool([add]).definition.idempotent
    assert not code_tool([add, wipe]).definition.idempotent


def test_the_description_tells_how_each_function_is_called():
    @tool(idempotent=True, name="price-history")
    async def history(ticker: str, period: str = "1mo") -> list[float]:
        """Closing prices of a ticker."""
        return []

    text = code_tool([history, add]).definition.description

    assert '- price_history(ticker: string, period: string = "1mo"): Closing prices' in text
    assert "- add(a: integer, b: integer = 1): Add two numbers." in text


@pytest.mark.asyncio
async def test_a_tool_for_scripts_called_directly_is_refused():
    code = code_tool([add])
    model = ScriptedModel(calls("add", a=1), "Done.", strict=False)
    agent = Agent("a", model=MODEL, tools=[code])

    steps = await run(agent, "Go", session_of(model, [code]))

    (step,) = done(steps, "tool")
    assert step.result.is_error
    assert step.result.text == "add was not run: it can only be called from a script."


@pytest.mark.asyncio
async def test_a_marked_tool_is_offered_and_refused_directly_and_runs_in_scripts():
    marked = code_only(add)
    code = code_tool([marked])
    model = ScriptedModel(
        [calls("add", a=1), calls("run_python", script="print(await add(1))")], "Done."
    )
    agent = Agent("a", model=MODEL, tools=[code, marked])

    steps = await run(agent, "Go", session_of(model, [code, marked]))

    direct, inner, script = done(steps, "tool")
    assert "add" in [d.name for d in model.requests[0].tools]
    assert (direct.result.is_error, inner.result.text, script.result.text) == (True, "2", "2")


@pytest.mark.asyncio
async def test_the_gateway_itself_refuses_a_direct_call_of_a_tool_for_scripts():
    gateway = LocalGateway(tools=[code_tool([add])])

    result = await gateway.invoke_tool(ToolCall("c", "add", {"a": 1}), CallContext("r", "s"))

    assert result.is_error
    assert "only be called from a script" in result.text


@pytest.mark.asyncio
async def test_a_script_is_not_run_where_its_calls_could_not_be_journalled():
    code = code_tool([add])
    gateway = LocalGateway(tools=[code])
    call = ToolCall("c", "run_python", {"script": "print(1)"})

    with pytest.raises(ConfigurationError, match=r"without CallContext\.bridge"):
        await gateway.invoke_tool(call, CallContext("r", "s"))


@pytest.mark.asyncio
async def test_arguments_that_are_no_script_do_not_fit():
    class Nobody:
        async def call(self, name, arguments):
            raise AssertionError

    with pytest.raises(InvalidToolCallError, match=r"\$\.script: expected string"):
        await code_tool([]).invoke_with("c", {"script": 3}, Nobody())


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: code_tool([tool(add, name="a-b"), tool(greet, name="a.b")]), "'a_b'"),
        (lambda: code_tool([code_tool([])]), "cannot run another"),
        (lambda: deferred([code_tool([]), add]), "offer it beside deferred()"),
        (lambda: code_tool([add], deadline=0), "deadline=0"),
        (lambda: code_tool([add], max_calls=0), "max_calls=0"),
        (lambda: code_tool([add], max_output_bytes=float("inf")), "max_output_bytes=inf"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(make, told):
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        make()


@pytest.mark.asyncio
async def test_a_secret_that_a_script_was_given_shows_neither_in_what_it_prints_nor_in_its_error(
    monkeypatch,
):
    monkeypatch.setenv("SOME_API_KEY", "tok-abcdefgh")
    script = """
import os
print(os.environ["SOME_API_KEY"])
raise ValueError(os.environ["SOME_API_KEY"])
"""
    result, _ = await carry_out(script, environment=["SOME_API_KEY"])

    assert "tok-abcdefgh" not in result.result.text
    assert result.result.text.count("[SOME_API_KEY]") == 2


def test_a_set_of_tools_is_refused_since_its_order_changes_the_description():
    with pytest.raises(ConfigurationError, match="give a list"):
        code_tool({add, greet})
