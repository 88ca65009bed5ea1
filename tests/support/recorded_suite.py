"""A suite of one module, run in a folder of its own, recorded from a loopback server."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

# Loaded here, so that pytester, which forgets what an inner run imported, keeps them.
import pytest_synaptum.capture.clients
import pytest_synaptum.recorded
import synaptum
from support.loopback import LoopbackServer

__all__ = ["RecordedSuite"]

_LOADED = (pytest_synaptum.capture.clients, pytest_synaptum.recorded, synaptum.Agent)

HEAD = """
import asyncio
import pytest
from synaptum.vocabulary import Message, Request

def question(provider, text="Hi"):
    return Request(model=provider.model_name, messages=(Message.user(text),))

def ask(provider, text="Hi"):
    return asyncio.run(provider.complete(question(provider, text)))

async def events(provider, text="Hi"):
    return [event async for event in provider.stream(question(provider, text))]
"""


class RecordedSuite:
    """Writes `test_chat.py`, and runs pytest on it, with and without recording."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        for name in ("CI", "SYNAPTUM_BASE_URL", "SYNAPTUM_MODEL", "SYNAPTUM_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")

    def write(self, tests: str) -> None:
        """Put tests into the module, behind the helpers `ask` and `events`."""
        self.pytester.makepyfile(test_chat=HEAD + textwrap.dedent(tests))

    def record(
        self, server: LoopbackServer, *args: str, flag: str = "--synaptum-record"
    ) -> pytest.RunResult:
        """Run pytest so that it records."""
        return self.run(
            flag, f"--synaptum-base-url={server.base_url}", "--synaptum-model=small", *args
        )

    def run(self, *args: str) -> pytest.RunResult:
        """Run pytest in this process."""
        # Hypothesis's plugin would import Hypothesis anew in every inner run.
        return self.pytester.runpytest_inprocess("-p", "no:hypothesispytest", *args)

    def cassette(self, test: str, module: str = "test_chat") -> Path:
        """Where a test's cassette is."""
        return self.pytester.path / "cassettes" / module / f"{test}.yaml"
