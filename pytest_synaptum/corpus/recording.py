"""Recording a case: its asks are put to a live server, in order, and kept as its evidence.

The file is written once, at the end, whole or not at all; secrets are replaced before. What
is asked is what the reference adapter writes today, so that evidence and adapter agree.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Final

from pytest_synaptum.cassette.writing import dump_cassette, write_atomically
from pytest_synaptum.corpus.asking import ask_all, key_for
from pytest_synaptum.corpus.case import Case
from pytest_synaptum.corpus.shape import shown
from pytest_synaptum.errors import PluginError
from pytest_synaptum.passing import passing_error
from pytest_synaptum.redact import Redactor
from synaptum.clock import Clock, SystemClock, isoformat
from synaptum.errors import NetworkError

__all__ = ["record_case"]

#: Answers about the moment, not about the question.
_PASSING: Final = frozenset({429, 502, 503, 504})


def record_case(
    case: Case,
    base_url: str,
    *,
    api_key: str | None = None,
    redactor: Redactor | None = None,
    clock: Clock | None = None,
    before_ask: Callable[[int], str] | None = None,
) -> None:
    """Ask a live server all that `case` asks, and write its `exchange.yaml`.

    Args:
        case: a case of kind `recorded`.
        base_url: such as `http://127.0.0.1:8080/v1`.
        api_key: sent as a bearer token, and never written.
        redactor: what knows the secrets; one of its own by default.
        clock: for the date in the file.
        before_ask: called with each ask's index; gives the base URL to use for it, for
            those who start a fresh server in between.

    Raises:
        PluginError: no answer, one about the moment (429, 502 ...), or no place to write;
            nothing was written.
        SecretFoundError: what came holds a secret that could not be replaced.
    """
    url_for = before_ask or (lambda index: base_url)
    try:
        asked = ask_all(case, url_for, api_key)
    except NetworkError as error:
        msg = (
            f"{case.id}: {base_url} did not answer ({error}); start the server, or correct"
            " --synaptum-base-url. Nothing was written."
        )
        raise PluginError(msg) from None
    redactor = redactor or Redactor()
    for key in (api_key, key_for(case, api_key)):
        if key is not None:
            redactor.learn([("authorization", f"Bearer {key}")])
    for exchange in asked:
        redactor.learn_exchange(exchange)
    exchanges = [redactor.exchange(exchange) for exchange in asked]
    for index, exchange in enumerate(exchanges):
        response = exchange.response
        if response is None:
            continue
        told = passing_error(response)
        if response.status in _PASSING or told is not None:
            inside = f" and an error inside ({told.status or 'that passes'})" if told else ""
            msg = (
                f"{case.id}: ask {index + 1} was answered with status {response.status}{inside},"
                " which says nothing about the question; try again. Nothing was written."
            )
            raise PluginError(msg)
    recorded = {
        "at": isoformat((clock or SystemClock()).now_s()),
        "server": case.source.server or "",
        "model": case.source.model or "",
        "plugin": version("pytest-synaptum"),
    }
    text = dump_cassette(exchanges, recorded)
    where = shown(case.exchange_path)
    redactor.scan(exchanges, where)
    try:
        write_atomically(case.exchange_path, text)
    except OSError as error:
        msg = (
            f"The evidence {where} cannot be written ({error.strerror}); the old one is as it was."
            " Make its folder writable and record again."
        )
        raise PluginError(msg) from None
