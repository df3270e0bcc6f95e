import pytest

from officeplane.dispatch import Connection, Keyspace
from officeplane.dispatch.pools import Reply
from officeplane.dispatch.scripts import ACQUIRE_LOCK
from officeplane.domain.priority import Tier
from tests.dispatch.fixtures import Ask, an_id

TTL = 60_000


async def acquire(redis: Connection, value: str, *, hint: str = "", tier: Tier = Tier.NORMAL, ttl: int = TTL) -> Reply:
    call = ACQUIRE_LOCK.call(
        redis.keys.lock("d"),
        redis.keys.parked("d"),
        arguments=(value, str(ttl), str(int(tier)), hint or an_id()),
    )
    (reply,) = await redis.ask([call])
    return reply


async def milliseconds_left(ask: Ask, key: str) -> int:
    left = await ask("PTTL", key)
    assert isinstance(left, int)
    return left


async def test_a_free_lock_is_taken_for_its_ttl(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    assert await acquire(redis, "w:1") == 1

    assert await ask("GET", keys.lock("d")) == "w:1"
    assert TTL - 5_000 < await milliseconds_left(ask, keys.lock("d")) <= TTL
    assert await ask("EXISTS", keys.parked("d")) == 0


async def test_a_lock_that_another_holds_is_refused_and_untouched(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await acquire(redis, "w:1", ttl=10_000)

    assert await acquire(redis, "w:2") == 0

    assert await ask("GET", keys.lock("d")) == "w:1"
    assert await milliseconds_left(ask, keys.lock("d")) <= 10_000


async def test_a_refused_hint_is_parked_at_least_as_long_as_the_lock(
    redis: Connection, ask: Ask, keys: Keyspace
) -> None:
    await acquire(redis, "w:1", ttl=90_000)
    hint = an_id()

    await acquire(redis, "w:2", hint=hint, tier=Tier.HIGH, ttl=20_000)

    assert await ask("GET", keys.parked("d")) == f"1:{hint}"
    assert await milliseconds_left(ask, keys.parked("d")) > 80_000


async def test_a_lock_without_ttl_does_not_park_a_hint_for_ever(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await ask("SET", keys.lock("d"), "somebody")

    assert await acquire(redis, "w:2") == 0

    assert 0 < await milliseconds_left(ask, keys.parked("d")) <= TTL
    await ask("DEL", keys.lock("d"))


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (Tier.NORMAL, Tier.CRITICAL, "second"),
        (Tier.CRITICAL, Tier.NORMAL, "first"),
        (Tier.LOW, Tier.LOW, "first"),
        (Tier.LOW, Tier.NORMAL, "second"),
    ],
)
async def test_the_more_urgent_hint_stays_parked(
    redis: Connection, ask: Ask, keys: Keyspace, first: Tier, second: Tier, kept: str
) -> None:
    hints = {"first": an_id(), "second": an_id()}
    await acquire(redis, "w:1")

    await acquire(redis, "w:2", hint=hints["first"], tier=first)
    await acquire(redis, "w:3", hint=hints["second"], tier=second)

    tier = first if kept == "first" else second
    assert await ask("GET", keys.parked("d")) == f"{int(tier)}:{hints[kept]}"


async def test_parking_again_prolongs_the_hint_that_stays(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await acquire(redis, "w:1", ttl=5_000)
    await acquire(redis, "w:2", tier=Tier.CRITICAL, ttl=5_000)

    await acquire(redis, "w:3", tier=Tier.LOW, ttl=50_000)

    assert await milliseconds_left(ask, keys.parked("d")) > 40_000


@pytest.mark.parametrize("parked", ["", "7:x", "garbage", "NORMAL:1"])
async def test_a_parked_value_that_cannot_be_read_gives_way(
    redis: Connection, ask: Ask, keys: Keyspace, parked: str
) -> None:
    hint = an_id()
    await acquire(redis, "w:1")
    await ask("SET", keys.parked("d"), parked)

    await acquire(redis, "w:2", hint=hint, tier=Tier.LOW)

    assert await ask("GET", keys.parked("d")) == f"3:{hint}"


async def test_a_parked_key_of_another_type_gives_way(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    hint = an_id()
    await acquire(redis, "w:1")
    await ask("LPUSH", keys.parked("d"), "x")

    assert await acquire(redis, "w:2", hint=hint) == 0

    assert await ask("GET", keys.parked("d")) == f"2:{hint}"


async def test_asking_again_with_the_same_value_is_granted_and_parks_nothing(
    redis: Connection, ask: Ask, keys: Keyspace
) -> None:
    await acquire(redis, "w:1", ttl=5_000)

    assert await acquire(redis, "w:1", ttl=50_000) == 1

    assert await milliseconds_left(ask, keys.lock("d")) > 40_000
    assert await ask("EXISTS", keys.parked("d")) == 0


async def test_a_lock_key_that_is_no_string_is_nobodys_lock(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await ask("LPUSH", keys.lock("d"), "x")

    assert await acquire(redis, "w:1") == 1

    assert await ask("GET", keys.lock("d")) == "w:1"


async def test_a_hint_parked_behind_a_lapsed_hold_waits_for_the_next_release(
    redis: Connection, ask: Ask, keys: Keyspace
) -> None:
    await acquire(redis, "w:1")
    await acquire(redis, "w:2")
    await ask("DEL", keys.lock("d"))

    assert await acquire(redis, "w:3") == 1

    assert await ask("EXISTS", keys.parked("d")) == 1
