"""What a run was asked to do: command line, environment and ini, as one frozen value.

The command line wins over the environment, which wins over the ini file. The key is never
kept here: `Options.api_key` reads its variable when it is needed, so that no repr of the
options can show it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_synaptum.ini_file import check_names, setting
from pytest_synaptum.marker import check_paths

__all__ = ["Options", "add_options", "collect_corpus", "given_server", "in_ci", "read_options"]

_FLAGS = {
    "record": "Record the tests whose cassette is absent, and corpus cases without an exchange.",
    "rerecord": "Rewrite the cassette of every selected test, and say what changed.",
    "update": "Write the goldens of the tests that ran.",
    "strict": "Unused exchanges, cassettes and goldens fail (the default when CI is set).",
    "force": "Record or update although CI is set; keep answers of status 429 and 5xx.",
}
_VALUES = {
    "base_url": ("URL", "The live server to record from (also SYNAPTUM_BASE_URL)."),
    "model": (
        "NAME",
        "The live server's model (also SYNAPTUM_MODEL); a .gguf file with --synaptum-server=local.",
    ),
    "server": ("local", "Start the embedded server and record from it."),
    "corpus": ("DIR", "A corpus to collect, wherever it lies, beside the tests."),
    "report": ("FILE.html", "Write the run as one HTML page that opens offline."),
}
_INI_ONLY = ("api_key_variable", "ignore", "keep_headers", "allow_network")
#: Every ini setting there is.
_INI = tuple(f"synaptum_{name}" for name in (*_FLAGS, *_VALUES, "provider", *_INI_ONLY))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings of this run.

    Attributes:
        api_key_variable: name of the environment variable that holds the live server's key.
        strict_by_ci: whether it is strict only because `CI` is set.
        corpus: a corpus to collect beside the tests; None for none.
        ignore: paths in a request body that do not count when matching, for every test.
        keep_headers: names of header fields of answers that are kept besides the usual ones.
        allow_network: whether the socket guard is off for every test.
    """

    record: bool = False
    rerecord: bool = False
    update: bool = False
    strict: bool = False
    strict_by_ci: bool = False
    force: bool = False
    base_url: str | None = None
    model: str | None = None
    server: str | None = None
    corpus: str | None = None
    report: str | None = None
    providers: tuple[str, ...] = ()
    api_key_variable: str = "SYNAPTUM_API_KEY"
    ignore: tuple[str, ...] = ()
    keep_headers: tuple[str, ...] = ()
    allow_network: bool = False

    @property
    def api_key(self) -> str | None:
        """The live server's key, read from the environment now."""
        return os.environ.get(self.api_key_variable) or None

    @property
    def recording(self) -> bool:
        """Whether this run may ask a live server."""
        return self.record or self.rerecord


def in_ci(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether `CI` is set to anything but a word for no."""
    return environ.get("CI", "").strip().lower() not in {"", "0", "false", "no"}


def add_options(parser: pytest.Parser) -> None:
    """Declare the command line and its ini twins."""
    group = parser.getgroup("synaptum", "synaptum: record, replay and check LLM exchanges")
    for name, text in _FLAGS.items():
        # default None, not False: the ini may still decide
        group.addoption(_flag(name), action="store_true", default=None, help=text)
        parser.addini(f"synaptum_{name}", text, type="bool", default=None)
    for name, (metavar, text) in _VALUES.items():
        choices = ["local"] if name == "server" else None
        group.addoption(_flag(name), metavar=metavar, default=None, help=text, choices=choices)
        parser.addini(f"synaptum_{name}", text, default=None)
    text = "Adapter that the corpus cases test: a name or module:object; repeatable."
    group.addoption(
        "--synaptum-provider",
        metavar="NAME|module:object",
        action="append",
        default=None,
        help=text,
    )
    parser.addini("synaptum_provider", text, type="linelist", default=[])
    parser.addini(
        "synaptum_api_key_variable",
        "Environment variable that holds the live server's key.",
        default="SYNAPTUM_API_KEY",
    )
    parser.addini(
        "synaptum_ignore",
        "Paths in request bodies that do not count when matching, such as messages.*.id.",
        type="linelist",
        default=[],
    )
    parser.addini(
        "synaptum_keep_headers",
        "Header fields of answers that are kept besides the usual ones, such as x-ratelimit-reset.",
        type="linelist",
        default=[],
    )
    parser.addini(
        "synaptum_allow_network",
        "Let every test open sockets to anywhere (default: loopback only).",
        type="bool",
        default=False,
    )


def read_options(config: pytest.Config) -> Options:
    """Put command line, environment and ini together.

    Raises:
        pytest.UsageError: the settings cannot stand together; one sentence says why.
    """
    check_names(config, _INI)
    environ = os.environ

    def value(name: str) -> str | None:
        named = config.getoption(_flag(name)) or environ.get(f"SYNAPTUM_{name.upper()}", "")
        chosen = named or setting(config, f"synaptum_{name}")
        return str(chosen) if chosen else None

    def given(name: str) -> bool | None:
        for one in (config.getoption(_flag(name)), setting(config, f"synaptum_{name}")):
            if one is not None:
                return bool(one)
        return None

    def flag(name: str) -> bool:
        return given(name) or False

    server = config.getoption("--synaptum-server") or setting(config, "synaptum_server") or None
    if server not in {None, "local"}:
        msg = f"synaptum_server is {server!r}; the only server this plugin can start is 'local'."
        raise pytest.UsageError(msg)
    base_url, server = _one_of(config, value("base_url"), server)
    options = Options(
        record=flag("record"),
        rerecord=flag("rerecord"),
        update=flag("update"),
        strict=in_ci() if given("strict") is None else flag("strict"),
        strict_by_ci=given("strict") is None and in_ci(),
        force=flag("force"),
        base_url=base_url,
        model=value("model"),
        server=server,
        corpus=config.getoption("--synaptum-corpus") or _path(config, "synaptum_corpus"),
        report=config.getoption("--synaptum-report") or setting(config, "synaptum_report") or None,
        providers=tuple(
            config.getoption("--synaptum-provider") or setting(config, "synaptum_provider")
        ),
        api_key_variable=str(setting(config, "synaptum_api_key_variable")),
        ignore=tuple(setting(config, "synaptum_ignore")),
        keep_headers=tuple(setting(config, "synaptum_keep_headers")),
        allow_network=bool(setting(config, "synaptum_allow_network")),
    )
    check_paths(options.ignore, "In the ini setting synaptum_ignore")
    _refuse_in_ci(options)
    return options


def _one_of(
    config: pytest.Config, base_url: str | None, server: str | None
) -> tuple[str | None, str | None]:
    """The address or the embedded server, whichever stands nearer to the command line.

    Raises:
        pytest.UsageError: both stand in the same place.
    """
    if base_url is None or server is None:
        return base_url, server
    by_option = [config.getoption(_flag(name)) is not None for name in ("base_url", "server")]
    by_environment = bool(os.environ.get("SYNAPTUM_BASE_URL"))
    if by_option[0] == by_option[1] and (by_option[0] or not by_environment):
        names = ("--synaptum-server=local", "--synaptum-base-url")
        if not by_option[0]:
            names = ("synaptum_server", "synaptum_base_url")
        msg = (
            f"{names[0]} starts a server of its own and {names[1]} names another; take one of them."
        )
        raise pytest.UsageError(msg)
    return (None, server) if by_option[1] else (base_url, None)


def given_server(config: pytest.Config) -> list[str]:
    """The arguments of this command line that say who is asked, for a command to be typed again.

    What environment and ini file say holds for the next command, too. A key that an address
    holds, in its user or its query, is left out.
    """
    arguments = []
    for name in ("server", "base_url", "model"):
        value = config.getoption(_flag(name))
        if value and name == "base_url":
            value = re.sub(r"(?<=//)[^/]*@", "", re.split(r"[?#]", value)[0])
        if value:
            arguments.append(f"{_flag(name)}={value}")
    return arguments


def collect_corpus(config: pytest.Config, corpus: str) -> None:
    """Let pytest collect a corpus that lies elsewhere.

    One of the command line always; one of the ini file where no paths were named.

    Raises:
        pytest.UsageError: there is no such folder.
    """
    if not Path(corpus).is_dir():
        msg = f"--synaptum-corpus: there is no folder {corpus}; name the one with flags.yaml."
        raise pytest.UsageError(msg)
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    if corpus not in config.args and (config.getoption("--synaptum-corpus") or not named):
        config.args.append(corpus)


def _path(config: pytest.Config, name: str) -> str | None:
    """A path of the ini file, from the folder that the file is in."""
    value = setting(config, name)
    return str((config.inipath or config.rootpath / "ini").parent / value) if value else None


def _refuse_in_ci(options: Options) -> None:
    if options.force or not in_ci():
        return
    for name in ("record", "rerecord", "update"):
        if getattr(options, name):
            msg = (
                f"{_flag(name)} is refused because CI is set: in CI nothing is recorded or"
                " written; run it on your machine and commit the files, or add"
                " --synaptum-force if you mean it."
            )
            raise pytest.UsageError(msg)


def _flag(name: str) -> str:
    return "--synaptum-" + name.replace("_", "-")
