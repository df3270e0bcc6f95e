"""What the tests of dispatch and of the scripts start from."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from officeplane.config import Settings
from officeplane.dispatch import Availability, Connection, Doorbell, Keyspace, announcements, bells, open_doorbell
from officeplane.dispatch.commands import packed
from officeplane.dispatch.pools import Reply
from tests.dispatch.own_server import OwnServer, own_server
from tests.fault_proxy import FaultProxy, fault_proxy

Ask = Callable[..., Awaitable[Reply]]


RING_SECONDS, ANNOUNCE_SECONDS = bells.RING_SECONDS, announcements.ANNOUNCE_SECONDS


@pytest.fixture(autouse=True)
def what_is_said_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server that stands still for a moment be waited for, where it is not the deadline that is tried."""
    monkeypatch.setattr(bells, "RING_SECONDS", 5.0)
    monkeypatch.setattr(announcements, "ANNOUNCE_SECONDS", 5.0)


@pytest.fixture
def in_a_hurry(monkeypatch: pytest.MonkeyPatch, what_is_said_arrives: None) -> None:
    """Give up on what is said as soon as the product does."""
    monkeypatch.setattr(bells, "RING_SECONDS", RING_SECONDS)
    monkeypatch.setattr(announcements, "ANNOUNCE_SECONDS", ANNOUNCE_SECONDS)


@pytest.fixture
def long_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a take wait for a hint as long as the test takes to ring it."""
    monkeypatch.setattr(bells, "BLOCK_SECONDS", 10)


def an_id() -> str:
    """A task id."""
    return str(uuid.uuid4())


def some_ids(count: int) -> list[str]:
    """That many task ids."""
    return [an_id() for _ in range(count)]


@pytest.fixture
def keys() -> Keyspace:
    """A keyspace that no other test uses."""
    return Keyspace(f"test-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def settings(redis_url: str, keys: Keyspace) -> Settings:
    return Settings(redis_url=redis_url, key_prefix=keys.prefix)


@pytest.fixture
async def doorbell(settings: Settings) -> AsyncIterator[Doorbell]:
    async with open_doorbell(settings) as opened:
        yield opened


@pytest.fixture
async def redis(redis_url: str, keys: Keyspace) -> AsyncIterator[Connection]:
    """A connection of the test's own, beside what it tests."""
    connection = Connection(redis_url, keys, Availability())
    yield connection
    await connection.aclose()


@pytest.fixture
def ask(redis: Connection) -> Ask:
    """Sends one command and gives its reply."""

    async def send(*arguments: str) -> Reply:
        (reply,) = await redis.ask([packed(*arguments)])
        return reply

    return send


@pytest.fixture
async def proxy(redis_url: str) -> AsyncIterator[FaultProxy]:
    async with fault_proxy(redis_url) as opened:
        yield opened


@pytest.fixture
async def through_proxy(proxy: FaultProxy, settings: Settings) -> AsyncIterator[Doorbell]:
    """A doorbell whose every byte passes the proxy."""
    async with open_doorbell(settings.model_copy(update={"redis_url": proxy.url(settings.redis_url)})) as opened:
        yield opened


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[OwnServer]:
    """A server of the test's own, running."""
    async with own_server(tmp_path) as made:
        await made.start()
        yield made


@pytest.fixture
async def own_doorbell(server: OwnServer) -> AsyncIterator[Doorbell]:
    async with open_doorbell(Settings(redis_url=server.url)) as opened:
        yield opened


@pytest.fixture(autouse=True)
async def nothing_is_left_for_ever(ask: Ask, keys: Keyspace) -> AsyncIterator[None]:
    """Every key that a test leaves has a TTL or is a hint list."""
    yield
    left = await ask("KEYS", f"{keys.prefix}:*")
    assert isinstance(left, list)
    for key in left:
        assert isinstance(key, str)
        lasting = await ask("PTTL", key) == -1
        is_list = key in {*keys.hint_lists, *keys.turns, *keys.wakes} or key.startswith(keys.spaces)
        assert not lasting or (is_list and await ask("TYPE", key) == "list"), f"{key} is left for ever"
        await ask("DEL", key)
