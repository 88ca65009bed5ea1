"""The settings in the ini file: read with their names in errors, and none misspelt.

pytest keeps the file's names to itself (`Config.inicfg` is deprecated), so the file is read
once more, at the path that pytest gives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["check_names", "setting"]


def setting(config: pytest.Config, name: str) -> Any:
    """The value of an ini setting.

    Raises:
        pytest.UsageError: it is not of its kind; says which setting.
    """
    try:
        return config.getini(name)
    except (ValueError, TypeError, pytest.UsageError) as error:
        told = str(error)
        if name not in told:
            told = f"The ini setting {name} cannot be read: {told}"
        if "truth value" in told:
            told += "; write true or false"
        msg = f"{told}."
        raise pytest.UsageError(msg) from None


def check_names(config: pytest.Config, ours: Collection[str]) -> None:
    """Refuse the run if the ini file, or `-o`, has a setting that was meant to be one of ours.

    Args:
        config: the run's; it knows the settings of all plugins.
        ours: the names there are.

    Raises:
        pytest.UsageError: names the setting, and those that it may have been.
    """
    for name in _names(config):
        if _is_known(config, name):
            continue
        from difflib import get_close_matches

        near = get_close_matches(name, ours, n=3, cutoff=0.85)
        if not near and not name.startswith("synaptum_"):
            continue
        meant = f"; did you mean {' or '.join(near)}?" if near else "."
        msg = f"There is no ini setting {name}{meant} Known are {', '.join(sorted(ours))}."
        raise pytest.UsageError(msg)


def _is_known(config: pytest.Config, name: str) -> bool:
    """Whether this plugin or another one declared it, whatever its value."""
    try:
        config.getini(name)
    except ValueError as error:
        return not str(error).startswith("unknown configuration value")
    except (TypeError, pytest.UsageError):
        return True
    return True


def _names(config: pytest.Config) -> Iterator[str]:
    for override in config.getoption("override_ini", None) or ():
        yield override.partition("=")[0].strip()
    path = config.inipath
    if path is None or not path.is_file():
        return
    yield from _of_toml(path) if path.suffix == ".toml" else _of_ini(path)


def _of_ini(path: Path) -> Iterator[str]:
    import iniconfig  # what pytest reads it with

    sections = iniconfig.IniConfig(str(path)).sections
    for section in ("pytest", "tool:pytest"):
        yield from sections.get(section, ())


def _of_toml(path: Path) -> Iterator[str]:
    import tomllib

    value = tomllib.loads(path.read_text(encoding="utf-8"))
    tool = value.get("tool", {}).get("pytest", {})
    for table in (value.get("pytest", {}), tool, tool.get("ini_options", {})):
        yield from table
