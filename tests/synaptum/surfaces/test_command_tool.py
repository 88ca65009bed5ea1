"""Programs as tools: typed, without a shell, bounded, and told apart by their exit codes."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path

import pytest
from support.agents import MODEL, done, final_of, run, session_of

from synaptum import (
    Agent,
    ConfigurationError,
    InvalidToolCallError,
    Risk,
    ToolExecutionError,
    tool,
)
from synaptum.surfaces import ExitCode, command_tool
from synaptum.testing import ScriptedModel, calls
from synaptum.wording import SPANISH, use_wording


def python(code, **settings):
    """A tool that runs a Python program with one text as its argument."""
    settings.setdefault("risk", Risk.READ)

    @command_tool(sys.executable, **settings)
    def program(text: str = "") -> list[str]:
        """Runs a program."""
        return ["-c", code, "--", text]

    return program


async def call(made, **arguments):
    return await made.invoke("c1", arguments)


@pytest.mark.asyncio
async def test_the_schema_comes_from_the_function_and_the_arguments_from_its_list():
    @command_tool(sys.executable, risk=Risk.SOFT_WRITE, idempotent=True)
    def count(word: str, times: int = 2) -> list[object]:
        """Says a word some times.

        More for people.
        """
        return ["-c", "import sys; print(sys.argv[1:])", "--", word, times]

    result = await call(count, word="a b; $(rm -rf x) `y` 'z' *", times=3)

    assert count.definition.description == "Says a word some times."
    assert count.definition.parameters["required"] == ["word"]
    assert (count.definition.risk, count.definition.idempotent) == (Risk.SOFT_WRITE, True)
    assert eval(result.text) == ["--", "a b; $(rm -rf x) `y` 'z' *", "3"]


@pytest.mark.asyncio
async def test_arguments_that_do_not_fit_run_nothing():
    with pytest.raises(InvalidToolCallError, match=r"\$\.text"):
        await call(python("print(1)"), text=3)


@pytest.mark.asyncio
async def test_with_json_among_the_arguments_the_output_is_a_value():
    @command_tool(sys.executable, risk=Risk.READ)
    def quote(ticker: str) -> list[str]:
        """Quotes."""
        code = "import json, sys; print(json.dumps({'t': sys.argv[2], 'price': 1.5}))"
        return ["-c", code, "--json", ticker]

    result = await call(quote, ticker="NVDA")

    assert result.structured == {"t": "NVDA", "price": 1.5}
    assert result.text == '{"price":1.5,"t":"NVDA"}'


@pytest.mark.asyncio
@pytest.mark.parametrize("output", ["no json", "", "{'a': 1}", "NaN"])
async def test_output_that_is_not_the_json_it_should_be_is_an_error(output):
    result = await call(python(f"print({output!r})", parse_json=True))

    assert result.is_error
    assert "is not the JSON that was asked for" in result.text


@pytest.mark.asyncio
async def test_an_exit_code_is_told_with_its_meaning_and_what_the_program_said():
    made = python(
        "import sys; sys.stderr.write('no ticker ZZZ\\n'); sys.exit(3)",
        exit_codes={3: "no such ticker: search for it first"},
    )

    result = await call(made)

    assert result.is_error
    assert "exit code 3 (no such ticker: search for it first). no ticker ZZZ" in result.text
    assert "The same call would fail again" in result.text


@pytest.mark.asyncio
async def test_a_code_that_nobody_described_says_so_and_quotes_standard_output_too():
    result = await call(python("import sys; print('usage: x'); sys.exit(2)"))

    assert "exit code 2 (not described). usage: x" in result.text


@pytest.mark.asyncio
async def test_a_code_that_may_pass_is_retryable_where_the_tool_is_idempotent():
    settings = {"exit_codes": {4: ExitCode("the service is busy", retryable=True)}}
    code = "import sys; sys.exit(4)"

    told = await call(python(code, **settings))
    with pytest.raises(ToolExecutionError) as caught:
        await call(python(code, idempotent=True, **settings))

    assert "may succeed later" in told.text
    assert caught.value.retryable
    assert "exit code 4 (the service is busy)" in str(caught.value)


@pytest.mark.asyncio
async def test_a_temporary_failure_is_known_by_its_code():
    with (
        use_wording(SPANISH),
        pytest.raises(ToolExecutionError, match=r"75 \(un fallo pasajero\)"),
    ):
        await call(python("import sys; sys.exit(75)", idempotent=True))


@pytest.mark.asyncio
async def test_a_code_can_be_a_success():
    result = await call(python("import sys; sys.exit(1)", ok_codes=(0, 1)))

    assert (result.text, result.is_error) == ("", False)


@pytest.mark.asyncio
@pytest.mark.parametrize("value", ["--output=/etc/passwd", "-rf", "--", "-"])
async def test_a_value_that_would_be_read_as_an_option_runs_nothing(value, tmp_path):
    ran = tmp_path / "ran"

    @command_tool(sys.executable, risk=Risk.READ)
    def show(name: str) -> list[str]:
        """Shows."""
        return ["-c", f"open({str(ran)!r}, 'w')", name]

    result = await call(show, name=value)

    assert result.is_error
    assert "read as an option" in result.text
    assert not ran.exists()


@pytest.mark.asyncio
@pytest.mark.parametrize("value", ["-rf", "--x"])
async def test_after_two_dashes_no_value_is_an_option(value):
    result = await call(python("import sys; print(sys.argv[2])"), text=value)

    assert result.text == value


@pytest.mark.asyncio
async def test_a_number_below_zero_is_no_option():
    @command_tool(sys.executable, risk=Risk.READ)
    def double(number: int) -> list[object]:
        """Doubles."""
        return ["-c", "import sys; print(2 * int(sys.argv[1]))", number]

    assert (await call(double, number=-4)).text == "-8"


@pytest.mark.asyncio
async def test_a_program_that_does_not_end_is_killed_with_its_children(tmp_path):
    pid_file = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pid_file)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)"
    )
    began = time.monotonic()

    result = await call(python(code, deadline=1.5))

    assert "did not end within 1.5 seconds and was stopped" in result.text
    assert time.monotonic() - began < 20
    await ended(int(pid_file.read_text()))


@pytest.mark.asyncio
async def test_a_program_that_ended_is_not_waited_for_because_of_what_it_left_behind(tmp_path):
    pid_file = tmp_path / "pid"
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pid_file)!r}, 'w').write(str(child.pid))\n"
        "print('done')"
    )

    result = await call(python(code, deadline=60.0))

    assert (result.text, result.is_error) == ("done", False)
    await ended(int(pid_file.read_text()))


@pytest.mark.asyncio
async def test_only_a_command_that_may_be_repeated_is_said_to_be_worth_repeating():
    with pytest.raises(ToolExecutionError) as repeatable:
        await call(python("import time; time.sleep(600)", deadline=0.5, idempotent=True))
    once = await call(python("import time; time.sleep(600)", deadline=0.5))

    assert repeatable.value.retryable
    assert once.is_error
    assert "may succeed later" not in once.text


@pytest.mark.asyncio
async def test_a_program_that_the_system_refuses_to_start_is_told_without_a_path(tmp_path):
    script = tmp_path / "not-a-program"
    script.write_text("no shebang, no format", encoding="utf-8")
    script.chmod(0o755)

    @command_tool(str(script), risk=Risk.READ)
    def broken() -> list[str]:
        """Cannot be started."""
        return []

    unstartable = await call(broken)
    too_long = await call(python("pass"), text="x" * 5_000_000)

    assert "could not be started (Exec format error)" in unstartable.text
    assert "could not be started (Argument list too long)" in too_long.text


@pytest.mark.parametrize("settings", [{"exit_codes": {"3": "no"}}, {"ok_codes": (True,)}])
def test_an_exit_code_that_is_no_number_is_refused_at_decoration(settings):
    with pytest.raises(ConfigurationError, match="exit codes are numbers"):
        command_tool("git", risk=Risk.READ, **settings)


async def ended(pid):
    for _ in range(200):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        if stat.rpartition(")")[2].split()[0] == "Z":
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"process {pid} still lives")


@pytest.mark.asyncio
@pytest.mark.parametrize("character", ["é", "€", "😀"])
@pytest.mark.parametrize("shift", [0, 1, 2, 3])
async def test_no_character_is_cut_where_the_middle_is_lost(character, shift):
    script = f"import sys; sys.stdout.buffer.write(('x' * {shift} + {character!r} * 2000).encode())"

    said = (await call(python(script, max_output_bytes=1_000))).text

    removed = int(re.search(r"\d+", said)[0])
    assert "\ufffd" not in said
    kept = said.count("x") + said.count(character) * len(character.encode())
    assert kept + removed == shift + 2_000 * len(character.encode())


@pytest.mark.asyncio
async def test_long_text_loses_its_middle_and_long_json_is_an_error():
    text = await call(python("print('head' + 'x' * 100_000 + 'tail')", max_output_bytes=1_000))
    value = await call(python("print([1] * 100_000)", max_output_bytes=1_000, parse_json=True))

    assert text.text.startswith("headxxx")
    assert text.text.endswith("xxxtail")
    assert len(text.text) < 1_100
    assert "wrote more than 1000 bytes" in value.text


@pytest.mark.asyncio
async def test_only_allowed_variables_reach_the_program_and_their_values_do_not_show(monkeypatch):
    monkeypatch.setenv("MARKET_TOKEN", "tok-123456")
    monkeypatch.setenv("OTHER_KEY", "sk-other")
    code = "import os; print(sorted(os.environ), os.environ['MARKET_TOKEN'])"

    result = await call(python(code, environment=["MARKET_TOKEN"]))

    assert "OTHER_KEY" not in result.text
    assert "tok-123456" not in result.text
    assert result.text.endswith("[MARKET_TOKEN]")


@pytest.mark.asyncio
@pytest.mark.parametrize("before", range(470, 497, 3))
async def test_no_half_of_a_secret_shows_where_the_middle_is_lost(before, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "tok-abcdefghijklmnopqrstuvwxyz")
    script = (
        "import os; key = os.environ['SOME_KEY'];"
        f" print('.' * {before} + key + '.' * 3_000 + key + '.' * {before}, end='')"
    )

    text = (await call(python(script, max_output_bytes=1_000, environment=["SOME_KEY"]))).text

    assert "tok-" not in text
    assert "wxyz" not in text
    assert "[SOME_KEY]" in text


@pytest.mark.asyncio
async def test_a_secret_in_an_error_does_not_show(monkeypatch):
    monkeypatch.setenv("MARKET_TOKEN", "tok-123456")
    code = "import os, sys; sys.exit('refused: ' + os.environ['MARKET_TOKEN'])"

    result = await call(python(code, environment=["MARKET_TOKEN"]))

    assert "refused: [MARKET_TOKEN]" in result.text
    assert "tok-123456" not in result.text


@pytest.mark.asyncio
@pytest.mark.parametrize("program", ["no-such-program-here", "/no/such/program"])
async def test_a_program_that_is_not_there_is_told(program):
    @command_tool(program, risk=Risk.READ)
    def nothing() -> list[str]:
        """Nothing."""
        return []

    result = await call(nothing)

    assert f"the program {program} is not installed here" in result.text


@pytest.mark.asyncio
async def test_a_nul_in_a_value_is_told():
    with use_wording(SPANISH):
        result = await call(python("print(1)"), text="a\0b")

    assert result.is_error
    assert "contiene un carácter NUL" in result.text


@pytest.mark.asyncio
async def test_the_program_runs_in_its_folder_and_reads_no_input(tmp_path):
    result = await call(
        python("import os, sys; print(os.getcwd(), repr(sys.stdin.read()))", cwd=tmp_path)
    )

    assert result.text == f"{tmp_path.resolve()} ''"


@pytest.mark.asyncio
async def test_the_sentences_are_those_of_the_wording_in_use():
    with use_wording(SPANISH):
        result = await call(python("import sys; sys.exit(9)"))

    assert "código de salida 9 (sin describir)" in result.text


@pytest.mark.asyncio
async def test_a_function_that_gives_one_text_is_told_apart_from_a_list():
    @command_tool(sys.executable, risk=Risk.READ)
    def wrong() -> str:
        """Wrong."""
        return "-c print(1)"

    result = await call(wrong)

    assert "returns a list of arguments, not str" in result.text


@pytest.mark.asyncio
async def test_in_a_run_the_cap_and_the_journal_hold_for_it_as_for_any_tool():
    made = python("print('x' * 50_000)")
    model = ScriptedModel(calls("program"), "Done.")
    agent = Agent("a", model=MODEL, tools=[made])

    steps = await run(agent, "Go", session_of(model, [made]))

    (step,) = done(steps, "tool")
    assert len(step.result.text) == 50_000
    assert len(model.requests[1].messages[-1].content[0].text) == 16_000
    assert final_of(steps).output == "Done."


@pytest.mark.asyncio
async def test_cancelling_a_call_kills_the_program(tmp_path):
    pid_file = tmp_path / "pid"
    code = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    running = asyncio.create_task(call(python(code)))
    for _ in range(400):
        if pid_file.exists() and pid_file.read_text():
            break
        await asyncio.sleep(0.025)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await ended(int(pid_file.read_text()))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"program": "", "risk": Risk.READ}, "name a program and its Risk"),
        ({"program": "git", "risk": "read"}, "name a program and its Risk"),
        ({"program": "git", "risk": Risk.READ, "deadline": 0}, "deadline=0"),
        ({"program": "git", "risk": Risk.READ, "max_output_bytes": -1}, "max_output_bytes=-1"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(settings, told):
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        command_tool(**settings)


def test_the_risk_has_no_default():
    with pytest.raises(TypeError, match="risk"):
        command_tool("git")


def test_a_command_is_a_tool_like_others():
    made = python("print(1)")

    assert type(made) is type(tool(lambda: 1, name="x"))


@pytest.mark.asyncio
async def test_an_option_is_refused_where_the_function_strips_it():
    @command_tool(sys.executable, risk=Risk.READ)
    def show(path: str) -> list[str]:
        """Shows a file."""
        return [path.strip()]

    result = await call(show, path=" --version")

    assert result.is_error
    assert "would be read as an option" in result.text


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"environment": "PATH"}, r"environment='PATH': a list of names is needed"),
        ({"deadline": "soon"}, r"deadline='soon': a finite number over 0 is needed"),
    ],
)
def test_a_setting_of_another_type_is_refused_when_it_is_made(settings, told):
    with pytest.raises(ConfigurationError, match=told):
        python("", **settings)


@pytest.mark.asyncio
async def test_a_working_folder_that_is_not_there_is_not_a_missing_program(tmp_path):
    result = await call(python("", cwd=tmp_path / "gone"))

    assert result.is_error
    assert "No such file or directory" in result.text
    assert "gone" in result.text
    assert "not installed" not in result.text
