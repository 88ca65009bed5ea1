"""Who knows the secrets of a run and of a test: project, environment, and the requests sent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from pytest_synaptum.redact import Redactor
from pytest_synaptum.session import session_of

__all__ = ["REDACTOR", "named_by", "redactor_of", "redactor_of_test"]

#: The redactor of a test that records, replays or checks goldens.
REDACTOR = pytest.StashKey[Redactor]()


def redactor_of(config: pytest.Config) -> Redactor:
    """What replaces secrets in this run: those of the project, of the environment, and shapes."""
    options = session_of(config).options
    secrets = named_by(config.hook.pytest_synaptum_redact(config=config))
    return Redactor(secrets, (options.api_key_variable,), keep_headers=options.keep_headers)


def redactor_of_test(item: pytest.Item) -> Redactor:
    """The redactor that all of a test shares, so that one part knows what another learnt."""
    if REDACTOR not in item.stash:
        item.stash[REDACTOR] = redactor_of(item.config)
    return item.stash[REDACTOR]


def named_by(answers: Iterable[Any]) -> list[Any]:
    """What the implementations of a hook named; one that gives a single thing is understood."""
    return [
        one
        for named in answers
        for one in ([named] if isinstance(named, str | re.Pattern) else named)
    ]
