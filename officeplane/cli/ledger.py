"""The ledger as an entry point needs it: it lets us in, and its schema is that of this version."""

import asyncio

from officeplane.cli.exits import RefusedError, UnreachableError
from officeplane.cli.texts import without_secrets
from officeplane.config import Settings
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.store.doctor import NotLetInError, connected, examine_schema


def unreachable(settings: Settings, error: DatabaseUnavailableError) -> UnreachableError:
    """Return how to say that Postgres does not answer."""
    return UnreachableError(f"No answer from {without_secrets(settings.database_url)}: {error}")


def check_ledger(settings: Settings, *, may_come_later: bool = False) -> Settings:
    """Return the same settings, when work can begin on the database that they name."""
    try:
        asyncio.run(_check_schema(settings))
    except DatabaseUnavailableError as error:
        if isinstance(error, NotLetInError) or not may_come_later:
            raise unreachable(settings, error) from None
    return settings


async def _check_schema(settings: Settings) -> None:
    async with connected(settings.database_url) as connection:
        schema = await examine_schema(connection)
    if schema.changed is not None:
        raise RefusedError(schema.changed)
    if schema.pending:
        raise RefusedError(f"The database lacks {', '.join(schema.pending)}: run `officeplane migrate` first.")
