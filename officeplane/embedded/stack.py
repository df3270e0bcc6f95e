"""Postgres and Valkey together, on one data folder, for as long as somebody is inside the context."""

import os
import pwd
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from officeplane.embedded.account import is_open_to_nobody_alone
from officeplane.embedded.binaries import find_valkey
from officeplane.embedded.cluster import APP_USER, DATABASE, USER
from officeplane.embedded.errors import EmbeddedError
from officeplane.embedded.installation import remembered_installation, sole_use
from officeplane.embedded.postgres import prepare_postgres
from officeplane.embedded.server import ServerProcess
from officeplane.embedded.valkey import prepare_valkey
from officeplane.embedded.watchdog import Watchdog

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class EmbeddedStack:
    """Two servers that answer; `watchdog` ends them, and what else it is told of, if this process dies."""

    database_url: str = field(repr=False)
    """As the owner of everything in it; what only reads and writes rows takes `app_url`."""
    app_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    postgres: ServerProcess
    valkey: ServerProcess
    watchdog: Watchdog


@asynccontextmanager
async def embedded_stack(
    data_dir: Path, *, durable: bool = True, postgres_port: int | None = None, valkey_port: int | None = None
) -> AsyncGenerator[EmbeddedStack]:
    """Both servers on the folder's data, made at the first time, found again later; stopped on leaving.

    Without `durable` nothing is flushed to disk: for tests.
    """
    async with AsyncExitStack() as leaving:
        try:
            stack = await _start(
                data_dir, leaving, durable=durable, postgres_port=postgres_port, valkey_port=valkey_port
            )
        except OSError as error:
            message = f"the data folder {data_dir} cannot be used: {error.strerror or error}"
            raise EmbeddedError(message) from error
        yield stack


async def await_predecessor(data_dir: Path) -> None:
    """Wait until all that a killed predecessor had started is gone; refuse if one is alive."""
    if data_dir.exists():
        async with sole_use(_made(data_dir)):
            pass


async def _start(
    data_dir: Path, leaving: AsyncExitStack, *, durable: bool, postgres_port: int | None, valkey_port: int | None
) -> EmbeddedStack:
    folder = _made(data_dir)
    lock = await leaving.enter_async_context(sole_use(folder))
    known = remembered_installation(folder, postgres_port=postgres_port, valkey_port=valkey_port)
    watchdog = leaving.enter_context(Watchdog(inherits=(lock,)))
    postgres = await prepare_postgres(folder, known.postgres_port, known.postgres_password, watchdog, durable=durable)
    valkey = prepare_valkey(
        folder, known.valkey_port, known.valkey_password, watchdog, program=find_valkey(), durable=durable
    )
    for server in (postgres, valkey):
        leaving.push_async_callback(server.stop)
        await server.start()
    at = f"127.0.0.1:{known.postgres_port}/{DATABASE}"
    return EmbeddedStack(
        database_url=f"postgresql://{USER}:{known.postgres_password}@{at}",
        app_url=f"postgresql://{APP_USER}:{known.app_password}@{at}",
        redis_url=f"redis://:{known.valkey_password}@127.0.0.1:{known.valkey_port}/0",
        postgres=postgres,
        valkey=valkey,
        watchdog=watchdog,
    )


def _made(data_dir: Path) -> Path:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        message = f"the data folder {data_dir} cannot be made: {error.strerror}"
        raise EmbeddedError(message) from error
    _refuse_if_somebody_elses(data_dir)
    _close_to_others(data_dir)
    return data_dir.resolve()


def _refuse_if_somebody_elses(data_dir: Path) -> None:
    """Refuse a folder whose owner could put links in it: what they lead to would be written to and given away."""
    owner = data_dir.stat().st_uid
    if owner != os.geteuid():
        message = f"the data folder {data_dir} belongs to {_name_of(owner)}: run as that user, or choose another folder"
        raise EmbeddedError(message)


def _name_of(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def _close_to_others(data_dir: Path) -> None:
    """See that nobody else gets into a folder that was there before; one that may be used for more is only told of."""
    found = data_dir.stat()
    if not found.st_mode & 0o077 or is_open_to_nobody_alone(found):
        return
    if (data_dir / "installation.json").exists() or not any(data_dir.iterdir()):
        data_dir.chmod(0o700)
    else:
        _log.warning("data_dir.open_to_others", folder=str(data_dir), mode=f"{found.st_mode & 0o777:o}")
