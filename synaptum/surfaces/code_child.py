"""The other side of `code_tool`: runs one script in a process of its own.

Started by path, without the environment, without site-packages, and without `synaptum`: it
imports the standard library alone. It talks to its parent in JSON lines over the socket whose
number is its one argument:

    <- {"script": "...", "functions": ["get_expenses"]}
    -> {"call": 0, "name": "get_expenses", "args": ["e1"], "kwargs": {}}
    <- {"call": 0, "value": [...]}            or  {"call": 0, "error": "why"}
    -> {"ended": "finished"}                  or  "syntax_error", "runtime_error" with "error"

One call is on its way at a time. The next one is sent when the script has nothing else to do:
so the order of the calls follows from the script and the answers alone, and after a call that
failed, a script that ends because of it makes no further one.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import json
import linecache
import os
import select
import signal
import socket
import sys
import threading
import traceback
from collections import deque
from types import CodeType
from typing import Any

#: The script's file name in tracebacks.
_NAME = "<script>"


class ToolError(Exception):
    """A tool failed, or refused the call; the text says what to do."""


class _Calls:
    """The calls of the script, over the socket."""

    def __init__(self, link: socket.socket, rest: bytes) -> None:
        self._link = link
        self._received = rest
        self._queue: deque[tuple[dict[str, Any], asyncio.Future[Any]]] = deque()
        self._sent: asyncio.Future[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sending = self._idle = False
        self._count = 0

    async def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if self._loop is not None and not self._loop.is_closed():
                message = "Tools are awaited in one event loop: do not start another in a thread."
                raise RuntimeError(message)
            self._loop, self._sending = loop, False
            loop.add_reader(self._link, self._receive)
        try:
            arguments = {"args": list(args), "kwargs": kwargs}
            json.dumps(arguments, allow_nan=False)
        except (TypeError, ValueError) as error:
            message = f"{name}() takes what JSON can hold: {error}"
            raise TypeError(message) from None
        future: asyncio.Future[Any] = loop.create_future()
        self._queue.append(({"name": name, **arguments}, future))
        self._send_soon()
        return await future

    def _send_soon(self) -> None:
        # One callback of ours at a time: two would each take the other for the script's.
        if not self._sending and self._loop is not None and not self._loop.is_closed():
            self._sending = True
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        self._sending = False
        # Whoever is ready runs first. `_ready` is asyncio's own list of callbacks; a loop
        # without one only loses the fixed order. It is looked at in two passes: in the first
        # one a failed `asyncio.run` may just have stopped, and cancels the rest in the next.
        idle = not getattr(self._loop, "_ready", None)
        self._idle, before = idle, self._idle
        if not (idle and before):
            self._send_soon()
            return
        self._idle = False
        while self._sent is None and self._queue:
            message, future = self._queue.popleft()
            if not future.done():
                self._sent = future
                send(self._link, {"call": self._count, **message})
                self._count += 1

    def _receive(self) -> None:
        data = self._link.recv(65536, socket.MSG_DONTWAIT)
        if not data:
            os._exit(1)  # the parent is gone
        self._received += data
        while b"\n" in self._received:
            line, _, self._received = self._received.partition(b"\n")
            self._answer(json.loads(line))

    def _answer(self, message: dict[str, Any]) -> None:
        future, self._sent = self._sent, None
        if future is not None and not future.done():
            if "error" in message:
                future.set_exception(ToolError(message["error"]))
            else:
                future.set_result(message["value"])
        self._send_soon()


def send(link: socket.socket, message: dict[str, Any]) -> None:
    """Send one message, waiting until it is on its way."""
    link.sendall(json.dumps(message).encode("ascii") + b"\n")


def function(calls: _Calls, name: str) -> Any:
    """What the script calls a tool by."""

    async def call(*args: Any, **kwargs: Any) -> Any:
        return await calls.call(name, args, kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def run(script: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run the script; how it ended, as the message for the parent."""
    try:
        code: CodeType = compile(script, _NAME, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # compile() knows of no file, so the lines come from the error itself.
        text = "".join(traceback.format_exception_only(error)).strip()
        return {"ended": "syntax_error", "error": text}
    linecache.cache[_NAME] = (len(script), None, script.splitlines(keepends=True), _NAME)
    try:
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, names))
        else:
            exec(code, names)
    except SystemExit as error:
        if error.code in (None, 0):
            return {"ended": "finished"}
        return {"ended": "runtime_error", "error": f"SystemExit: {error.code}"}
    except BaseException as error:
        return {"ended": "runtime_error", "error": told(error)}
    return {"ended": "finished"}


def told(error: BaseException) -> str:
    """The traceback with the script's own lines and no others."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == _NAME]
    kind = type(error)
    lines = traceback.format_list(frames)
    if kind is ToolError:
        return "".join([*lines, f"ToolError: {error}"])
    return "".join([*lines, *traceback.format_exception_only(error)]).strip()


def end_with_the_parent(link: socket.socket) -> None:
    """Kill this process and what it started once the parent is gone, killed ones included."""
    poll = select.poll()
    poll.register(link, 0)  # only the end of the other side is waited for
    poll.poll()
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main() -> None:
    """Take one script from the parent, run it, say how it ended."""
    link = socket.socket(fileno=int(sys.argv[1]))
    threading.Thread(target=end_with_the_parent, args=(link,), daemon=True).start()
    received = b""
    while b"\n" not in received:
        data = link.recv(65536)
        if not data:
            return
        received += data
    line, _, rest = received.partition(b"\n")
    task = json.loads(line)
    calls = _Calls(link, rest)
    sys.argv = [_NAME]
    # A module of its own under the name it expects: `if __name__ == "__main__"` holds, and
    # what needs the module by name (dataclasses, pickle) finds the script's.
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    names = module.__dict__
    names.update({name: function(calls, name) for name in task["functions"]})
    names["ToolError"] = ToolError
    ended = run(task["script"], names)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the script closed it
            stream.flush()
    send(link, ended)
    os._exit(0)


if __name__ == "__main__":
    main()
