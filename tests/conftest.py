"""Servers for the whole run: one embedded stack, one database in it, one number of Valkey's.

Under xdist every worker process has its own of each. Nothing here is kept or flushed to disk.
"""

import os
import secrets
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg
import pytest
from hypothesis import HealthCheck, settings

from officeplane.embedded.stack import EmbeddedStack, embedded_stack
from officeplane.store.migrate import migrate
from tests.forks import Forks
from tests.forks import forks as serving_forks
from tests.kept import keep, kept
from tests.logs import secrets_below

# A machine that stands still in the middle of an example is nobody's fault.
settings.register_profile("patient", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

_LONGEST: Final = (
    "chaos/test_chaos.py", "api/test_openapi_fuzz.py", "failpoints/*.py", "journeys/*.py", "cli/*.py", "workers/*.py",
)  # fmt: skip

NewDatabase = Callable[[], Awaitable[str]]


def pytest_configure() -> None:
    """Keep the settings of the developer's shell out of the tests, and what it does about Ctrl-C."""
    for name in list(os.environ):
        if name.startswith("OFFICEPLANE_") and name != "OFFICEPLANE_PG_BIN":
            del os.environ[name]
    # Nor what a developer runs in this folder.
    os.environ["OFFICEPLANE_DATA_DIR"] = os.devnull
    # And nothing of the tests is noted in the developer's home.
    os.environ["XDG_STATE_HOME"] = os.devnull
    # What a script starts in the background is born deaf to it, and so would be every command that is tested.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that nobody waits for it at the end."""

    def turn(item: pytest.Item) -> int:
        return next((turn for turn, files in enumerate(_LONGEST) if item.path.match(files)), len(_LONGEST))

    items.sort(key=turn)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder that every user gets to; those of pytest are closed, and closed again by every other run of it."""
    with TemporaryDirectory(prefix="officeplane-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="session")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedStack]:
    """The servers of this run."""
    folder: Path = tmp_path_factory.mktemp("stack")
    async with embedded_stack(folder, durable=False) as servers, kept():
        yield servers
    # Whatever the tests of this run have started, none of it wrote down what it was trusted with.
    words = {url: urlsplit(url).password or "" for url in (servers.database_url, servers.redis_url)}
    assert secrets_below(tmp_path_factory.getbasetemp(), words) == []


@pytest.fixture(scope="session")
async def forks(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Forks]:
    """A way to start processes of the product that need no second to import what they are made of."""
    async with serving_forks(tmp_path_factory.mktemp("forks")) as serving:
        yield serving


def as_role(database_url: str, role: str, password: str) -> str:
    """Return the same database's URL for another role."""
    parts = urlsplit(database_url)
    address = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{quote(role, safe='')}:{quote(password, safe='')}@{address}"))


@pytest.fixture(scope="session")
def new_database(stack: EmbeddedStack) -> NewDatabase:
    """Makes one more, empty, database on the run's server and gives its URL."""

    async def make() -> str:
        name = f"test_{secrets.token_hex(6)}"
        connection = await asyncpg.connect(stack.database_url)
        try:
            await connection.execute(f'CREATE DATABASE "{name}"')
        finally:
            await connection.close()
        url = urlunsplit(urlsplit(stack.database_url)._replace(path=f"/{name}"))
        keep(url)
        return url

    return make


@pytest.fixture(scope="session")
async def database_url(new_database: NewDatabase) -> str:
    """The run's migrated database."""
    url = await new_database()
    await migrate(url)
    return url


@pytest.fixture(scope="session")
def redis_url(stack: EmbeddedStack) -> str:
    """The run's own number of Valkey's databases."""
    return urlunsplit(urlsplit(stack.redis_url)._replace(path="/1"))
