"""The same bytes whatever the hash seed, the locale or the time zone of the process."""

import os
import subprocess
import sys

import pytest

PROGRAM = r"""
import locale, sys
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    pass
from synaptum import canonical
from synaptum.clock import isoformat
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.vocabulary import *
from synaptum.vocabulary import codec

names = ["alpha", "beta", "gamma", "delta"]
call = ToolCall("c", "f", dict.fromkeys(set(names), 1.5))
request = Request(
    "m",
    (Message.user("\u6771\u4eac \xe9 \U0001f600"), Message(Role.ASSISTANT, (call,))),
    system="s",
    tools=tuple(ToolDefinition(name, "", {"type": "object"}) for name in names),
    provider_options={name: {inner: 1 for inner in set(names)} for name in set(names)},
)
body = OpenAICompatible().to_wire(request)
lines = [
    codec.encode(request),
    canonical.wire_text(body),
    canonical.digest(body),
    isoformat(1764500000.9996),
]
sys.stdout.buffer.write("\n".join(lines).encode("utf-8"))
"""


def output(**variables):
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        timeout=60,
        check=True,
    )
    return done.stdout


@pytest.fixture(scope="module")
def expected():
    return output(PYTHONHASHSEED="0", LC_ALL="C.UTF-8", TZ="UTC")


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "4242", "LC_ALL": "de_DE.UTF-8", "TZ": "America/New_York"},
    ],
    ids=["seed 1, C, Tokyo", "seed 4242, German, New York"],
)
def test_the_bytes_are_the_same(expected, variables):
    assert output(**variables) == expected
    assert b'"alpha":1.5,"beta":1.5,"delta":1.5,"gamma":1.5' in expected
    assert "東京 é 😀".encode() in expected
    assert b"2025-11-30T10:53:20.999Z" in expected
