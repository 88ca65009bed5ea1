"""`Skills`: instructions in folders, read when they are needed.

A skill is a folder with a `SKILL.md` (front matter, then the instructions) and the files that
the instructions refer to. A model is told names and descriptions up front, some 100 tokens a
skill; the instructions come by one tool when asked for, the files by a second.

Skills are prompts, and a prompt enforces nothing: what must hold is a policy or a check in a
tool. Nothing here is ever run; a script in a skill's folder is a text to read. Trust the source
of a skill as you would that of code, and read it whole before a model does.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from synaptum.errors import ConfigurationError
from synaptum.surfaces.front_matter import read_front_matter
from synaptum.tools.base import Tool
from synaptum.tools.function import tool
from synaptum.vocabulary import ToolResult
from synaptum.wording import ENGLISH, Wording, current_wording

__all__ = ["Skill", "Skills"]

_FILE: Final = "SKILL.md"
#: Names of the open format: lower case, digits and single hyphens, at most 64 characters.
_NAME: Final = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")
_MAX_DESCRIPTION: Final = 1_024
#: Largest file given, in bytes: more is data, and a tool's work.
_MAX_FILE: Final = 1_000_000
_ARGUMENT: Final = re.compile(r"\$0(?![0-9A-Za-z_])")


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill.

    Attributes:
        name, description: what a model is told up front.
        text: the instructions, as in the file below the front matter.
        folder: where its files are.
        extra: the other keys of the front matter, in order, as text.
    """

    name: str
    description: str
    text: str
    folder: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    def filled(self, argument: str = "") -> str:
        """The instructions with `$0` replaced by the argument; as they are without one."""
        return _ARGUMENT.sub(lambda _: argument, self.text) if argument else self.text

    def files(self) -> list[str]:
        """Its files but for `SKILL.md`, as paths inside of the folder, sorted.

        Files are what can be read: no pipe, no socket, no link to nothing or out of the folder.
        """
        found = []
        for root, folders, names in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in names:
                path = Path(root) / name
                if not name.startswith(".") and self._can_give(path):
                    found.append(path.relative_to(self.folder).as_posix())
        return sorted(path for path in found if path != _FILE)

    def holds(self, path: Path) -> bool:
        """Whether a path ends inside of the folder, links followed.

        Raises:
            ValueError, RuntimeError: it is no path, or (before Python 3.13) a link to itself.
        """
        return path.resolve().is_relative_to(self.folder.resolve())

    def _can_give(self, path: Path) -> bool:
        try:
            return self.holds(path) and path.is_file()
        except (OSError, RuntimeError):
            return False


class Skills:
    """The skills of a folder, read once: `Agent(tools=[*Skills("skills").tools, ...])`.

    Args:
        folder: holds a folder for each skill, or is one itself.
        wording: of the two tools' descriptions, which are part of the prefix.

    Raises:
        ConfigurationError: no skill is there, one is wrong (names file and line), or two have
            one name.
    """

    def __init__(self, folder: str | Path, *, wording: Wording = ENGLISH) -> None:
        folder = Path(folder)
        files = (
            [folder / _FILE] if (folder / _FILE).is_file() else sorted(folder.glob(f"*/{_FILE}"))
        )
        if not files:
            msg = f"There is no skill in {folder}: a skill is a folder with a {_FILE}."
            raise ConfigurationError(msg)
        self._skills: dict[str, Skill] = {}
        for file in files:
            skill = _read(file)
            if skill.name in self._skills:
                other = self._skills[skill.name].folder
                msg = f"{file}: a skill of {other} is called {skill.name!r} too; rename one."
                raise ConfigurationError(msg)
            self._skills[skill.name] = skill
        self._wording = wording
        self._tools = self._made()

    def __iter__(self) -> Any:
        return iter(self._skills.values())

    def __len__(self) -> int:
        return len(self._skills)

    def __repr__(self) -> str:
        return f"Skills({list(self._skills)})"

    def __getitem__(self, name: str) -> Skill:
        return self._skills[name]

    @property
    def tools(self) -> tuple[Tool, Tool]:
        """`read_skill(name, argument)` and `read_skill_file(name, path)`: both read only."""
        return self._tools

    @property
    def overview(self) -> str:
        """A line for each skill, as the first tool's description has them."""
        return "\n".join(f"- {skill.name}: {skill.description}" for skill in self)

    def _made(self) -> tuple[Tool, Tool]:
        words = self._wording.surfaces
        read_skill = tool(
            self._read_skill,
            name="read_skill",
            idempotent=True,
            description=words.skill_description.format(skills=self.overview),
            parameters=_parameters(["name"], name=words.skill_name, argument=words.skill_argument),
        )
        read_skill_file = tool(
            self._read_skill_file,
            name="read_skill_file",
            idempotent=True,
            description=words.file_description,
            parameters=_parameters(["name", "path"], name=words.skill_name, path=words.file_path),
        )
        return read_skill, read_skill_file

    def _read_skill(self, name: str, argument: str = "") -> str | ToolResult:
        skill = self._skills.get(name)
        return self._unknown(name) if skill is None else skill.filled(argument)

    def _read_skill_file(self, name: str, path: str) -> str | ToolResult:
        skill = self._skills.get(name)
        if skill is None:
            return self._unknown(name)
        words = current_wording().surfaces
        wanted = skill.folder / path
        try:
            if not skill.holds(wanted):
                return _error(words.file_outside.format(path=path))
            if not wanted.is_file():
                files = ", ".join(skill.files()) or "-"
                return _error(words.file_missing.format(path=path, files=files))
            data = wanted.read_bytes() if wanted.stat().st_size <= _MAX_FILE else b"\xff"
            return data.decode("utf-8")
        # Not UTF-8, not readable, a NUL in the path; a link to itself, before Python 3.13.
        except (OSError, ValueError, RuntimeError):
            return _error(words.file_unreadable.format(path=path))

    def _unknown(self, name: str) -> ToolResult:
        words = current_wording().surfaces
        return _error(words.skill_unknown.format(name=name, skills=", ".join(self._skills)))


def _read(file: Path) -> Skill:
    try:
        mode = file.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # reading a pipe would wait for ever
            msg = f"{file} is no file that can be read, but a pipe or a device; remove it."
            raise ConfigurationError(msg)
        if file.stat().st_size > _MAX_FILE:
            msg = f"{file} is larger than {_MAX_FILE} bytes, which no instructions are."
            raise ConfigurationError(msg)
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        msg = f"{file} is not UTF-8 text (byte {error.start}); save it as such."
        raise ConfigurationError(msg) from None
    except OSError as error:
        msg = f"{file} cannot be read ({error.strerror}); check that it is a file, and its rights."
        raise ConfigurationError(msg) from None
    keys, body = read_front_matter(text, str(file))
    for key in ("name", "description"):
        if not keys.get(key, "").strip():
            msg = f"{file}, line 1: the front matter has no {key}, which every skill needs."
            raise ConfigurationError(msg)
    lines = {key: number for number, key in enumerate(keys, start=2)}
    name, description = keys.pop("name"), keys.pop("description")
    if not _NAME.fullmatch(name):
        msg = (
            f"{file}, line {lines['name']}: {name!r} is no skill's name; it has at most 64 lower"
            " case letters, digits and single hyphens."
        )
        raise ConfigurationError(msg)
    if len(description) > _MAX_DESCRIPTION:
        msg = (
            f"{file}, line {lines['description']}: the description has {len(description)}"
            f" characters, and {_MAX_DESCRIPTION} are read up front by every run; move the rest"
            " into the text."
        )
        raise ConfigurationError(msg)
    if not body.strip():
        msg = f"{file}: there are no instructions below the front matter."
        raise ConfigurationError(msg)
    return Skill(name, description, body, file.parent, keys)


def _parameters(required: list[str], **described: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": text}
            | ({} if name in required else {"default": ""})
            for name, text in described.items()
        },
        "required": required,
        "additionalProperties": False,
    }


def _error(text: str) -> ToolResult:
    return ToolResult.of("", text, is_error=True)
