"""Connections to Postgres: what is said of a server that does not answer."""

import asyncio

import pytest

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.store import connection as store_connection
from officeplane.store.connection import Executor, open_ledger, translated
from tests.fault_proxy import Direction, fault_proxy


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


@pytest.mark.parametrize("in_transaction", [False, True], ids=["a statement", "a transaction"])
async def test_whoever_is_cancelled_hears_of_that_and_not_of_a_server_that_went_silent(
    database_url: str, monkeypatch: pytest.MonkeyPatch, *, in_transaction: bool
) -> None:
    """A helper of a worker that drains took it for an outage, and went on; the worker waited for it for ever."""
    monkeypatch.setattr(store_connection, "RELEASE_SECONDS", 0.1)

    async def look(connection: Executor) -> None:
        await connection.fetch("SELECT 'asked'")

    async with fault_proxy(database_url) as proxy, open_ledger(proxy.url(database_url), connections=1) as ledger:
        proxy.drop(Direction.REPLIES)
        asking = asyncio.create_task(ledger.in_transaction(look) if in_transaction else look(ledger))
        await proxy.passed(b"BEGIN" if in_transaction else b"'asked'")

        asking.cancel()

        with pytest.raises(asyncio.CancelledError):
            await asking
        await proxy.heal()
