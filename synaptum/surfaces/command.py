"""`command_tool`: a program as a typed tool, without a shell.

    @command_tool("git", risk=Risk.READ, exit_codes={128: "this folder is no repository"})
    def git_log(path: str, count: int = 10) -> list[str]:
        \"\"\"Shows the latest commits of a folder.\"\"\"
        return ["-C", path, "log", f"--max-count={count}", "--oneline"]

The function turns typed values into the program's arguments, one list item each: no text is
ever split, expanded or interpreted. It is where a value becomes an option or not, so a value of
the model that stands alone and begins with `-` is refused, unless it comes after `--`.

Exit code 0 is success. Every other one is an error result that names the code and what it
means; say the meanings in `exit_codes=`, and which of them repeating can mend. With `--json`
among the arguments the output is read as JSON and handed on as a value.
"""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from synaptum import canonical
from synaptum.errors import ConfigurationError, EncodingError, ToolExecutionError
from synaptum.surfaces.environment import Values, allowed_environment, check_names
from synaptum.surfaces.process import (
    Capture,
    check_bound,
    child,
    collect_until_exit,
)
from synaptum.tools.function import FunctionTool, tool
from synaptum.vocabulary import Risk
from synaptum.wording import current_wording

__all__ = ["ExitCode", "command_tool"]

#: Characters of standard error that an error result quotes: the end says why.
_DETAIL_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True)
class ExitCode:
    """What an exit code means.

    Attributes:
        meaning: for the model: what was wrong and what to do.
        retryable: whether the same call may succeed later; it is repeated only if the tool is
            idempotent.
    """

    meaning: str
    retryable: bool = False


#: The code of a temporary failure. Source: sysexits.h, EX_TEMPFAIL.
_TEMPORARY: Final = 75


def command_tool(
    program: str,
    *,
    risk: Risk,
    idempotent: bool = False,
    name: str | None = None,
    description: str | None = None,
    exit_codes: Mapping[int, str | ExitCode] | None = None,
    ok_codes: Collection[int] = (0,),
    parse_json: bool | None = None,
    deadline: float = 60.0,
    max_output_bytes: int = 1_000_000,
    environment: Sequence[str] = ("PATH", "HOME", "LANG", "LC_ALL"),
    cwd: str | Path | None = None,
    input_examples: Sequence[Mapping[str, Any]] = (),
) -> Callable[[Callable[..., Sequence[object]]], FunctionTool[..., Any]]:
    """Make a tool of a program; the function decorated gives its arguments.

    Args:
        program: a name that is looked up in the child's PATH, or a path.
        risk: what the program can do; no default, because a command line can do anything.
        idempotent: repeating a call has no further effect.
        name: instead of the function's own.
        description: instead of the docstring's first line.
        exit_codes: what codes mean. A text alone is a meaning that repeating cannot mend.
        ok_codes: codes of success, such as `(0, 1)` where 1 says that nothing was found.
        parse_json: read the output as JSON; by default where `--json` is an argument.
        deadline: seconds; then the program is killed with all that it started.
        max_output_bytes: kept of its output. Text loses its middle; JSON that is longer is an
            error result.
        environment: names of variables it gets from this process; no other. Values are
            replaced by their names where the output shows them, but for PATH and the like.
        cwd: the folder it runs in.
        input_examples: as `@tool` takes them.

    Raises:
        ConfigurationError: no program, no risk, a bound that is none; at decoration also
            what `@tool` refuses.
    """
    if not program or not isinstance(risk, Risk):
        msg = f"command_tool({program!r}, risk={risk!r}): name a program and its Risk."
        raise ConfigurationError(msg)
    check_bound("command_tool deadline", deadline)
    check_bound("command_tool max_output_bytes", max_output_bytes)
    check_names("command_tool environment", environment)
    given = exit_codes or {}
    for code in (*given, *ok_codes):
        if isinstance(code, bool) or not isinstance(code, int):
            msg = f"command_tool exit code {code!r}: exit codes are numbers, such as 2."
            raise ConfigurationError(msg)
    meanings = {c: ExitCode(m) if isinstance(m, str) else m for c, m in given.items()}
    runner = _Program(
        program,
        meanings=meanings,
        ok_codes=frozenset(ok_codes),
        parse_json=parse_json,
        deadline=deadline,
        max_output=max_output_bytes,
        environment=tuple(environment),
        cwd=cwd,
        idempotent=idempotent,
    )

    def make(function: Callable[..., Sequence[object]]) -> FunctionTool[..., Any]:
        @functools.wraps(function)
        async def run(**values: Any) -> Any:
            return await runner.run(_arguments(function(**values), values))

        return tool(
            run,
            risk=risk,
            idempotent=idempotent,
            name=name,
            description=description,
            input_examples=input_examples,
        )

    return make


def _arguments(made: Sequence[object], values: Mapping[str, Any]) -> list[str]:
    """The arguments as texts, once no value of the model poses as an option.

    Raises:
        ToolExecutionError: one does.
        TypeError: the function gave something else than a list.
    """
    if isinstance(made, str) or not isinstance(made, Sequence):
        msg = f"a command's function returns a list of arguments, not {type(made).__name__}"
        raise TypeError(msg)
    arguments = [str(item) for item in made]
    given = _texts(values)
    # The function's own `--` ends the options; one that the model gave does not.
    ended = arguments.count("--") > given.count("--")
    options = arguments[: arguments.index("--")] if ended else arguments
    for text in given:
        # Functions like to strip what they are given.
        if text.strip().startswith("-") and {text, text.strip()} & set(options):
            told = current_wording().surfaces.command_option.format(value=canonical.encode(text))
            raise ToolExecutionError(told)
    if any("\0" in argument for argument in arguments):
        raise ToolExecutionError(current_wording().surfaces.command_nul)
    return arguments


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [str(value)]
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list | tuple | set | frozenset):
        return [text for inner in value for text in _texts(inner)]
    return [str(value)] if isinstance(value, Path) else []


class _Program:
    """Runs one program."""

    def __init__(
        self,
        program: str,
        *,
        meanings: Mapping[int, ExitCode],
        ok_codes: frozenset[int],
        parse_json: bool | None,
        deadline: float,
        max_output: int,
        environment: tuple[str, ...],
        cwd: str | Path | None,
        idempotent: bool,
    ) -> None:
        self._program = program
        self._idempotent = idempotent
        self._meanings = meanings
        self._ok_codes = ok_codes
        self._parse_json = parse_json
        self._deadline = deadline
        self._max_output = max_output
        self._environment = environment
        self._cwd = cwd

    async def run(self, arguments: list[str]) -> Any:
        """What the program printed: a JSON value, or text.

        Raises:
            ToolExecutionError: it failed, in words for the model.
        """
        words = current_wording().surfaces
        environment = allowed_environment(self._environment)
        values = Values(environment)
        command = [_found(self._program, environment), *arguments]
        limit = asyncio.timeout(self._deadline)
        try:
            async with child(command, environment=environment, cwd=self._cwd) as process, limit:
                output, complaints, code = await collect_until_exit(process, self._max_output)
        except FileNotFoundError:
            if self._cwd is not None and not Path(self._cwd).is_dir():
                raise  # it names the folder; the program is where it was
            missing = words.command_missing.format(program=self._program)
            raise ToolExecutionError(missing) from None
        except TimeoutError:
            if not limit.expired():
                raise
            told = words.command_deadline.format(seconds=self._deadline)
            # It may have taken effect before: only what may be repeated is said to help.
            raise ToolExecutionError(told, retryable=self._idempotent) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            told = words.command_not_started.format(program=self._program, reason=reason)
            raise ToolExecutionError(told) from None
        if code not in self._ok_codes:
            raise self._failure(code, output, complaints, values)
        as_json = "--json" in arguments if self._parse_json is None else self._parse_json
        if not as_json:
            text = output.text(lambda dropped: words.code_cut.format(removed=dropped), values)
            return text.removesuffix("\n")
        if output.dropped:
            raise ToolExecutionError(words.command_output.format(limit=self._max_output))
        return self._value(output.text(str, values))

    def _value(self, text: str) -> Any:
        try:
            return canonical.loads(text)
        except EncodingError as error:
            told = current_wording().surfaces.command_not_json.format(error=error)
            raise ToolExecutionError(told) from None

    def _failure(
        self, code: int, output: Capture, complaints: Capture, values: Values
    ) -> ToolExecutionError:
        words = current_wording().surfaces
        known = self._meanings.get(code)
        if known is None and code == _TEMPORARY:
            known = ExitCode(words.command_temporary, retryable=True)
        known = known or ExitCode(words.command_unknown)
        # Some programs complain on standard output.
        said = complaints if complaints.total else output
        detail = said.text(lambda _: "…", values).strip()
        detail = detail if len(detail) <= _DETAIL_CHARS else f"…{detail[-_DETAIL_CHARS:]}"
        text = words.command_failed.format(
            code=code, meaning=known.meaning, detail=f" {detail}" if detail else ""
        )
        return ToolExecutionError(text, retryable=known.retryable)


def _found(program: str, environment: Mapping[str, str]) -> str:
    """The program's path: looked up in the child's PATH, which need not be this process's."""
    if os.sep in program:
        return program
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or ".", program)  # noqa: PTH118 # an empty entry is "here"
        if os.access(path, os.X_OK) and not Path(path).is_dir():
            return path
    told = current_wording().surfaces.command_missing.format(program=program)
    raise ToolExecutionError(told)
