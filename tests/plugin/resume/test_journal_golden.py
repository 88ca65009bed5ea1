"""A journal as a golden: times masked, and a change of the loop shows as a readable difference."""

AGENT = """
import asyncio
from synaptum import Agent, MemoryCheckpointer, Session

async def journal(model, instructions):
    agent = Agent("a", model="openai-compatible:m", instructions=instructions)
    session = Session("r1", model.gateway())
    async for _ in agent.run("Go", session=session):
        pass
    return await session.state()
"""


def test_a_journal_is_kept_without_times_and_a_change_is_told_by_path(suite):
    def write(instructions):
        suite.write(
            AGENT
            + f"""
def test_run(synaptum_golden, model_double):
    state = asyncio.run(journal(model_double("Done."), {instructions!r}))
    synaptum_golden.journal(state, masks=["events.0.meta.configuration: <dict>"])
"""
        )

    write("Be exact.")
    suite.run("--synaptum-update").assert_outcomes(passed=1)
    suite.run().assert_outcomes(passed=1)
    golden = (suite.pytester.path / "goldens" / "test_chat" / "test_run.yaml").read_text("utf-8")
    assert golden.count("<str>") == 4

    write("Be brief.")
    result = suite.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "  events[[]0[]].request.system",
            '    expected  "Be exact."',
            '    actual    "Be brief."',
        ]
    )
