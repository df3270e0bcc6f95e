import asyncio
import uuid

import pytest

from officeplane.config import Settings
from officeplane.dispatch import Doorbell, Hold, Keyspace, LockRequest, Locks, RedisUnavailable, Released, open_doorbell
from officeplane.domain.priority import Tier
from tests.dispatch.fixtures import Ask, an_id
from tests.dispatch.own_server import OwnServer
from tests.fault_proxy import Direction, FaultProxy
from tests.support import eventually


def a_hold(document_id: str = "d", worker_id: str = "host:1:abc") -> Hold:
    return Hold(document_id, worker_id, str(uuid.uuid4()))


def a_request(hold: Hold, hint: str = "", tier: Tier = Tier.NORMAL) -> LockRequest:
    return LockRequest(hold, hint or an_id(), tier)


async def test_of_many_requests_each_document_goes_to_one(doorbell: Doorbell) -> None:
    holds = [a_hold(f"d{number % 40}", f"w{number}") for number in range(400)]

    groups = [holds[start : start + 40] for start in range(0, 400, 40)]
    answers = await asyncio.gather(*(doorbell.locks.acquire([a_request(hold) for hold in group]) for group in groups))

    held = [
        hold
        for group, answer in zip(groups, answers, strict=True)
        for hold, got in zip(group, answer, strict=True)
        if got
    ]
    assert len(held) == 40
    assert await doorbell.locks.holders([hold.document_id for hold in held]) == [hold.value for hold in held]


async def test_a_value_names_the_worker_and_the_hold(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    hold = a_hold()

    assert await doorbell.locks.acquire([a_request(hold)]) == [True]

    assert await ask("GET", keys.lock("d")) == f"host:1:abc:{hold.hold_id}"


async def test_a_refused_hint_comes_back_with_the_release(doorbell: Doorbell) -> None:
    holder, hint = a_hold(), an_id()
    await doorbell.locks.acquire([a_request(holder)])

    assert await doorbell.locks.acquire([a_request(a_hold(), hint, Tier.HIGH)]) == [False]
    assert await doorbell.bells.depths() == dict.fromkeys(Tier, 0)
    assert await doorbell.locks.release([holder]) == [Released(matched=True, rung=Tier.HIGH)]

    assert await doorbell.bells.take(5) == [hint]


async def test_an_acquisition_whose_reply_was_lost_may_be_repeated(
    through_proxy: Doorbell, proxy: FaultProxy, doorbell: Doorbell
) -> None:
    await through_proxy.connection.probe()
    request = a_request(a_hold())
    proxy.drop(Direction.REPLIES)
    with pytest.raises(RedisUnavailable):
        await through_proxy.locks.acquire([request])
    await proxy.heal()
    assert await doorbell.locks.holders(["d"]) == [request.hold.value]

    assert await through_proxy.locks.acquire([request]) == [True]


async def test_a_release_of_anothers_lock_changes_nothing(doorbell: Doorbell) -> None:
    holder = a_hold()
    await doorbell.locks.acquire([a_request(holder), a_request(a_hold())])

    assert await doorbell.locks.release([a_hold()]) == [Released(matched=False, rung=None)]

    assert await doorbell.locks.holders(["d"]) == [holder.value]
    assert await doorbell.bells.depths() == dict.fromkeys(Tier, 0)


async def test_an_earlier_hold_of_the_same_worker_is_another_hold(doorbell: Doorbell) -> None:
    earlier, later = a_hold(), a_hold()
    await doorbell.locks.acquire([a_request(later)])

    assert await doorbell.locks.acquire([a_request(earlier)]) == [False]
    assert await doorbell.locks.renew([earlier]) == [False]
    assert await doorbell.locks.release([earlier]) == [Released(matched=False, rung=None)]


async def test_renewing_keeps_takes_again_or_refuses(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    kept, lost, taken = a_hold("kept"), a_hold("lost"), a_hold("taken")
    await doorbell.locks.acquire([a_request(hold) for hold in (kept, lost, taken)])
    await ask("PEXPIRE", keys.lock("kept"), "5000")
    await ask("DEL", keys.lock("lost"), keys.lock("taken"))
    await doorbell.locks.acquire([a_request(a_hold("taken"))])

    assert await doorbell.locks.renew([kept, lost, taken]) == [True, True, False]

    left = await ask("PTTL", keys.lock("kept"))
    assert isinstance(left, int)
    assert left > 500_000


async def test_the_ttl_is_that_of_the_settings_in_fractions_too(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    locks, request = Locks(doorbell.connection, 0.75), a_request(a_hold())

    async def left() -> int:
        """Return how long the lock is held once it is taken, unless that time is over when it is asked for."""
        await locks.acquire([request])
        milliseconds = await ask("PTTL", keys.lock("d"))
        assert isinstance(milliseconds, int)
        return max(milliseconds, 0)

    assert await eventually(left) <= 750


async def test_an_orphan_is_released_by_the_value_that_was_seen(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    hint = an_id()
    await ask("SET", keys.lock("d"), "whatever", "PX", "60000")
    await doorbell.locks.acquire([a_request(a_hold(), hint)])
    (seen,) = await doorbell.locks.holders(["d"])
    assert seen is not None

    assert await doorbell.locks.release_by_value([("d", seen)]) == [Released(matched=True, rung=Tier.NORMAL)]

    assert await doorbell.bells.take(1) == [hint]


async def test_holders_tell_free_from_held(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    hold = a_hold("held")
    await doorbell.locks.acquire([a_request(hold)])
    await ask("RPUSH", keys.lock("strange"), "x")

    assert await doorbell.locks.holders(["free", "held", "strange"]) == [None, hold.value, None]
    await ask("DEL", keys.lock("strange"))


async def test_nothing_asked_for_costs_no_round_trip(own_doorbell: Doorbell, server: OwnServer) -> None:
    server.kill()
    locks = own_doorbell.locks

    assert [await locks.acquire([]), await locks.renew([]), await locks.release([]), await locks.holders([])] == [
        []
    ] * 4


async def test_without_redis_no_lock_is_ever_held(own_doorbell: Doorbell, server: OwnServer) -> None:
    server.kill()

    for attempt in (
        own_doorbell.locks.acquire([a_request(a_hold())]),
        own_doorbell.locks.renew([a_hold()]),
        own_doorbell.locks.release([a_hold()]),
        own_doorbell.locks.holders(["d"]),
    ):
        with pytest.raises(RedisUnavailable):
            await attempt


async def test_without_a_url_no_lock_is_ever_held() -> None:
    async with open_doorbell(Settings()) as silent:
        with pytest.raises(RedisUnavailable):
            await silent.locks.acquire([a_request(a_hold())])


async def test_a_prefix_with_a_hash_tag_works(settings: Settings, keys: Keyspace, ask: Ask) -> None:
    tagged = settings.model_copy(update={"key_prefix": f"{keys.prefix}:{{op}}"})
    async with open_doorbell(tagged) as doorbell:
        hold, hint = a_hold(), an_id()

        await doorbell.locks.acquire([a_request(hold), a_request(a_hold(), hint)])
        await doorbell.locks.release([hold])

        assert await ask("LRANGE", f"{keys.prefix}:{{op}}:tasks", "0", "-1") == [hint]
        assert await doorbell.bells.take(1) == [hint]
