"""Connections to Postgres: what is said of a server that does not answer."""

import pytest

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.store.connection import open_ledger, translated


def test_a_server_that_hangs_is_told_of_in_words() -> None:
    with pytest.raises(DatabaseUnavailableError, match=r"TimeoutError: no answer in time$"), translated():
        raise TimeoutError


async def test_however_long_a_statement_is_it_is_prepared_once(database_url: str) -> None:
    statement = f"SELECT 1 -- {'long ' * 10_000}"
    async with open_ledger(database_url, connections=1) as ledger, ledger.transaction() as connection:
        for _ in range(3):
            await connection.fetch(statement)
        prepared = await connection.fetch(
            "SELECT generic_plans + custom_plans AS runs FROM pg_prepared_statements WHERE statement = $1", statement
        )

    assert [row["runs"] for row in prepared] == [3]
