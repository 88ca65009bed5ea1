"""The PostgreSQL store without psycopg installed."""

from __future__ import annotations

import sys

import pytest

from synaptum.errors import ConfigurationError
from synaptum.journal.postgres import PostgresCheckpointer


def test_without_psycopg_the_store_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigurationError, match=r"pytest-synaptum\[postgres\]"):
        PostgresCheckpointer("host=/nowhere")
