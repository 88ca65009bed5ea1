"""The corpus read by another language, with FORMAT.md and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_synaptum import strict_yaml

HERE = Path(__file__).parent
CORPUS = HERE.parents[1] / "corpus"

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def node(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["node", str(HERE / "run_corpus.mjs"), *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_every_file_is_read_as_the_same_value() -> None:
    files = sorted(CORPUS.rglob("*.yaml"))

    told = node("--yaml", *files)

    assert told.returncode == 0, told.stderr
    lines = told.stdout.rstrip("\n").split("\n")
    assert len(lines) == len(files)
    # JavaScript has one kind of number.
    wrong = [
        str(path)
        for path, line in zip(files, lines, strict=True)
        if json.loads(line, parse_int=float)
        != json.loads(json.dumps(strict_yaml.load_file(path)), parse_int=float)
    ]
    assert wrong == []


def test_every_stream_case_passes() -> None:
    told = node(CORPUS)

    assert told.returncode == 0, told.stdout
    streams = sum(
        ask.get("stream", False)
        for path in CORPUS.rglob("case.yaml")
        for ask in strict_yaml.load_file(path)["asks"]
    )
    read = int(told.stdout.split(" cases, ")[1].split(" streams read")[0])
    assert streams - 10 <= read <= streams


def test_a_golden_that_says_something_else_is_found(tmp_path: Path) -> None:
    name = "openai_chat/derived/stream-reasoning-then-text"
    shutil.copytree(CORPUS / name, tmp_path / name)
    (tmp_path / "index.yaml").write_text(
        f"synaptum: index/1\ncases:\n  {name}: {{kind: derived, flags: [], asks: 1}}\n",
        encoding="utf-8",
    )
    golden = tmp_path / name / "golden.yaml"
    value = strict_yaml.load_file(golden)
    parts = value["exchanges"][0]["response"]["message"]["content"]
    next(part for part in parts if part["kind"] == "text")["text"] += "!"
    golden.write_text(strict_yaml.dump(value), encoding="utf-8")

    told = node(tmp_path)

    assert told.returncode == 1
    assert f"{name}, ask 1, read byte by byte: text: " in told.stdout


@pytest.mark.parametrize(
    "text",
    ["a: &x 1\nb: *x\n", "a: !!str 1\n", "a: 1\na: 2\n", "a: [1\n", 'a: "open\n', "- 1\nb: 2\n"],
)
def test_what_the_format_does_not_allow_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(text, encoding="utf-8")

    assert node("--yaml", path).returncode == 1
