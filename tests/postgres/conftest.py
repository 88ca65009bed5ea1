"""The PostgreSQL suite runs where SYNAPTUM_TEST_POSTGRES names a server.

`scripts/postgres-suite` starts one and sets it.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

CONNINFO = os.environ.get("SYNAPTUM_TEST_POSTGRES")


def pytest_collection_modifyitems(items):
    if CONNINFO:
        return
    reason = "needs PostgreSQL: run scripts/postgres-suite, or set SYNAPTUM_TEST_POSTGRES"
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def database():
    """A new empty database; its connection string."""
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg 3")
    name = f"synaptum_{uuid.uuid4().hex}"
    with psycopg.connect(CONNINFO, dbname="postgres", autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
    yield psycopg.conninfo.make_conninfo(CONNINFO, dbname=name)
    with psycopg.connect(CONNINFO, dbname="postgres", autocommit=True) as admin:
        admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
