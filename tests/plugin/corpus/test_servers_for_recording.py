"""Which live server a case is recorded from."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.loopback import LoopbackServer

from pytest_synaptum.corpus.case import Ask, Case, Source
from pytest_synaptum.corpus.servers import servers_for
from pytest_synaptum.errors import PluginError
from pytest_synaptum.options import Options
from pytest_synaptum.session import Session

CASE = Case(
    folder=Path("corpus/openai_chat/somewhere/hello"),
    id="openai_chat/somewhere/hello",
    summary="It says hello.",
    kind="recorded",
    flags=(),
    source=Source(date="2026-01-02", server="somewhere", model="m"),
    asks=(Ask(), Ask()),
)


def session(pytestconfig: pytest.Config, **options: Any) -> Session:
    return Session(pytestconfig, Options(**options))


def test_a_server_of_the_users_is_asked_every_time(pytestconfig: pytest.Config) -> None:
    with LoopbackServer() as server:
        options = {"base_url": server.base_url, "server": "local"}
        with servers_for(CASE, session(pytestconfig, **options)) as url_for:
            assert [url_for(0), url_for(1)] == [server.base_url, server.base_url]


def test_a_need_that_the_embedded_server_cannot_meet_is_named(
    pytestconfig: pytest.Config,
) -> None:
    case = replace(CASE, needs={"gpu": True})

    with (
        pytest.raises(PluginError, match=r"hello: it needs 'gpu'.*--synaptum-base-url"),
        servers_for(case, session(pytestconfig, server="local")),
    ):
        pass


def test_without_any_server_the_way_to_one_is_named(pytestconfig: pytest.Config) -> None:
    with (
        pytest.raises(PluginError, match="--synaptum-server=local"),
        servers_for(CASE, session(pytestconfig)),
    ):
        pass
