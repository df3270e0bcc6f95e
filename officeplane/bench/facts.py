"""Facts: the machine, the servers and the libraries that figures belong to."""

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from officeplane.bench import processor, redis_counters
from officeplane.bench.servers import Servers
from officeplane.cores import cores

_SETTINGS: Final = (
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "shared_buffers",
    "max_wal_size",
)
_LIBRARIES: Final = (
    "officeplane",
    "asyncpg",
    "redis",
    "hiredis",
    "uvloop",
    "fastapi",
    "uvicorn",
    "pydantic",
    "lxml",
    "python-docx",
    "openpyxl",
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What to say with every figure."""

    cores: int
    processor: str | None
    system: str
    python: str
    postgres: str
    postgres_settings: dict[str, str]
    redis: str
    redis_append_only: bool
    libraries: dict[str, str]


async def gather(servers: Servers) -> Facts:
    """Ask the machine and both servers."""
    settings = await servers.admin.fetch(
        "SELECT name, current_setting(name) AS value FROM pg_settings WHERE name = ANY($1::text[]) ORDER BY name",
        _SETTINGS,
    )
    server = await redis_counters.info(servers.doorbell.connection, "server")
    persistence = await redis_counters.info(servers.doorbell.connection, "persistence")
    return Facts(
        cores=cores(),
        processor=processor.model(),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        postgres=str(await servers.admin.fetchval("SHOW server_version")),
        postgres_settings={row["name"]: row["value"] for row in settings},
        redis=f"Valkey {server['valkey_version']}"
        if "valkey_version" in server
        else f"Redis {server['redis_version']}",
        redis_append_only=persistence.get("aof_enabled") == "1",
        libraries={name: version(name) for name in _LIBRARIES},
    )
