"""The same run in fresh processes: other hash seeds, time zones, locales, folders, another clock.

Each process gets the straight run's answers and journals, runs the task from the start, and
then resumes it from every boundary (from some, where there are many). It starts cold: nothing
of an earlier run is in its memory. One thing changes in each process, so that what differs
there names its cause.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pytest_synaptum.resume.boundaries import sampled
from pytest_synaptum.resume.causes import SET_ORDER
from pytest_synaptum.resume.given import allow
from pytest_synaptum.resume.luggage import dumps, pack_baseline, pack_task
from pytest_synaptum.resume.passage import Setup
from pytest_synaptum.resume.references import reference_to
from pytest_synaptum.resume.report import Finding
from pytest_synaptum.resume.runner import Runner
from pytest_synaptum.resume.surroundings import CACHES, Surroundings, all_surroundings
from synaptum.canonical import loads

__all__ = ["perturbed"]

#: Seconds that one process may take.
_PATIENCE_S: Final = 120
#: Boundaries that each process resumes from, at most.
_MOST: Final = 24


async def perturbed(runner: Runner, *, agent: Any, gateway: Any, setup: Setup) -> None:
    """Repeat the straight run of `runner` elsewhere, and add what differs to its report.

    In: `agent` and `gateway` as the user gave them.

    Raises:
        TypeError: one of them cannot be imported by another process.
    """
    folder = runner.new().folder
    folder.mkdir()
    job = {
        "agent": reference_to(agent, "agent"),
        "gateway": None if gateway is None else reference_to(gateway, "gateway"),
        "decide": None if setup.decide is allow else reference_to(setup.decide, "decide"),
        "task": pack_task(setup.task),
        "is_streamed": setup.is_streamed,
        "path": [str(Path(entry).resolve()) for entry in sys.path],
        "boundaries": sorted(sampled(runner.report.boundaries, _MOST)),
        "baseline": await pack_baseline(runner.baseline, folder),
    }
    surroundings = all_surroundings()
    for start in range(0, len(surroundings), 4):
        batch = surroundings[start : start + 4]
        answers = _run_all(batch, job, folder, start)
        runner.report.perturbed += [one.name for one in batch]
        found = [(one, answer["finding"]) for one, answer in zip(batch, answers, strict=True)]
        differing = [(one, finding) for one, finding in found if finding is not None]
        if differing:
            runner.report.findings += _named(differing, len(batch))
            return


def _run_all(
    batch: Sequence[Surroundings], job: dict[str, Any], folder: Path, start: int
) -> list[dict[str, Any]]:
    """Run the processes of a batch at the same time; what each of them says."""
    running = []
    answers = []
    try:
        for number, one in enumerate(batch):
            running.append(_start(one, job, folder, start + number))
        for number, process in enumerate(running):
            try:
                error = process.communicate(timeout=_PATIENCE_S)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                error = f"no end after {_PATIENCE_S} seconds".encode()
            found = _finding_file(folder, start + number)
            if process.returncode == 0 and found.exists():
                answers.append(loads(found.read_bytes()))
            else:
                answers.append({"finding": _failed(process.returncode, error)})
    finally:
        for process in running:  # one that was not waited for: Ctrl-C
            if process.poll() is None:
                process.kill()
                process.communicate()
    return answers


def _finding_file(folder: Path, number: int) -> Path:
    return folder / f"finding-{number}.json"


def _start(
    one: Surroundings, job: dict[str, Any], folder: Path, number: int
) -> subprocess.Popen[bytes]:
    elsewhere = folder / f"elsewhere-{number}"
    elsewhere.mkdir()
    # Each process begins at another boundary, so that more than one is resumed from in the cold.
    places = job["boundaries"]
    turned = [*places[number % len(places) :], *places[: number % len(places)]] if places else []
    file = folder / f"job-{number}.json"
    found = str(_finding_file(folder, number))
    text = dumps(
        {
            **job,
            "boundaries": turned,
            "later_s": one.later_s,
            "folder": str(folder),
            "finding": found,
        }
    )
    file.write_text(text, encoding="ascii")
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.Popen(
        [sys.executable, "-m", "pytest_synaptum.resume.elsewhere", str(file)],
        cwd=elsewhere if one.is_elsewhere else None,
        env={
            **kept,
            "PYTHONPATH": os.pathsep.join(job["path"]),
            "PYTHONHASHSEED": "random",
            **one.environment,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _failed(status: int, error: bytes) -> dict[str, Any]:
    lines = error.decode("utf-8", "replace").strip().splitlines()
    return {
        "check": "end",
        "message": "the run fails in a fresh process",
        "where": "from the start",
        "recorded": "a run that ends as the straight one",
        "came": lines[-1] if lines else f"exit code {status}",
        "lines": lines[-12:],
    }


def _named(differing: Sequence[tuple[Surroundings, dict[str, Any]]], count: int) -> list[Finding]:
    """The findings with their causes.

    Where every hash seed gives the same other run, it is not the seed: it is that the process
    is a fresh one.
    """
    came = {finding["came"] for _, finding in differing}
    findings = []
    for one, finding in differing:
        cause = one.cause
        is_same_everywhere = len(differing) == count and len(came) == 1
        if cause == SET_ORDER and is_same_everywhere and finding.get("cause") != SET_ORDER:
            cause = CACHES
        where = f"{one.name}, {finding['where']}"
        findings.append(Finding(**{**finding, "where": where, "cause": cause}))
    return findings
