"""`synaptum-corpus serve`: the corpus, or a cassette, as a server for agents elsewhere."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import socket
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_synaptum.cassette.recorder import Recorder
from pytest_synaptum.cassette.writing import dump_cassette, write_atomically
from pytest_synaptum.commands.base_url import base_url_of
from pytest_synaptum.commands.output import NOT_CONFIRMED, Output, confirmed
from pytest_synaptum.corpus.tree import add_corpus_argument, cases_below
from pytest_synaptum.redact import Redactor
from pytest_synaptum.serving import Answers, forwarding_app, replaying_app
from synaptum.clock import SystemClock, isoformat

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = ["add_arguments", "run"]

_MAX_PORT: Final = 65_535
#: Seconds for open streams to end when the server is told to.
_GRACE_S: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to serve, and where."""
    add_corpus_argument(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--cassette", metavar="FILE", type=Path, help="serve this, not the corpus")
    parser.add_argument(
        "--port", type=_port, default=0, help="default: a free one, which is printed"
    )
    parser.add_argument("--delays", action="store_true", help="wait as long as the server did")
    what.add_argument(
        "--record", metavar="FILE", type=Path, help="forward to --base-url, and write a cassette"
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="of the real server (default: SYNAPTUM_BASE_URL)"
    )
    parser.add_argument("--yes", action="store_true", help="replace the cassette of --record")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _MAX_PORT):
        msg = f"{text!r} is no port: a number up to {_MAX_PORT}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Serve on 127.0.0.1 until interrupted; a recording is written at the end, whole."""
    out = Output(arguments)
    recorder = Recorder()
    app: Starlette
    if arguments.record is not None:
        base_url = base_url_of(
            arguments, missing="--record forwards to a real server: name it with --base-url"
        )
        question = f"{arguments.record} is there; replace it?"
        if arguments.record.exists() and not confirmed(arguments, question):
            out.say(f"{arguments.record} is there; --yes replaces it")
            return NOT_CONFIRMED
        key = os.environ.get("SYNAPTUM_API_KEY") or None
        app = forwarding_app(base_url, recorder, key)
    else:
        answers = (
            Answers.of_cases(cases_below(arguments.corpus))
            if arguments.cassette is None
            else Answers.of_cassette(arguments.cassette)
        )
        app = replaying_app(answers, delays=arguments.delays)
    try:
        _serve(app, arguments.port, out)
    finally:
        if arguments.record is not None:
            _write(arguments.record, recorder, out)
    return 0


def _serve(app: Any, port: int, out: Output) -> None:
    import uvicorn

    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        # Whoever reads the address below may ask at once.
        listening.listen(128)
        base_url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        if out.as_json:
            out.json({"base_url": base_url})
        else:
            print(base_url if out.is_quiet else f"serving at {base_url} (stop with Ctrl-C)")
        sys.stdout.flush()
        # A connection that is lost on purpose is no news.
        logging.getLogger("uvicorn.error").addFilter(_is_news)
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=_GRACE_S,
        )
        asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


def _is_news(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, ConnectionAbortedError)


def _write(path: Path, recorder: Recorder, out: Output) -> None:
    """The cassette, redacted; nothing where nothing was asked."""
    redactor = Redactor()
    untouched = recorder.exchanges()
    for exchange in untouched:
        redactor.learn_exchange(exchange)
    exchanges = [redactor.exchange(exchange) for exchange in untouched]
    if not exchanges:
        out.say("nothing was asked, so nothing was written")
        return
    redactor.scan(exchanges, str(path))
    recorded = {
        "at": isoformat(SystemClock().now_s()),
        "plugin": version("pytest-synaptum"),
    }
    write_atomically(path, dump_cassette(exchanges, recorded))
    out.say(f"{len(exchanges)} exchanges written to {path}")
