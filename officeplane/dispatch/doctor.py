"""What there is to know about an installation's Redis; facts only, `officeplane doctor` judges them."""

import time
from dataclasses import dataclass

from officeplane.config import Settings
from officeplane.dispatch.availability import Availability, RedisUnavailable
from officeplane.dispatch.commands import packed
from officeplane.dispatch.connection import Connection
from officeplane.dispatch.keys import Keyspace

PINGS = 5


@dataclass(frozen=True, slots=True)
class RedisFacts:
    """How the server is set up, and how long it takes to answer."""

    product: str
    version: str
    compatible_with: tuple[int, ...]
    role: str
    maxmemory: int
    maxmemory_policy: str
    append_only: bool
    latency_seconds: float


async def examine_redis(settings: Settings) -> RedisFacts:
    """Return how the server is set up; `RedisUnavailable` says in one line why that is not known."""
    try:
        connection = Connection(settings.redis_url, Keyspace(settings.key_prefix), Availability())
    except ValueError as error:
        message = f"the URL cannot be understood: {error}"
        raise RedisUnavailable(message) from error
    try:
        (info,) = await connection.ask([packed("INFO")])
        return _facts(str(info), await _latency_seconds(connection))
    finally:
        await connection.aclose()


async def _latency_seconds(connection: Connection) -> float:
    """Return the best of a few round trips; the connection is already open."""
    best = float("inf")
    for _ in range(PINGS):
        started = time.perf_counter()
        await connection.ask([packed("PING")])
        best = min(best, time.perf_counter() - started)
    return best


def _facts(info: str, latency_seconds: float) -> RedisFacts:
    values = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
    compatible_with = values.get("redis_version", "0")
    valkey = values.get("valkey_version")
    return RedisFacts(
        product="Redis" if valkey is None else "Valkey",
        version=valkey or compatible_with,
        compatible_with=tuple(int(part) for part in compatible_with.split(".") if part.isdecimal()),
        role=values.get("role", ""),
        maxmemory=int(values.get("maxmemory", 0)),
        maxmemory_policy=values.get("maxmemory_policy", ""),
        append_only=values.get("aof_enabled") == "1",
        latency_seconds=latency_seconds,
    )
