from collections.abc import Sequence

import pytest

from officeplane.dispatch import Connection, Keyspace
from officeplane.dispatch.pools import Reply
from officeplane.dispatch.scripts import RELEASE_LOCK
from officeplane.domain.priority import Tier
from officeplane.domain.space import Space
from tests.dispatch.fixtures import Ask, an_id


async def release(redis: Connection, value: str, *, lists: Sequence[str] = ()) -> Reply:
    keys = redis.keys
    (reply,) = await redis.ask(
        [RELEASE_LOCK.call(keys.lock("d"), keys.parked("d"), *(lists or keys.hint_lists), arguments=(value,))]
    )
    return reply


async def a_lock(ask: Ask, keys: Keyspace, value: str, parked: str = "") -> None:
    await ask("SET", keys.lock("d"), value, "PX", "60000")
    if parked:
        await ask("SET", keys.parked("d"), parked, "PX", "60000")


async def test_a_held_lock_is_given_back(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await a_lock(ask, keys, "w:1")

    assert await release(redis, "w:1") == [1, -1]

    assert await ask("EXISTS", keys.lock("d")) == 0


@pytest.mark.parametrize("tier", list(Tier))
async def test_the_parked_hint_goes_to_the_popping_end_of_its_list(
    redis: Connection, ask: Ask, keys: Keyspace, tier: Tier
) -> None:
    waiting, parked = an_id(), an_id()
    await ask("LPUSH", keys.hint_list(tier), waiting)
    await a_lock(ask, keys, "w:1", f"{int(tier)}:{parked}")

    assert await release(redis, "w:1") == [1, int(tier)]

    assert await ask("EXISTS", keys.parked("d")) == 0
    assert await ask("RPOP", keys.hint_list(tier), "9") == [parked, waiting]


async def test_a_lock_that_another_holds_is_untouched_and_its_hint_stays_parked(
    redis: Connection, ask: Ask, keys: Keyspace
) -> None:
    await a_lock(ask, keys, "w:2", "2:x")

    assert await release(redis, "w:1") == [0, -1]

    assert await ask("GET", keys.lock("d")) == "w:2"
    assert await ask("GET", keys.parked("d")) == "2:x"
    assert await ask("EXISTS", *keys.hint_lists) == 0


async def test_releasing_twice_rings_once(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await a_lock(ask, keys, "w:1", "2:x")

    assert await release(redis, "w:1") == [1, 2]
    assert await release(redis, "w:1") == [0, -1]

    assert await ask("LRANGE", keys.hint_list(Tier.NORMAL), "0", "-1") == ["x"]


async def test_a_hint_parked_behind_a_lock_that_lapsed_is_rung(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await ask("SET", keys.parked("d"), "0:x", "PX", "60000")

    assert await release(redis, "w:1") == [0, 0]

    assert await ask("LRANGE", keys.hint_list(Tier.CRITICAL), "0", "-1") == ["x"]


@pytest.mark.parametrize("parked", ["garbage", "9:x", ":x", "2:"])
async def test_a_parked_value_that_cannot_be_read_is_dropped(
    redis: Connection, ask: Ask, keys: Keyspace, parked: str
) -> None:
    await a_lock(ask, keys, "w:1", parked)

    assert await release(redis, "w:1") == [1, -1]

    assert await ask("EXISTS", keys.parked("d"), *keys.hint_lists) == 0


async def test_a_list_that_is_no_list_does_not_keep_the_lock(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await a_lock(ask, keys, "w:1", "2:x")
    await ask("SET", keys.hint_list(Tier.NORMAL), "x", "PX", "60000")

    assert await release(redis, "w:1") == [1, -1]

    assert await ask("EXISTS", keys.lock("d")) == 0


async def test_keys_of_another_type_are_nobodys(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await ask("LPUSH", keys.lock("d"), "x")
    await ask("LPUSH", keys.parked("d"), "x")

    assert await release(redis, "w:1") == [0, -1]

    assert await ask("EXISTS", keys.lock("d")) == 0
    await ask("DEL", keys.parked("d"))


async def test_where_spaces_take_turns_the_space_of_the_parked_hint_has_one(
    redis: Connection, ask: Ask, keys: Keyspace
) -> None:
    of_space = keys.hint_lists_of(Space("acme"))
    for parked in ("1:x", "1:y"):
        await a_lock(ask, keys, "w:1", parked)
        assert await release(redis, "w:1", lists=[*of_space, *keys.turns, *keys.wakes]) == [1, 1]

    assert await ask("LRANGE", of_space[Tier.HIGH], "0", "-1") == ["x", "y"]
    assert await ask("LRANGE", keys.turns[Tier.HIGH], "0", "-1") == [of_space[Tier.HIGH]]
    assert await ask("LLEN", keys.wakes[Tier.HIGH]) == 1
