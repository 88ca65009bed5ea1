"""The processes of a check: what ends with it, whoever forks, prints, hangs or is killed."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.resumable import check, small
from support.stores import FILE_STORES

from pytest_synaptum import Stop
from pytest_synaptum.resume import children
from pytest_synaptum.resume.world import World
from synaptum import tool
from synaptum.errors import JournalError
from synaptum.testing import calls

pytestmark = pytest.mark.skipif(not children.can_fork(), reason="this system has no fork")

#: A test file whose tool takes its time in the process that is to be killed.
SLOW = """
import os, time
from synaptum import Agent, JsonlCheckpointer, tool
from synaptum.testing import calls

HERE = os.getpid()

@tool(idempotent=True)
async def take(s: float) -> str:
    \"\"\"Take some time.\"\"\"
    if os.getpid() != HERE:
        open("working", "a").write(f"{os.getpid()}\\n")
        time.sleep(s)
    return "done"

def test_slow(resume_check, model_double):
    resume_check.run(
        Agent("a", model="m", tools=[take]),
        "Go",
        model=model_double(calls("take", s=SECONDS), "Done."),
        checkpointer=lambda folder: JsonlCheckpointer(folder / "j", durable=False),
    )
"""


def killed(*tools, script):
    return check(
        lambda: small(*tools), *script, checkpointer=FILE_STORES["jsonl"], stops={Stop.KILLED_AFTER}
    )


def is_gone(pid: int) -> bool:
    """Whether a process of somebody else's ended, a dead one that nobody waited for included."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return text.rsplit(")", 1)[1].split()[0] == "Z"


def within(seconds, is_true):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_true():
            return True
        time.sleep(0.05)
    return False


def start(pytester, seconds, *settings):
    """An inner run whose tool works in a child, and the child's process id."""
    pytester.makepyfile(SLOW.replace("SECONDS", str(seconds)))
    folder = pytester.mkdir("temporary")
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    working = pytester.path / "working"
    assert within(60, lambda: working.exists() and working.read_text().endswith("\n"))
    return run, int(working.read_text().split()[0]), folder


def test_a_process_that_a_tool_forked_meanwhile_does_not_hold_up_the_end():
    """It has a copy of the line to the process that forks, which so never seems to hang up."""
    lasting = []

    @tool(idempotent=True)
    async def begin(name: str) -> str:
        """Begin something that lasts."""
        process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(30,))
        process.start()
        lasting.append(process)
        return name

    started = time.monotonic()
    report = check(
        lambda: small(begin),
        calls("begin", name="x"),
        "Done.",
        checkpointer=FILE_STORES["jsonl"],
        stops={Stop.KILLED_BEFORE, Stop.AFTER},
    )
    took = time.monotonic() - started
    for process in lasting:
        process.kill()
        process.join()

    assert report.ok, str(report)
    assert took < 25


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_what_a_killed_process_had_started_ends_with_the_check(tmp_path):
    here, started = os.getpid(), tmp_path / "started"

    @tool(idempotent=True)
    async def begin(name: str) -> str:
        """Begin something that lasts, in a process that is to be killed."""
        if os.getpid() != here:
            process = await asyncio.create_subprocess_exec("sleep", "60")
            with started.open("a") as file:
                file.write(f"{process.pid}\n")
        return name

    killed(begin, script=(calls("begin", name="x"), "Done."))

    pids = [int(line) for line in started.read_text().split()]
    assert pids
    assert within(5, lambda: all(map(is_gone, pids)))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_where_the_test_itself_is_killed_neither_process_nor_folder_is_left(pytester):
    run, child, folder = start(pytester, 1)

    run.kill()
    run.communicate()

    assert within(15, lambda: is_gone(child))
    assert within(15, lambda: not list(folder.glob("synaptum-resume-*")))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_is_heard_while_a_process_hangs(pytester):
    run, child, folder = start(pytester, 60)

    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=12)[0].decode()

    assert "KeyboardInterrupt" in said
    assert within(5, lambda: is_gone(child))
    assert not list(folder.glob("synaptum-resume-*"))


def collect_all(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


@pytest.mark.parametrize("handler", [signal.SIG_IGN, collect_all])
def test_a_test_that_waits_for_all_children_itself_is_no_matter(handler):
    before = signal.signal(signal.SIGCHLD, handler)
    try:
        report = killed(script=(calls("read", path="a"), "Done."))
    finally:
        signal.signal(signal.SIGCHLD, before)

    assert report.ok, str(report)


def test_what_was_printed_before_a_kill_is_printed_once(pytester):
    pytester.makepyfile(
        SLOW.replace("SECONDS", "0")
        .replace("time.sleep(s)", "print('x' * 100_000)")
        .replace("    resume_check.run(", "    print('BEFORE')\n    resume_check.run(")
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}

    said = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    ).stdout

    assert said.count("BEFORE") == 1


def test_a_process_that_something_else_killed_is_not_blamed_on_the_store():
    here = os.getpid()

    @tool(idempotent=True)
    async def grow(name: str) -> str:
        """Need more memory than there is."""
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return name

    report = killed(grow, script=(calls("grow", name="x"), "Done."))

    found = report.findings[0]
    assert (found.check, str(found.cell)) == ("end", "killed after write, 3 000001-tool completed")
    assert found.cause == "something else killed it: a lack of memory, or the agent itself"


def test_a_process_that_asks_something_else_shows_what():
    report = check(
        lambda: small(instructions=lambda: f"Process {os.getpid():010}"),
        calls("read", path="a"),
        "Done.",
        checkpointer=FILE_STORES["jsonl"],
        stops={Stop.KILLED_AFTER},
    )

    found = report.findings[-1]
    assert (found.check, found.path) == ("request", "system")
    assert found.recorded == f'"Process {os.getpid():010}"'


def test_a_run_that_ends_before_it_is_killed_says_how():
    here = os.getpid()

    class Full:
        """A disk that is full in every other process."""

        def __init__(self, folder):
            self.inner = FILE_STORES["jsonl"](folder)

        async def append(self, run_id, event):
            if os.getpid() != here:
                raise JournalError("the disk is full")
            await self.inner.append(run_id, event)

        async def load(self, run_id):
            return await self.inner.load(run_id)

    report = check(
        small,
        calls("read", path="a"),
        "Done.",
        checkpointer=Full,
        stops={Stop.KILLED_AFTER},
    )

    assert report.findings[-1].came == "the run came to its end: JournalError: the disk is full"


def test_a_line_that_a_child_died_over_is_left_out(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b'["asks", "run", "000000-model"]\n["asks", "ru')
    world = World("run")

    world.adopt(children.written_in(log))

    assert world.asks == [("run", "000000-model")]
    assert children.written_in(tmp_path / "never begun") == b""
