"""A module of agents, each of which follows one thing of the process that it runs in."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from synaptum.testing import calls, fails

__all__ = ["SCRIPT", "importable"]

MODULE = '''
import datetime
import locale
import pathlib

from synaptum import Agent, LocalGateway, tool

MODEL = "openai-compatible:qwen3-8b"
HERE = []

@tool(idempotent=True)
async def read(path: str) -> str:
    """Read."""
    return f"ñ {path}"

def make():
    return Agent("a", model=MODEL, tools=[read], instructions="Be exact. ñ")

def gateway(model):
    return LocalGateway(model=model, tools=[read])

def of_a_set():
    return Agent("a", model=MODEL, tools=[read], instructions=", ".join({"alpha", "beta", "gamma"}))

def of_an_offset():
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: f"UTC{datetime.datetime.now().astimezone():%z}.")

def of_a_year():
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: f"It is {datetime.datetime.now(datetime.UTC):%Y}.")

def of_an_encoding():
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: locale.getpreferredencoding(False).upper())

def of_a_folder():
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: pathlib.Path.cwd().name)

def of_a_cache():
    HERE.append(1)
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: "warm" if len(HERE) > 0 and BEFORE else "cold")

BEFORE = []
'''
SCRIPT = (calls("read", path="a"), fails(503), "Done.")


def importable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of the module, which can be imported meanwhile."""
    (folder / "perturbed_shop.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    yield "perturbed_shop"
    sys.modules.pop("perturbed_shop", None)
