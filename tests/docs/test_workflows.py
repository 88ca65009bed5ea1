"""The workflows that the pages give to others: they parse, and what they run exists and works."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.markdown import Block, blocks_of

from pytest_synaptum import strict_yaml
from pytest_synaptum.cli import main

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = [
    block
    for page in sorted((ROOT / "docs").glob("*.md"))
    for block in blocks_of(page)
    if block.words and block.words[0].startswith(".github/workflows/")
]


def read(block: Block) -> dict[str, Any]:
    value = strict_yaml.load(block.text, source=block.where)
    assert isinstance(value, dict)
    return value


def steps_of(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def commands_of(workflow: dict[str, Any]) -> list[list[str]]:
    scripts = [step["run"] for step in steps_of(workflow) if "run" in step]
    return [shlex.split(line) for text in scripts for line in text.splitlines()]


def starting_with(*words: str) -> list[list[str]]:
    found = [command for block in WORKFLOWS for command in commands_of(read(block))]
    return [command for command in found if command[: len(words)] == list(words)]


def test_there_are_workflows_for_every_push_every_week_and_recording_again() -> None:
    triggers = {block.words[0].rsplit("/", 1)[1]: read(block)["on"] for block in WORKFLOWS}

    assert triggers["tests.yml"] == ["push", "pull_request"]
    assert triggers["drift.yml"]["schedule"][0]["cron"].split()[-2:] == ["*", "1"]
    assert "schedule" in triggers["rerecord.yml"]


@pytest.mark.parametrize("block", WORKFLOWS, ids=lambda block: block.words[0])
def test_a_workflow_has_what_a_service_asks_for(block: Block) -> None:
    workflow = read(block)

    assert {"name", "on", "permissions", "jobs"} == set(workflow)
    for job in workflow["jobs"].values():
        assert job["runs-on"] == "ubuntu-latest"
        assert job["timeout-minutes"] <= 60
    for step in steps_of(workflow):
        assert ("uses" in step) != ("run" in step), step
        # An action without a version is somebody else's code of tomorrow.
        assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "a/b@v1")), step


@pytest.mark.parametrize("block", WORKFLOWS, ids=lambda block: block.words[0])
def test_every_script_of_a_workflow_is_a_shell_script(block: Block) -> None:
    for step in steps_of(read(block)):
        text = re.sub(r"\$\{\{.*?\}\}", "x", step.get("run", ":"))
        subprocess.run(["bash", "-nc", text], check=True)


def test_what_they_install_is_this_project_with_extras_it_has() -> None:
    installs = starting_with("python", "-m", "pip", "install")

    assert len(installs) >= 3
    for command in installs:
        (wanted,) = command[4:]
        name, extras = re.fullmatch(r"([\w-]+)(?:\[([\w,]+)\])?", wanted).groups()  # type: ignore[union-attr]
        assert name == PROJECT["name"]
        assert set((extras or "local").split(",")) <= set(PROJECT["optional-dependencies"])


def test_their_commands_are_commands_of_ours_with_arguments_that_it_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands = starting_with("synaptum-corpus")

    assert ["synaptum-corpus", "drift", "--server", "local"] in commands
    for command in commands:
        with pytest.raises(SystemExit) as left:
            main([*command[1:], "--help"])
        helped = capsys.readouterr().out
        assert left.value.code == 0
        assert [o for o in command if o.startswith("--") and o not in helped] == []


def test_what_every_push_runs_passes_in_a_project_with_recordings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples" / "demo", tmp_path / "demo")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.setenv("CI", "true")
    (tests,) = [block for block in WORKFLOWS if block.words[0].endswith("tests.yml")]
    (command,) = [c for c in commands_of(read(tests)) if c[:3] == ["python", "-m", "pytest"]]

    done = subprocess.run(
        [sys.executable, *command[1:]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "report.html").stat().st_size > 1_000


def test_recording_again_is_refused_in_ci_without_the_flag_that_the_workflow_has() -> None:
    (command,) = [c for c in starting_with("python", "-m", "pytest") if "--synaptum-rerecord" in c]

    assert "--synaptum-force" in command


@pytest.mark.parametrize("block", WORKFLOWS, ids=lambda block: block.words[0])
def test_no_step_hides_that_a_command_failed(block: Block) -> None:
    for step in steps_of(read(block)):
        assert "continue-on-error" not in step, step
        assert not re.search(r"\|\|", step.get("run", "")), step


RERECORD = read(next(block for block in WORKFLOWS if block.words[0].endswith("rerecord.yml")))
(OPEN,) = [step for step in steps_of(RERECORD) if "gh pr create" in step.get("run", "")]


def run_in(folder: Path, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a cassette, cloned from an origin; `gh` writes what it was told."""
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "somebody")
        monkeypatch.setenv(f"{name}_EMAIL", "somebody@example.org")
    monkeypatch.setenv("GITHUB_RUN_ID", "17")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "gh").write_text('#!/bin/sh\necho "gh $*" >> "$TOLD"\n', encoding="utf-8")
    (tools / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TOLD", str(tmp_path / "told"))
    folder = tmp_path / "project"
    cassettes = folder / "tests" / "cassettes" / "test_agent"
    cassettes.mkdir(parents=True)
    for name in ("test_old", "test_gone"):
        (cassettes / f"{name}.yaml").write_text("before\n", encoding="utf-8")
    for command in (
        ["git", "init", "--quiet", "--bare", str(tmp_path / "origin")],
        ["git", "init", "--quiet"],
        ["git", "add", "."],
        ["git", "commit", "--quiet", "--message", "all"],
        ["git", "remote", "add", "origin", str(tmp_path / "origin")],
    ):
        done = run_in(folder, *command)
        assert done.returncode == 0, done.stderr
    return folder


def test_the_pull_request_has_changed_new_and_gone_cassettes_and_nothing_else(
    checkout: Path,
) -> None:
    cassettes = checkout / "tests" / "cassettes" / "test_agent"
    (cassettes / "test_old.yaml").write_text("after\n", encoding="utf-8")
    (cassettes / "test_new.yaml").write_text("new\n", encoding="utf-8")
    (cassettes / "test_gone.yaml").unlink()
    (checkout / "report.html").write_text("no cassette\n", encoding="utf-8")

    done = run_in(checkout, "bash", "-e", "-c", OPEN["run"])

    assert done.returncode == 0, done.stderr
    shown = run_in(checkout, "git", "show", "--name-status", "--format=", "origin/record-again-17")
    assert [line.split("\t")[0] for line in shown.stdout.splitlines()] == ["D", "A", "M"]
    assert (checkout.parent / "told").read_text(encoding="utf-8") == "gh pr create --fill\n"


def test_where_no_cassette_changed_there_is_no_pull_request(checkout: Path) -> None:
    (checkout / "report.html").write_text("no cassette\n", encoding="utf-8")

    done = run_in(checkout, "bash", "-e", "-c", OPEN["run"])

    assert done.returncode == 0, done.stderr
    assert not (checkout.parent / "told").exists()
    assert "record-again" not in run_in(checkout, "git", "branch").stdout


def test_recording_again_is_red_where_no_server_answers_and_the_pull_request_is_opened_after_it(
    tmp_path: Path,
) -> None:
    shutil.copytree(ROOT / "examples" / "demo", tmp_path / "demo")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    scripts = [step.get("run", "") for step in steps_of(RERECORD)]
    (command,) = [text for text in scripts if "--synaptum-rerecord" in text]
    script = command.replace("python", shlex.quote(sys.executable), 1)

    nowhere = {"SYNAPTUM_BASE_URL": "http://127.0.0.1:9/v1", "SYNAPTUM_MODEL": "m"}
    done = run_in(tmp_path, "bash", "-e", "-c", script, CI="true", **nowhere)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert scripts.index(command) < scripts.index(OPEN["run"])
    # Without a condition of its own, a step after a failed one does not run.
    assert OPEN["if"] == "${{ !cancelled() }}"
