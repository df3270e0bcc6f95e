from officeplane.dispatch import Connection, Keyspace
from officeplane.dispatch.pools import Reply
from officeplane.dispatch.scripts import RENEW_LOCK
from tests.dispatch.fixtures import Ask


async def renew(redis: Connection, value: str) -> Reply:
    call = RENEW_LOCK.call(redis.keys.lock("d"), redis.keys.parked("d"), arguments=(value, "60000"))
    (reply,) = await redis.ask([call])
    return reply


async def test_a_held_lock_and_its_parked_hint_live_on(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await ask("SET", keys.lock("d"), "w:1", "PX", "5000")
    await ask("SET", keys.parked("d"), "2:x", "PX", "5000")

    assert await renew(redis, "w:1") == 1

    for key in (keys.lock("d"), keys.parked("d")):
        left = await ask("PTTL", key)
        assert isinstance(left, int)
        assert left > 50_000
    assert await ask("GET", keys.parked("d")) == "2:x"


async def test_a_lock_that_another_holds_is_refused_and_untouched(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await ask("SET", keys.lock("d"), "w:2", "PX", "5000")
    await ask("SET", keys.parked("d"), "2:x", "PX", "5000")

    assert await renew(redis, "w:1") == 0

    assert await ask("GET", keys.lock("d")) == "w:2"
    for key in (keys.lock("d"), keys.parked("d")):
        left = await ask("PTTL", key)
        assert isinstance(left, int)
        assert left <= 5000


async def test_a_lost_lock_is_taken_again_if_free(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    assert await renew(redis, "w:1") == 1

    assert await ask("GET", keys.lock("d")) == "w:1"
    assert await ask("PTTL", keys.lock("d")) != -1
    assert await ask("EXISTS", keys.parked("d")) == 0


async def test_a_lock_key_that_is_no_string_is_taken_over(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await ask("LPUSH", keys.lock("d"), "x")

    assert await renew(redis, "w:1") == 1

    assert await ask("GET", keys.lock("d")) == "w:1"
