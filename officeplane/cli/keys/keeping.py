"""What `officeplane keys` does on the ledger, and in whose name."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from officeplane.cli.environment import read_settings, require_database
from officeplane.cli.exits import RefusedError, UsageError
from officeplane.cli.ledger import check_ledger, unreachable
from officeplane.cli.spans import seconds_in
from officeplane.cli.user import user_name
from officeplane.domain.api_key import ApiKey
from officeplane.domain.errors import (
    ApiKeyNotFoundError,
    DatabaseUnavailableError,
    InvalidRequestError,
    OfficePlaneError,
)
from officeplane.domain.ids import KeyId
from officeplane.domain.narrowing import ALL_AFTER, Entries
from officeplane.domain.principal import LOCAL, Principal
from officeplane.domain.priority import LEAST_URGENT, PRIORITY_NAMES
from officeplane.services.access.api_keys import ApiKeys, KeyChanges, MadeKey
from officeplane.store.connection import Ledger, open_ledger

_PAGE: Final = 500
Result = TypeVar("Result")


def me() -> Principal:
    """Return whoever types: the database lets him, so he may do everything."""
    return replace(LOCAL, on_behalf_of=user_name())


def time_ahead(option: str, given: str) -> datetime:
    """Return when a span of time is over that begins now."""
    return datetime.now(UTC) + timedelta(seconds=seconds_in(option, given))


def on_keys(work: Callable[[ApiKeys], Awaitable[Result]]) -> Result:
    """Do something with the keys of the ledger that this process's environment leads to."""
    return on_ledger(lambda ledger: work(ApiKeys(ledger)))


def on_ledger(work: Callable[[Ledger], Awaitable[Result]]) -> Result:
    """Do something with that ledger, and say what it refuses as a command does."""
    settings = check_ledger(require_database(read_settings()))

    async def done() -> Result:
        async with open_ledger(settings.database_url, connections=1) as ledger:
            return await work(ledger)

    try:
        return asyncio.run(done())
    except DatabaseUnavailableError as error:
        raise unreachable(settings, error) from None
    except InvalidRequestError as error:
        raise UsageError(str(error)) from None
    except OfficePlaneError as error:
        refusal = RefusedError(str(error))
        refusal.problem = json.dumps({"code": error.code, "detail": str(error)})
        raise refusal from None


async def all_keys(keys: ApiKeys, space: str | None) -> list[ApiKey]:
    """Return all keys that there are or were, of one space or of all."""
    found: list[ApiKey] = []
    after: KeyId | None = None
    while page := await keys.page(me(), after, _PAGE, space=space):
        found += page
        after = page[-1].id
    return found


async def updated(
    keys: ApiKeys, which: str, space: str, changes: KeyChanges, limits: Mapping[str, int | None]
) -> ApiKey:
    """Change the key of a name or an id; of its quotas only those that are named."""
    try:
        key = await keys.find(me(), which, space)
        if limits:
            changes = {**changes, "quotas": replace(key.quotas, **limits)}
        return await keys.change(me(), key.id, changes)
    except ApiKeyNotFoundError:
        raise ApiKeyNotFoundError(which) from None


def entries(given: Sequence[str] | None) -> Entries:
    """Return a list that narrows a key, None if there is none; `*` alone is none either."""
    return None if not given or list(given) == [ALL_AFTER] else tuple(given)


def most_urgent(given: str) -> int:
    """Return the number of a priority."""
    if given.upper() in PRIORITY_NAMES:
        return PRIORITY_NAMES[given.upper()]
    if given.isdecimal() and given.isascii() and int(given) <= LEAST_URGENT:
        return int(given)
    message = f"--max-priority: {given!r} is neither one of {', '.join(PRIORITY_NAMES)} nor a number from 0 to 100."
    raise UsageError(message)


async def rotated(keys: ApiKeys, which: str, space: str, overlap_seconds: float) -> MadeKey:
    """Replace the key of a name or an id."""
    try:
        return await keys.rotate(me(), (await keys.find(me(), which, space)).id, overlap_seconds)
    except ApiKeyNotFoundError:
        # Of an expired key the id is known and the name as well: say the one that was typed.
        raise ApiKeyNotFoundError(which) from None
