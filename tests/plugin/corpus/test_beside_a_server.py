"""scripts/beside.py, which the recordings from other servers run through."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "beside.py"
SERVER = """
import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
    def log_message(self, *args): pass
open("server.pid", "w").write(str(os.getpid()))
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
COMMAND = """
import os, sys
from urllib.request import urlopen
told = os.environ["SYNAPTUM_BASE_URL"]
assert urlopen(told.removesuffix("/v1") + "/health").status == 200
open("told", "w").write(f'{told} {os.environ["SYNAPTUM_API_KEY"]}')
sys.exit(7)
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for POSIX")


@pytest.fixture
def beside():
    spec = importlib.util.spec_from_file_location("beside", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(beside, server, tmp_path, port, ready_s=30.0):
    return beside.run_beside(
        [sys.executable, "-c", server, str(port)],
        [sys.executable, "-c", COMMAND],
        name="the demo",
        port=port,
        ready="/health",
        ready_s=ready_s,
        environment={},
        key="k-1",
        folder=tmp_path,
    )


def test_the_command_is_told_the_address_and_its_status_is_given(beside, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    port = beside.free_port()

    assert run(beside, SERVER, tmp_path, port) == 7

    assert (tmp_path / "told").read_text() == f"http://127.0.0.1:{port}/v1 k-1"
    assert not beside.is_ready(port, "/health")
    with pytest.raises(ProcessLookupError):
        beside.os.kill(int((tmp_path / "server.pid").read_text()), 0)


def test_a_server_that_ends_while_starting_is_told_with_its_log(
    beside, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)

    assert run(beside, "raise SystemExit('no such flag')", tmp_path, beside.free_port()) == 1

    told = capsys.readouterr().err
    assert "no such flag" in told
    assert "the demo ended with status 1 while starting" in told
    assert not (tmp_path / "told").exists()


def test_a_server_that_never_serves_is_given_up(beside, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    status = run(beside, "import time; time.sleep(60)", tmp_path, beside.free_port(), ready_s=1.0)

    assert status == 1
    assert "the demo was not ready after 1 seconds" in capsys.readouterr().err
