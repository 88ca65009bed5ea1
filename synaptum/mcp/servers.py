"""Tools of MCP servers, on the official `mcp` SDK, version 2 or newer (extra `[mcp]`).

They keep the contract of every other tool, so the loop does not notice that they are remote.
What differs is who speaks. A server's hints say what it claims, not what is so: they are
translated with MCP's own defaults (silence is DESTRUCTIVE), and `.destructive` lists what to
look at before an agent gets it. Nothing is declared to a server that it could use against its
caller: no roots, no sampling, no logging; an answer that asks for input is an error result.

The connection lives in a task of its own. So it may be opened in one task and closed in
another, and a cancelled caller cannot leave a child process behind: leaving the block waits,
bounded by the SDK's own escalation, until the server is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

from synaptum.errors import (
    ConfigurationError,
    NetworkError,
    RequestTimeoutError,
    SynaptumError,
    ToolExecutionError,
)
from synaptum.mcp.answers import risk_of
from synaptum.mcp.stderr import ErrorTail
from synaptum.mcp.tool import MCPTool
from synaptum.tools.base import arguments_schema, check_tool_names
from synaptum.vocabulary import (
    Risk,
    ToolDefinition,
)
from synaptum.wording import current_wording

__all__ = ["MCPTools"]

#: Seconds a server has to connect, and to answer each call.
_DEADLINE_S: Final = 60.0
#: Pages of a catalogue followed: a server that never ends its list cannot hang a run.
_MAX_PAGES: Final = 1_000
# JSON-RPC codes of the SDK's own making.
_CONNECTION_CLOSED: Final = -32000
_REQUEST_TIMEOUT: Final = -32001

_Connect = Callable[[contextlib.AsyncExitStack, float], Awaitable[Any]]


class MCPTools:
    """The tools of one server: `async with MCPTools.stdio("uvx", "mcp-server-git") as git:`.

    Iterating gives the tools, in the server's order. Make it with `stdio`, `http` or
    `connected`; each takes `prefix`, put before every name (two servers that both publish
    `search` are otherwise one name, which is refused), and `deadline`, the seconds the server
    has to connect and to answer each call.
    """

    def __init__(self, connect: _Connect, label: str, prefix: str, deadline: float) -> None:
        self._connect = connect
        self._label = label
        self._prefix = prefix
        self._deadline = deadline
        self._tools: tuple[MCPTool, ...] | None = None
        self._session: Any = None
        self._owner: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._errors: ErrorTail | None = None

    @classmethod
    def stdio(
        cls,
        command: str,
        *args: str,
        prefix: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        deadline: float = _DEADLINE_S,
    ) -> Self:
        """A server as a child process; leaving the block ends it.

        `env` is added to the few variables that are safe to hand on (PATH, HOME ...); the rest
        of this process's environment, and so its keys, does not reach the server.
        """
        _check_sdk()
        errors = ErrorTail(tuple((env or {}).values()))

        async def connect(stack: contextlib.AsyncExitStack, deadline: float) -> Any:
            from mcp import Client, StdioServerParameters
            from mcp.client.stdio import stdio_client

            parameters = StdioServerParameters(
                command=command,
                args=list(args),
                env=dict(env or {}),
                cwd=cwd,
                encoding_error_handler="replace",  # stray bytes must not end the connection
            )
            transport = stdio_client(parameters, errlog=stack.enter_context(errors.opened()))
            client = Client(transport, read_timeout_seconds=deadline, cache=None)
            return (await stack.enter_async_context(client)).session

        tools = cls(connect, command, prefix, deadline)
        tools._errors = errors
        return tools

    @classmethod
    def http(
        cls,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        prefix: str = "",
        deadline: float = _DEADLINE_S,
    ) -> Self:
        """A server over streamable HTTP. `headers` never show, and stay on the url's origin."""
        _check_sdk()

        async def connect(stack: contextlib.AsyncExitStack, deadline: float) -> Any:
            import httpx2
            from mcp import Client
            from mcp.client.streamable_http import streamable_http_client

            limits = httpx2.Timeout(min(30.0, deadline), read=deadline)
            http = httpx2.AsyncClient(headers=dict(headers or {}), timeout=limits)
            await stack.enter_async_context(http)
            transport = streamable_http_client(url, http_client=http)
            client = Client(transport, read_timeout_seconds=deadline, cache=None)
            return (await stack.enter_async_context(client)).session

        parts = urlsplit(url)
        label = f"{parts.scheme}://{parts.hostname}{parts.path}"  # no user, no query: no secret
        return cls(connect, label, prefix, deadline)

    @classmethod
    def connected(cls, session: Any, *, prefix: str = "", deadline: float = _DEADLINE_S) -> Self:
        """The tools of an `mcp.Client` or `ClientSession` that is open; it stays open after."""
        _check_sdk()

        async def connect(stack: contextlib.AsyncExitStack, deadline: float) -> Any:
            return getattr(session, "session", session)

        return cls(connect, "connected session", prefix, deadline)

    async def __aenter__(self) -> Self:
        if self._owner is not None:
            msg = f"The MCP server {self._label} was opened twice: make a new MCPTools for each."
            raise ConfigurationError(msg)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(ready))
        try:
            async with asyncio.timeout(self._deadline):
                await asyncio.shield(ready)
        except TimeoutError:
            await self._end(at_once=True)
            msg = (
                f"The MCP server {self._label} did not get ready within {self._deadline:g}"
                f" seconds; raise deadline= if it is only slow.{self._stderr()}"
            )
            raise RequestTimeoutError(msg) from None
        except BaseException:
            await self._end(at_once=True)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._end()

    def __iter__(self) -> Iterator[MCPTool]:
        return iter(self._listed())

    def __len__(self) -> int:
        return len(self._listed())

    def __repr__(self) -> str:
        count = "not connected" if self._tools is None else f"{len(self._tools)} tools"
        return f"<MCPTools {self._label}: {count}>"

    @property
    def destructivas(self) -> tuple[MCPTool, ...]:
        """The tools that may destroy something, or say nothing on it: look before you offer."""
        return tuple(tool for tool in self._listed() if tool.definition.risk is Risk.DESTRUCTIVE)

    @property
    def destructive(self) -> tuple[MCPTool, ...]:
        """`destructivas` in English."""
        return self.destructivas

    @property
    def protocol_version(self) -> str:
        """The revision of the protocol agreed on, such as `2026-07-28`."""
        self._listed()
        return str(self._session.protocol_version)

    def _listed(self) -> tuple[MCPTool, ...]:
        if self._tools is None:
            msg = f"The MCP server {self._label} is not open: use it inside `async with`."
            raise ConfigurationError(msg)
        return self._tools

    async def _own(self, ready: asyncio.Future[None]) -> None:
        """Hold the connection from beginning to end, in this one task."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                self._session = await self._connect(stack, self._deadline)
                self._tools = await self._catalogue()
                if not ready.done():
                    ready.set_result(None)
                await self._stop.wait()
        except asyncio.CancelledError:
            if not ready.done():
                ready.cancel()
            raise
        except BaseException as error:
            if ready.done():
                return  # the server is gone; each call says so
            ready.set_exception(self._not_opened(error))

    async def _end(self, *, at_once: bool = False) -> None:
        """Close, and wait until it is closed, however often the caller is cancelled meanwhile."""
        owner = self._owner
        if owner is None:
            return
        self._stop.set()
        if at_once:
            owner.cancel()
        interrupted: asyncio.CancelledError | None = None
        while not owner.done():
            try:
                await asyncio.wait({owner})
            except asyncio.CancelledError as error:
                interrupted = error
        if interrupted is not None:
            raise interrupted

    async def _catalogue(self) -> tuple[MCPTool, ...]:
        from mcp.types import PaginatedRequestParams

        tools: list[MCPTool] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            parameters = PaginatedRequestParams(cursor=cursor) if cursor is not None else None
            page = await self._session.list_tools(params=parameters)
            tools.extend(
                MCPTool(self._call, listed.name, self._definition(listed)) for listed in page.tools
            )
            cursor = page.next_cursor
            if not cursor:
                check_tool_names(tools)
                return tuple(tools)
        msg = f"The MCP server {self._label} gave {_MAX_PAGES} pages of tools and no last one."
        raise ConfigurationError(msg)

    def _definition(self, listed: Any) -> ToolDefinition:
        hints = listed.annotations
        return ToolDefinition(
            self._prefix + listed.name,
            listed.description or "",
            arguments_schema(listed.input_schema),
            risk_of(hints),
            bool(hints is not None and hints.idempotent_hint),
        )

    def _not_opened(self, error: BaseException) -> BaseException:
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        if isinstance(error, SynaptumError | asyncio.CancelledError):
            return error
        if isinstance(error, OSError) and error.filename is not None:
            msg = f"The MCP server {self._label} cannot be started: {error.strerror}."
            return ConfigurationError(msg)
        problems = getattr(error, "errors", None)
        if isinstance(error, ValueError) and callable(problems):  # the SDK's own check
            first = problems()[0]
            place = ".".join(str(step) for step in first["loc"])
            msg = (
                f"The MCP server {self._label} gave an answer that the protocol does not allow, at"
                f" {place}: {first['msg']}. None of its tools can be used before that is mended."
            )
            return ConfigurationError(msg)
        msg = (
            f"The MCP server {self._label} could not be opened:"
            f" {type(error).__name__}: {error}.{self._stderr()}"
        )
        return NetworkError(msg)

    def _stderr(self) -> str:
        tail = self._errors.tail() if self._errors is not None else ""
        return f" [stderr: {tail}]" if tail else ""

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Ask the server; every failure comes out as one of our errors."""
        if self._owner is None or self._stop.is_set():
            msg = f"The MCP server {self._label} is closed: run the agent inside `async with`."
            raise ConfigurationError(msg)
        from mcp.shared.exceptions import MCPError

        wording = current_wording()
        try:
            async with asyncio.timeout(self._deadline + 1.0):  # the SDK's own comes first
                return await self._session.call_tool(
                    name,
                    dict(arguments),
                    read_timeout_seconds=self._deadline,
                    allow_input_required=True,
                )
        except MCPError as error:
            if error.code == _REQUEST_TIMEOUT:
                msg = wording.mcp_timeout.format(seconds=f"{self._deadline:g}")
                raise ToolExecutionError(msg, retryable=True) from None
            if error.code == _CONNECTION_CLOSED:
                msg = wording.mcp_lost.format(detail=self._stderr())
                raise ToolExecutionError(msg) from None
            raise ToolExecutionError(error.message) from None
        except TimeoutError:
            msg = wording.mcp_timeout.format(seconds=f"{self._deadline:g}")
            raise ToolExecutionError(msg, retryable=True) from None
        except (RuntimeError, ValueError) as error:  # pydantic's ValidationError is a ValueError
            first = str(error).strip().splitlines()
            msg = wording.mcp_unusable.format(detail=first[0] if first else type(error).__name__)
            raise ToolExecutionError(msg) from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] == "anyio":  # its streams are closed
                msg = wording.mcp_lost.format(detail=self._stderr())
                raise ToolExecutionError(msg) from None
            raise


def _check_sdk() -> None:
    try:
        from mcp import Client
    except ImportError:
        msg = (
            "MCP servers need the official SDK, version 2 or newer: install it with"
            " pip install 'pytest-synaptum[mcp]'."
        )
        raise ConfigurationError(msg) from None
    del Client
