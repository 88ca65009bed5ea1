"""An embedded server without a model: the child process and its polls are real."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.recorded_suite import RecordedSuite

#: In place of the wheel: what `local_server` uses of it, over the standard library's server.
_FAKE = """
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

def CommonParams():
    return SimpleNamespace(
        model=SimpleNamespace(), cpuparams=SimpleNamespace(), sampling=SimpleNamespace()
    )

class Server:
    def __init__(self, params):
        polls = []

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def answer(self, status, body):
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                polls.append(self.path)
                self.answer(200 if len(polls) > 2 else 503, b"{}")

            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                self.answer(200, json.dumps({"choices": [{
                    "index": 0, "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "Hello."},
                }]}).encode())

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"
"""


@pytest.fixture
def fake_server_suite(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> RecordedSuite:
    """A suite whose `--synaptum-server=local` starts the server above; its model is `small`."""
    (tmp_path / "xllamacpp.py").write_text(_FAKE, encoding="utf-8")
    (tmp_path / "small.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    suite = RecordedSuite(pytester, monkeypatch)
    monkeypatch.setenv("SYNAPTUM_MODEL", str(tmp_path / "small.gguf"))
    return suite
