"""`resume_check` as people use it: in sync and async tests, with each kind of model, failing."""

from support.loopback import Answer, LoopbackServer, chat_body

AGENT = """
from synaptum import Agent, SqliteCheckpointer, tool
from pytest_synaptum import calls, Stop

@tool(idempotent=True)
async def read(path: str) -> str:
    '''Read a file.'''
    return path

def make():
    return Agent("a", model="openai-compatible:small", tools=[read])
"""


def test_with_a_double_from_sync_and_async_tests(suite):
    suite.write(
        AGENT
        + """
def test_sync(resume_check, model_double):
    report = resume_check.run(make, "Go", model=model_double(calls("read", path="a"), "Done."))
    assert report
    assert len(report.boundaries) == 8

@pytest.mark.asyncio
async def test_async(resume_check, model_double):
    assert await resume_check(
        make(), "Go",
        gateway=lambda: model_double(calls("read", path="a"), "Done.", tools=[read]).gateway(),
        checkpointer=lambda folder: SqliteCheckpointer(folder / "j.db", durable=False),
        stops={Stop.AFTER, Stop.KILLED_AFTER},
    )
"""
    )

    suite.run("-p", "asyncio").assert_outcomes(passed=2)


def test_a_red_check_fails_the_test_with_its_report(suite):
    suite.write(
        AGENT
        + """
import itertools
ticks = itertools.count(1764547200)

def test_red(resume_check, model_double):
    agent = Agent("a", model="m", instructions=lambda: f"It is {next(ticks)}.")
    resume_check.run(agent, "Go", model=model_double("Done."))
"""
    )

    result = suite.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "resume_check: NOT the same run after a stop*",
            "the same run again, not stopped: the model is asked something else",
            "  step      000000-model attempted",
            "  at        system",
            '  recorded  "It is 1764547200."',
            '  came      "It is 1764547201."',
            "  likely    the clock: *",
        ]
    )


def test_a_double_made_for_a_stopped_run_is_not_asked_to_be_used_up(suite):
    suite.write(
        AGENT
        + """
def test_left(resume_check, model_double):
    made = []
    def gateway():
        made.append(model_double("Done."))
        return made[-1].gateway()
    resume_check.run(Agent("a", model="m"), "Go", gateway=gateway)
    assert len(made[0].requests) == 1
    assert len(made) > 10
    assert all(not double.requests for double in made[1:])
"""
    )

    suite.run().assert_outcomes(passed=1)


def test_only_the_straight_run_records_and_is_replayed(suite):
    suite.write(
        """
from synaptum import Agent, SqliteCheckpointer
from pytest_synaptum import Stop

def test_recorded(resume_check, recorded_provider):
    agent = Agent("a", model=recorded_provider.model)
    report = resume_check.run(
        agent, "Go", gateway=lambda: recorded_provider.gateway(),
        checkpointer=lambda folder: SqliteCheckpointer(folder / "j.db", durable=False),
        stops=set(Stop) - {Stop.CANCELLED, Stop.ENDED},
    )
    assert report.asked_again == 2
    assert len(recorded_provider.exchanges) == 1
"""
    )
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        suite.record(server).assert_outcomes(passed=1)

    assert server.count == 1
    replay = suite.run("--synaptum-strict")
    replay.assert_outcomes(passed=1)
    replay.stdout.fnmatch_lines(["synaptum: 1 exchange replayed, 0 recorded, 0 unused*"])


def test_what_cannot_be_checked_is_said_before_anything_runs(suite):
    suite.write(
        AGENT
        + """
import pytest

def test_no_model(resume_check):
    with pytest.raises(TypeError, match="gateway=, a function that makes the gateway, or model="):
        resume_check.run(make, "Go")

def test_a_gateway_instead_of_a_function(resume_check, model_double):
    model = model_double("Hi")
    with pytest.raises(TypeError, match="each run needs its own"):
        resume_check.run(make, "Go", gateway=model.gateway())
    resume_check.run(make, "Go", model=model)

def test_a_store_instead_of_a_function(resume_check, model_double, tmp_path):
    model = model_double("Hi")
    with pytest.raises(TypeError, match="each run needs its own"):
        resume_check.run(make, "Go", model=model, checkpointer=SqliteCheckpointer(tmp_path / "j"))
    resume_check.run(make, "Go", model=model)

def test_a_reference_that_names_nothing(resume_check, model_double):
    with pytest.raises(ValueError, match="cannot be imported"):
        resume_check.run("json:nothing", "Go", model=lambda request: None)

def test_kills_of_a_store_in_memory(resume_check):
    from synaptum.errors import ConfigurationError
    from synaptum.testing import ScriptedModel
    with pytest.raises(ConfigurationError, match="does not outlive"):
        resume_check.run(make, "Go", model=ScriptedModel("Hi"), stops={Stop.KILLED_AFTER})

def test_an_agent_that_no_other_process_can_import(resume_check):
    from synaptum.testing import ScriptedModel
    with pytest.raises(TypeError, match="cannot be imported there"):
        resume_check.run(lambda: make(), "Go", model=ScriptedModel("Hi"), perturb=True)
"""
    )

    suite.run().assert_outcomes(passed=6)
