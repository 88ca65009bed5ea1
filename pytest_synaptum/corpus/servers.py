"""Which live server a case is recorded from, set up as the case needs it.

The embedded server is started for each case, so that what one case leaves in the prompt cache
never shows in another. A server of the user's is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from pytest_synaptum.corpus.case import Case
from pytest_synaptum.errors import PluginError
from pytest_synaptum.live import live_server
from pytest_synaptum.session import Session

__all__ = ["EMBEDDED", "embedded_for", "servers_for"]

#: Who the embedded server is, in the words of `source.server`.
EMBEDDED: Final = "llama.cpp"
#: What a case can need of the embedded server; `corpus/FORMAT.md` explains each.
_NEEDS: Final = ("fresh_server", "n_ctx", "template")


@contextmanager
def servers_for(case: Case, session: Session) -> Iterator[Callable[[int], str]]:
    """A function from an ask's index to the base URL to use for it.

    Raises:
        PluginError: there is no live server, or none that the case can be recorded from.
    """
    options = session.options
    if options.base_url is not None or options.server != "local":
        url = live_server(session, options.base_url, options.model).base_url
        yield lambda index: url
        return
    with embedded_for(case, options.model) as url_for:
        yield url_for


@contextmanager
def embedded_for(case: Case, model: str | None) -> Iterator[Callable[[int], str]]:
    """Embedded servers as a case needs them; a function from an ask's index to the base URL.

    Raises:
        PluginError: it cannot run, or the case needs what it cannot give.
    """
    from pytest_synaptum.local_server import LocalServer

    settings = _settings(case)
    if case.source.server != EMBEDDED:
        msg = (
            f"{case.id} is recorded from {case.source.server}, and the embedded server is"
            f" {EMBEDDED}; name the right one with --synaptum-base-url."
        )
        raise PluginError(msg)
    each = case.needs.get("fresh_server") == "each"
    with ExitStack() as running:
        current = running.enter_context(LocalServer(model, **settings))

        def url_for(index: int) -> str:
            nonlocal current
            if each and index:
                running.close()
                current = running.enter_context(LocalServer(model, **settings))
            return current.base_url

        yield url_for


def _settings(case: Case) -> dict[str, Any]:
    for key in case.needs:
        if key not in _NEEDS:
            msg = (
                f"{case.id}: it needs {key!r}, which the embedded server cannot give (it knows"
                f" {', '.join(_NEEDS)}); record it from a server that can, with"
                " --synaptum-base-url."
            )
            raise PluginError(msg)
    settings: dict[str, Any] = {"template": case.needs.get("template")}
    if "n_ctx" in case.needs:
        settings["n_ctx"] = case.needs["n_ctx"]
    return settings
