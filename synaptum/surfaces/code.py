"""`code_tool`: the model writes Python that calls the agent's tools, and only its output returns.

What a script reads stays outside of the context: 200 KB of rows in, one line out. It pays where
calls depend on each other and their results are large; for one call it is a detour.

**A process is not a sandbox.** The script runs as the same user as the agent, with the same
files and the same network. What is kept from it: this process's memory and environment (and so
its keys), its site-packages, and time and output without end. Code of a model that you do not
trust belongs in a container or a virtual machine: run the whole agent there, or give
`python=` a program that enters one.

The tools do not run in that process. Each call comes back here, is validated, passes the
policy, and is a step of the journal with its intent written first (`synaptum.agent.scripts`
tells what that means when a run is resumed). The script itself counts as no less than
`Risk.HARD_WRITE`, whatever its tools are.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import ConfigurationError, EncodingError, InvalidToolCallError
from synaptum.schema.problems import MismatchError
from synaptum.schema.validate import validate
from synaptum.surfaces.environment import Values, allowed_environment, check_names
from synaptum.surfaces.functions import python_names, signature_line
from synaptum.surfaces.process import (
    Capture,
    check_bound,
    child,
    collect,
)
from synaptum.tools.base import (
    CallBridge,
    DefinedTool,
    Tool,
    check_tool_names,
    misfit,
    refuse_set,
    unwritable,
)
from synaptum.vocabulary import Risk, ToolDefinition, ToolResult
from synaptum.wording import ENGLISH, Wording, current_wording

__all__ = ["CodeOnly", "CodeTool", "code_only", "code_tool"]

_CHILD: Final = Path(__file__).with_name("code_child.py")
#: Longest message of a script, bytes: a call's arguments, or a traceback.
_MAX_MESSAGE: Final = 16 * 1024 * 1024
#: Seconds a script's process has to end once the script has.
_GRACE_S: Final = 1.0


def code_tool(
    tools: Iterable[Any] = (),
    *,
    name: str = "run_python",
    deadline: float = 60.0,
    max_calls: int = 1_000,
    max_output_bytes: int = 1_000_000,
    environment: Sequence[str] = (),
    python: Sequence[str] = (sys.executable,),
    wording: Wording = ENGLISH,
) -> CodeTool:
    """A tool that runs the model's Python, in which `tools` are functions to await.

    Their names are those of the tools (what no Python name can hold becomes `_`); they take
    arguments by position, in the order of the schema, or by name, and return what the tool
    returned: its plain value, or its text. A failure raises `ToolError` in the script.

    Args:
        tools: what scripts can call. They need not be offered to the model themselves.
        name: of the tool.
        deadline: seconds that one script has, its calls included.
        max_calls: calls that one script may make; they do not count as steps of the run.
        max_output_bytes: kept of what it prints; beyond it the middle is dropped.
        environment: names of variables that the script gets from this process; none else.
        python: the program that runs the script, with its first arguments: such as
            `("bwrap", ..., "python3")`, which makes it a sandbox. It must hand on the file
            descriptor of the link, and find the standard library.
        wording: of the description, which is part of the prefix.

    Raises:
        ConfigurationError: two tools have one name in Python, one runs scripts itself, or a
            bound is no number over 0.
    """
    return CodeTool(
        tools,
        name=name,
        deadline=deadline,
        max_calls=max_calls,
        max_output_bytes=max_output_bytes,
        environment=environment,
        python=python,
        wording=wording,
    )


def code_only(tool: Any) -> CodeOnly:
    """Mark a tool for scripts only: offered as it is, refused when it is called directly.

    Use it where the model is to see the schema: `Agent(tools=[code_tool([t]), code_only(t)])`.
    What is given to `code_tool` alone is for scripts only as it stands.
    """
    return CodeOnly(tool)


class CodeOnly:
    """A tool that the model sees and only scripts can call. Made by `code_only`."""

    def __init__(self, tool: Any) -> None:
        (self.tool,) = check_tool_names([tool])

    def __repr__(self) -> str:
        return f"<code only {self.tool!r}>"

    @property
    def name(self) -> str:
        """The tool's."""
        return self.tool.name

    @property
    def definition(self) -> ToolDefinition:
        """The tool's."""
        return self.tool.definition

    async def invoke(self, call_id: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Refuse."""
        text = current_wording().surfaces.code_only.format(name=self.name)
        return ToolResult.of(call_id, text, is_error=True)


class CodeTool(DefinedTool):
    """Runs scripts. Made by `code_tool`; its contract is `synaptum.tools.base.MakesCalls`.

    `ToolResult.structured` of a script is `{"calls": n, "ending": ...}`: how many calls it made
    and how it ended (`finished`, `syntax_error`, `runtime_error`, `deadline`, `lost`).
    """

    def __init__(
        self,
        tools: Iterable[Any],
        *,
        name: str,
        deadline: float,
        max_calls: int,
        max_output_bytes: int,
        environment: Sequence[str],
        python: Sequence[str],
        wording: Wording,
    ) -> None:
        for what, value in (
            ("deadline", deadline),
            ("max_calls", max_calls),
            ("max_output_bytes", max_output_bytes),
        ):
            check_bound(f"code_tool {what}", value)
        check_names("code_tool environment", environment)
        refuse_set("tools", tools)
        self.catalogue = check_tool_names(t.tool if isinstance(t, CodeOnly) else t for t in tools)
        self._functions = python_names(self.catalogue)
        self._deadline = deadline
        self._max_calls = max_calls
        self._max_output = max_output_bytes
        self._environment = tuple(environment)
        self._python = tuple(python)
        self._definition = _definition(name, self._functions, wording)

    def __repr__(self) -> str:
        return f"<code tool {self.name!r} of {list(self._functions)}>"

    async def invoke(self, call_id: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Refuse: nobody is here to journal the script's calls.

        Raises:
            ConfigurationError: always; a gateway hands on `CallContext.bridge`.
        """
        msg = (
            f"{self.name} was run without CallContext.bridge, so its script's calls could be"
            " neither journalled nor put before the policy: use a gateway that hands it on to"
            " invoke_with, as LocalGateway does."
        )
        raise ConfigurationError(msg)

    async def invoke_with(
        self, call_id: str, arguments: Mapping[str, Any], bridge: CallBridge
    ) -> ToolResult:
        """Run the script; its calls go through `bridge`.

        Raises:
            InvalidToolCallError: the arguments are not `{"script": text}`.
        """
        try:
            validate(self._definition.parameters, arguments)
        except MismatchError as error:
            raise InvalidToolCallError(misfit(self.name, error)) from None
        run = _Script(self._functions, self._max_calls, bridge)
        output = await self._run(arguments["script"], run)
        words = current_wording().surfaces
        failed = run.ending != "finished"
        text = output.rstrip("\n")
        if failed:
            text = f"{text}\n{self._reason(run)}" if text else self._reason(run)
        result = ToolResult.of(call_id, text or words.code_no_output, is_error=failed)
        return replace(result, structured={"calls": run.calls, "ending": run.ending})

    def _reason(self, run: _Script) -> str:
        words = current_wording().surfaces
        if run.ending == "syntax_error":
            return words.code_syntax.format(error=run.error)
        if run.ending == "deadline":
            return words.code_deadline.format(seconds=self._deadline)
        if run.ending == "lost":
            return words.code_lost.format(detail=f" {run.error}".rstrip())
        return words.code_failed.format(error=run.error)

    async def _run(self, script: str, run: _Script) -> str:
        """Run it to its end; what it printed."""
        words = current_wording().surfaces
        environment = allowed_environment(self._environment)
        values = Values(environment)
        ended = asyncio.Event()
        output: asyncio.Future[tuple[Capture, Capture]] | None = None
        ours, theirs = socket.socketpair()
        folder = tempfile.TemporaryDirectory(prefix="synaptum-script-", ignore_cleanup_errors=True)
        try:
            with ours, theirs, folder as cwd:
                async with child(
                    self._command(theirs.fileno()),
                    # A hash seed that stands: the order of a set decides the order of calls.
                    environment=environment | {"PYTHONHASHSEED": "0"},
                    cwd=cwd,
                    pass_fds=[theirs.fileno()],
                ) as process:
                    theirs.close()  # or its end would not be seen here
                    output = asyncio.ensure_future(collect(process, self._max_output, ended))
                    await run.follow(ours, script, self._deadline)
                    await asyncio.wait({output}, timeout=_GRACE_S)
                ended.set()
                printed, complaints = await output
        finally:
            if output is not None:
                output.cancel()
        if run.ending == "lost":
            run.error = complaints.text(lambda _: "…", values).strip()[-500:]
        run.error = values.out_of(run.error)
        return printed.text(lambda dropped: words.code_cut.format(removed=dropped), values)

    def _command(self, link: int) -> list[str]:
        return [*self._python, "-B", "-P", "-S", "-s", "-X", "utf8", str(_CHILD), str(link)]


class _Script:
    """One running script, as its parent follows it.

    The other side runs a model's code and can send anything: nothing it says is taken on trust.
    """

    def __init__(self, functions: Mapping[str, Tool], max_calls: int, bridge: CallBridge) -> None:
        self._functions = functions
        self._max_calls = max_calls
        self._bridge = bridge
        self.calls = 0
        self.ending = "lost"
        self.error = ""

    async def follow(self, link: socket.socket, script: str, deadline: float) -> None:
        """Carry out its calls until it has ended, or for `deadline` seconds."""
        limit = asyncio.timeout(deadline)
        try:
            async with limit:
                await self._follow(link, script)
        except TimeoutError:
            if not limit.expired():
                raise
            self.ending = "deadline"

    async def _follow(self, link: socket.socket, script: str) -> None:
        reader, writer = await asyncio.open_connection(sock=link, limit=_MAX_MESSAGE)
        try:
            _write(writer, {"script": script, "functions": list(self._functions)})
            while True:
                try:
                    line = await reader.readline()
                    message = canonical.loads(line) if line else None
                except (ValueError, OSError):  # too long, not JSON, or cut off
                    return
                if not isinstance(message, dict):
                    return
                if "ended" in message:
                    ending = message["ended"]
                    if ending in ("finished", "syntax_error", "runtime_error"):
                        self.ending, self.error = ending, str(message.get("error", ""))
                    return
                answer = await self._call(message)
                _write(writer, {"call": message.get("call"), **answer})
                await writer.drain()
        except ConnectionError:
            return  # the process is gone; `lost` says so
        finally:
            writer.close()

    async def _call(self, message: Mapping[str, Any]) -> dict[str, Any]:
        words = current_wording().surfaces
        name, args, kwargs = (message.get(key) for key in ("name", "args", "kwargs"))
        tool = self._functions.get(name) if isinstance(name, str) else None
        if tool is None:
            return {
                "error": words.code_unknown.format(name=name, functions=", ".join(self._functions))
            }
        if not isinstance(args, list) or not isinstance(kwargs, dict):
            return {"error": words.code_positional.format(name=name, count=0, given="?")}
        if self.calls >= self._max_calls:
            return {"error": words.code_calls.format(limit=self._max_calls)}
        parameters = list(tool.definition.parameters.get("properties", {}))
        if len(args) > len(parameters):
            return {
                "error": words.code_positional.format(
                    name=name, count=len(parameters), given=len(args)
                )
            }
        arguments = dict(zip(parameters, args, strict=False))
        twice = next((key for key in kwargs if key in arguments), None)
        if twice is not None:
            return {"error": words.code_repeated.format(name=name, parameter=twice)}
        arguments |= kwargs
        try:
            canonical.encode(arguments)
        except EncodingError as error:
            return {"error": unwritable(error)}
        self.calls += 1
        result = await self._bridge.call(tool.name, arguments)
        if result.is_error:
            return {"error": result.text}
        return {"value": result.text if result.structured is None else result.structured}


def _write(writer: asyncio.StreamWriter, message: Mapping[str, Any]) -> None:
    writer.write(canonical.wire_bytes(message) + b"\n")


def _definition(name: str, functions: Mapping[str, Tool], wording: Wording) -> ToolDefinition:
    words = wording.surfaces
    lines = "\n".join(signature_line(python, tool.definition) for python, tool in functions.items())
    definitions = [tool.definition for tool in functions.values()]
    return ToolDefinition(
        name,
        words.code_description.format(functions=lines or "-"),
        {
            "type": "object",
            "properties": {"script": {"type": "string", "description": words.code_script}},
            "required": ["script"],
            "additionalProperties": False,
        },
        risk=max([Risk.HARD_WRITE, *(d.risk for d in definitions)]),
        idempotent=all(d.idempotent for d in definitions),
    )
