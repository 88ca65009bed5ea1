"""Runs a command beside a server: what the scripts that record from other servers share.

The server is started, waited for, and stopped for sure with all that it started itself; where it
does not come up, the end of its log is shown.
"""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

STOP_S = 20.0
POLL_S = 0.2
QUOTED_CHARACTERS = 3000


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_ready(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2.0)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def stop(server: subprocess.Popen[bytes]) -> None:
    """Its process group goes with it: a server's workers would outlive it where it is killed."""
    server.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(STOP_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def run_beside(
    server: Sequence[str],
    command: Sequence[str],
    *,
    name: str,
    port: int,
    ready: str,
    ready_s: float,
    environment: Mapping[str, str],
    key: str | None = None,
    folder: Path | None = None,
) -> int:
    """The command's status, or 1 where the server did not start.

    Args:
        server: what to start.
        command: finds the address in SYNAPTUM_BASE_URL and the key in SYNAPTUM_API_KEY.
        name: of the server, for a reader of messages.
        port: where it will listen, on 127.0.0.1.
        ready: the path that answers 200 once it serves.
        ready_s: seconds to wait for that.
        environment: of the server, beside this process' own.
        key: what it was told to ask for.
        folder: which the server starts in; by default this one.
    """
    with tempfile.TemporaryDirectory() as logs:
        log_file = Path(logs) / "server.log"
        with log_file.open("wb") as log:
            process = subprocess.Popen(
                server,
                env={**os.environ, **environment},
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            deadline = time.monotonic() + ready_s
            while not is_ready(port, ready):
                status = process.poll()
                if status is not None or time.monotonic() > deadline:
                    tail = log_file.read_text(encoding="utf-8", errors="replace")
                    what = (
                        f"was not ready after {ready_s:.0f} seconds"
                        if status is None
                        else f"ended with status {status} while starting"
                    )
                    print(tail[-QUOTED_CHARACTERS:], file=sys.stderr)
                    print(f"{name} {what}; the end of its log is above", file=sys.stderr)
                    return 1
                time.sleep(POLL_S)
            told = {"SYNAPTUM_BASE_URL": f"http://127.0.0.1:{port}/v1"}
            if key is not None:
                told["SYNAPTUM_API_KEY"] = key
            return subprocess.run(command, env={**os.environ, **told}, check=False).returncode
        finally:
            stop(process)
