import pytest

from officeplane.dispatch import Connection, Keyspace
from officeplane.dispatch.pools import Reply
from officeplane.dispatch.scripts import TAKE_HINTS
from officeplane.domain.priority import Tier
from tests.dispatch.fixtures import Ask


async def take(redis: Connection, up_to: int) -> Reply:
    keys = redis.keys
    call = TAKE_HINTS.call(*keys.hint_lists, *keys.turns, keys.set_aside, arguments=(str(up_to), "60000"))
    (reply,) = await redis.ask([call])
    return reply


async def ring(ask: Ask, keys: Keyspace, **lists: str) -> None:
    for name, ids in lists.items():
        await ask("LPUSH", keys.hint_list(Tier[name.upper()]), *ids.split())


async def test_the_most_urgent_are_popped_first_and_each_list_in_its_order(
    redis: Connection, ask: Ask, keys: Keyspace
) -> None:
    await ring(ask, keys, low="l1", normal="n1 n2 n3", high="h1 h2", critical="c1")

    assert await take(redis, 5) == [["c1"], ["h1", "h2"], ["n1", "n2"], [], [], 0]
    assert await take(redis, 5) == [[], [], ["n3"], ["l1"], [], 0]


async def test_empty_lists_give_nothing(redis: Connection) -> None:
    assert await take(redis, 5) == [[], [], [], [], [], 0]


async def test_asking_for_none_pops_none(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await ring(ask, keys, normal="n1")

    assert await take(redis, 0) == [[], [], [], [], [], 0]

    assert await ask("LLEN", keys.hint_list(Tier.NORMAL)) == 1


@pytest.mark.parametrize("up_to", [0, 5])
async def test_a_key_that_is_no_list_is_put_aside_and_the_rest_is_served(
    redis: Connection, ask: Ask, keys: Keyspace, up_to: int
) -> None:
    await ask("SET", keys.hint_list(Tier.HIGH), "what is this")
    await ring(ask, keys, low="l1")

    assert await take(redis, up_to) == [[], [], [], ["l1"] if up_to else [], [2], 0]

    assert await ask("GET", keys.set_aside) == "what is this"
    assert await ask("PTTL", keys.set_aside) != -1
    await ring(ask, keys, high="h1")
    assert await take(redis, 1) == [[], ["h1"], [], [], [], 0]


async def test_many_are_popped_at_once(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    ids = [str(number) for number in range(5000)]
    await ask("LPUSH", keys.hint_list(Tier.NORMAL), *ids)

    assert await take(redis, 9000) == [[], [], ids, [], [], 0]


async def test_where_other_spaces_have_turns_nothing_is_popped(redis: Connection, ask: Ask, keys: Keyspace) -> None:
    await ring(ask, keys, high="h1")
    await ask("LPUSH", keys.turns[Tier.LOW], "some list")

    assert await take(redis, 5) == [[], [], [], [], [], 1]

    assert await ask("LLEN", keys.hint_list(Tier.HIGH)) == 1
    await ask("DEL", *keys.turns)
