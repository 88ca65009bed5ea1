"""llama.cpp's own server, embedded: what recordings are made from where there is no network.

The server of the `xllamacpp` wheel runs in a child process: there it can be stopped for
sure, a crash of its C++ is not a crash of the tests, and what it prints goes to a log file
that is quoted only when it fails. The child ends with its parent, however that ends: it
reads its standard input and leaves at its end.

`python -m pytest_synaptum.local_server SETTINGS ADDRESS_FILE` is that child.
"""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from pytest_synaptum.errors import PluginError
from pytest_synaptum.model_file import FETCH_COMMAND, SMALL_MODEL, cached_model

__all__ = ["AUTO", "TEMPLATES", "LocalServer", "LocalServerError", "resolve_template"]

#: Chat templates of ours, by name. The small model's own knows neither tools nor reasoning.
TEMPLATES: Final = ("tools", "thinking")

#: The default: what suits the model.
AUTO: Final = "auto"

_READY_S = 120.0
_STOP_S = 5.0
_POLL_S = 0.05
_QUOTED_LINES = 12


class LocalServerError(PluginError):
    """The embedded server cannot run: what is missing, or the end of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    model: str
    alias: str
    template: str
    seed: int
    n_ctx: int
    threads: int
    parallel: int
    cache_prompt: bool


def resolve_template(template: str | Path | None) -> str:
    """The text of a chat template: one of ours by name, a file by path, `""` for the model's own.

    Raises:
        LocalServerError: there is no such template.
    """
    if template is None:
        return ""
    named = Path(__file__).parent / "templates" / f"{template}.jinja"
    path = named if template in TEMPLATES else Path(template)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        msg = (
            f"the chat template {str(template)!r} is neither one of {', '.join(TEMPLATES)} nor a "
            f"file that can be read ({error.strerror})"
        )
        raise LocalServerError(msg) from error


class LocalServer:
    """A server on a free loopback port, for as long as the `with` block lasts.

    With one slot (`parallel=1`), a fixed seed and temperature 0 in the requests, the same
    requests in the same order get the same answers on the same machine. What was asked
    before warms its prompt cache and may move a number of cached tokens or a last digit; take
    a fresh server where that matters.

    Args:
        model: a GGUF file; default the one that `synaptum-corpus model` fetched.
        template: `"tools"`, `"thinking"`, a path, None for the model's own, or `"auto"`:
            tools for the small model, which knows none by itself, else the model's own.
        seed: of sampling, where a request names none.
        n_ctx: context length, in tokens.
        threads: threads of computation. They run in lockstep, so on cores that others use
            too, more than one wait for each other and are slower than one.
        parallel: requests served at once.
        cache_prompt: keep what was computed for a prompt's beginning for the next request that
            begins so. Without it, an answer does not depend on what was asked before.
        alias: what the server calls the model.

    Raises:
        LocalServerError: the extra is not installed, there is no model, or it did not start.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        template: str | Path | None = AUTO,
        seed: int = 42,
        n_ctx: int = 4096,
        threads: int = 1,
        parallel: int = 1,
        cache_prompt: bool = True,
        alias: str | None = None,
    ) -> None:
        self.model = _model_path(model)
        small = self.model.name == SMALL_MODEL.file
        if template == AUTO:
            template = "tools" if small else None
        self._settings = _Settings(
            model=str(self.model),
            alias=alias or (SMALL_MODEL.name if small else self.model.stem),
            template=resolve_template(template),
            seed=seed,
            n_ctx=n_ctx,
            threads=threads,
            parallel=parallel,
            cache_prompt=cache_prompt,
        )
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._address = ""

    @property
    def alias(self) -> str:
        """What the server calls the model; `model` in its answers."""
        return self._settings.alias

    @property
    def base_url(self) -> str:
        """Where to send requests, such as `http://127.0.0.1:40123/v1`."""
        if not self._address:
            msg = "the local server is not running: use it in a `with` block, or call start()"
            raise LocalServerError(msg)
        return f"{self._address}/v1"

    @property
    def log(self) -> str:
        """What the server has printed so far."""
        if self._folder is None:
            return ""
        return (self._folder / "server.log").read_text(encoding="utf-8", errors="replace")

    def start(self) -> Self:
        """Start it and wait until it answers; itself."""
        if importlib.util.find_spec("xllamacpp") is None:
            msg = (
                "the embedded server needs the extra `local`: run "
                "`pip install 'pytest-synaptum[local]'`"
            )
            raise LocalServerError(msg)
        self._folder = Path(tempfile.mkdtemp(prefix="synaptum-server-"))
        address_file = self._folder / "address"
        settings_file = self._folder / "settings.json"
        settings_file.write_text(json.dumps(asdict(self._settings)), encoding="utf-8")
        command = [sys.executable, "-m", __name__, str(settings_file), str(address_file)]
        with (self._folder / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + _READY_S
        try:
            while not (self._address and _healthy(self._address)):
                self._wait_or_fail(deadline)
                if not self._address and address_file.is_file():
                    self._address = address_file.read_text(encoding="ascii")
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop it, for sure, and delete its log; harmless when it is not running."""
        process, self._process, self._address = self._process, None, ""
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _wait_or_fail(self, deadline: float) -> None:
        assert self._process is not None
        try:
            status = self._process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            if time.monotonic() < deadline:
                return
            what = f"was not ready after {_READY_S:.0f} seconds"
        else:
            what = f"ended with status {status} while starting"
        tail = "\n".join(self.log.splitlines()[-_QUOTED_LINES:])
        msg = f"the local server {what} (model {self.model}). The end of its log:\n{tail}"
        raise LocalServerError(msg)


def _model_path(model: str | Path | None) -> Path:
    if model is not None:
        path = Path(model)
        if not path.is_file():
            msg = f"there is no model file {path}: name a .gguf file with --synaptum-model"
            raise LocalServerError(msg)
        return path.resolve()
    cached = cached_model()
    if cached is None:
        msg = (
            f"there is no model to serve: fetch the small one with `{FETCH_COMMAND}`, or name a "
            "file with --synaptum-model FILE.gguf"
        )
        raise LocalServerError(msg)
    return cached


def _healthy(address: str) -> bool:
    # Here: the child, which asks nobody, needs none of it.
    from pytest_synaptum.capture.clients import passing_on

    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=2.0)
    # A test that captures its clients has not asked this, so its cassette does not hold it.
    with passing_on():
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def _serve(settings: _Settings, address_file: Path) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings.model
    params.model_alias = {settings.alias}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = settings.n_ctx
    params.n_parallel = settings.parallel
    params.cpuparams.n_threads = settings.threads
    params.sampling.seed = settings.seed
    params.cache_prompt = settings.cache_prompt
    params.use_jinja = True
    # Repacked weights need processor features that a virtual machine may not grant.
    params.no_extra_bufts = True
    if settings.template:
        params.chat_template = settings.template
    server = xllamacpp.Server(params)
    part = address_file.with_suffix(".part")
    part.write_text(str(server.listening_address), encoding="ascii")
    part.replace(address_file)
    sys.stdin.read()
    # The server's own shutdown waits for open streams; nothing here is worth waiting for.
    os._exit(0)


if __name__ == "__main__":
    _serve(
        _Settings(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), Path(sys.argv[2])
    )
