"""The doorbell: everything a process does with Redis, opened and closed in one place."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from officeplane.config import Settings
from officeplane.dispatch.announcements import Announcements
from officeplane.dispatch.availability import Availability
from officeplane.dispatch.bells import Bells
from officeplane.dispatch.connection import Connection
from officeplane.dispatch.keys import Keyspace
from officeplane.dispatch.locks import Locks


@dataclass(frozen=True, slots=True)
class Doorbell:
    """What dispatch offers; without a Redis URL it is all there and permanently unavailable."""

    connection: Connection
    availability: Availability
    bells: Bells
    locks: Locks
    announcements: Announcements


@asynccontextmanager
async def open_doorbell(settings: Settings) -> AsyncGenerator[Doorbell, None]:
    """Give the doorbell of these settings; nothing is dialled before it is used, and Redis may be down."""
    availability = Availability(configured=bool(settings.redis_url))
    connection = Connection(settings.redis_url, Keyspace(settings.key_prefix), availability)
    bells = Bells(connection)
    announcements = Announcements(connection)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(connection.aclose)
        closing.push_async_callback(bells.aclose)
        closing.push_async_callback(announcements.aclose)
        yield Doorbell(
            connection,
            availability,
            bells,
            Locks(connection, settings.lock_ttl_seconds),
            announcements,
        )
