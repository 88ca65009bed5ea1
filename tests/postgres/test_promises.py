"""PostgreSQL is held to what every store promises, and to runs that are the same after a kill."""

import pytest
from support.resumable import check, everything, script_of_everything

from pytest_synaptum import CheckpointerContract, Stop
from synaptum.journal.postgres import PostgresCheckpointer


class TestPostgres(CheckpointerContract):
    @pytest.fixture(autouse=True)
    def _with_database(self, database):
        self.database = database

    def open_store(self, folder):
        # Killing at every write opens a folder each; the runs there are the same one.
        import hashlib

        import psycopg

        name = "f" + hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{name}"')
        options = f"-c search_path={name}"
        return PostgresCheckpointer(psycopg.conninfo.make_conninfo(self.database, options=options))


def test_a_run_in_postgres_is_the_same_after_every_stop(database):
    report = check(
        everything,
        model=script_of_everything(),
        checkpointer=lambda: PostgresCheckpointer(database),
        stops=set(Stop) - {Stop.ENDED},
        sample=12,
    )

    assert report.ok, str(report)
    assert Stop.KILLED_EFFECT in {cell.stop for cell in report.cells}
