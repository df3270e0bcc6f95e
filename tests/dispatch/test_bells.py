import asyncio
import time

import pytest
from structlog.testing import capture_logs

from officeplane.config import Settings
from officeplane.dispatch import Doorbell, Keyspace, RedisUnavailable, open_doorbell
from officeplane.dispatch.commands import packed
from officeplane.domain.hint import Hint
from officeplane.domain.priority import Tier
from officeplane.domain.space import DEFAULT, Space
from tests.dispatch.fixtures import Ask, an_id, some_ids
from tests.dispatch.own_server import OwnServer
from tests.fault_proxy import Direction, FaultProxy
from tests.support import deadline_watch, eventually, stopwatch


async def test_what_is_rung_is_taken_most_urgent_first_and_in_order(doorbell: Doorbell) -> None:
    low, normal, high, critical = some_ids(2), some_ids(3), some_ids(2), some_ids(1)
    hints = [
        Hint(task_id, tier) for tier, ids in zip(Tier, (critical, high, normal, low), strict=True) for task_id in ids
    ]

    assert await doorbell.bells.ring(reversed([*hints[:3], *hints[6:]]))
    assert await doorbell.bells.ring(hints[3:6])

    assert await doorbell.bells.take(100) == [*critical, *high[::-1], *normal, *low[::-1]]


async def test_no_more_are_taken_than_asked_for(doorbell: Doorbell) -> None:
    ids = some_ids(7)
    await doorbell.bells.ring(Hint(task_id, Tier.NORMAL) for task_id in ids)

    assert await doorbell.bells.take(1) == ids[:1]
    assert await doorbell.bells.take(3) == ids[1:4]
    assert await doorbell.bells.take(100) == ids[4:]


@pytest.mark.parametrize("up_to", [0, -1])
async def test_taking_none_pops_none_and_does_not_wait(doorbell: Doorbell, up_to: int) -> None:
    await doorbell.bells.ring([Hint(an_id(), Tier.LOW)])

    assert await doorbell.bells.take(up_to) == []

    assert (await doorbell.bells.depths())[Tier.LOW] == 1


async def test_thousands_are_taken_in_one_round_trip(
    through_proxy: Doorbell, proxy: FaultProxy, doorbell: Doorbell
) -> None:
    ids = some_ids(3000)
    await doorbell.bells.ring(Hint(task_id, Tier.NORMAL) for task_id in ids)
    await through_proxy.bells.take(1)
    proxy.forget()

    assert await through_proxy.bells.take(5000) == ids[1:]

    assert proxy.count(b"\r\nBRPOP\r\n") == proxy.count(b"\r\nEVALSHA\r\n") == 1


async def test_silence_ends_after_a_second_without_hints(doorbell: Doorbell) -> None:
    started = time.monotonic()

    with stopwatch() as seconds:
        assert await doorbell.bells.take(5) == []

        assert seconds() < 1.9
    assert time.monotonic() - started > 0.9
    assert doorbell.availability.available


@pytest.mark.usefixtures("long_silence")
async def test_a_ring_wakes_a_waiting_take(through_proxy: Doorbell, proxy: FaultProxy, doorbell: Doorbell) -> None:
    task_id = an_id()
    taking = asyncio.create_task(through_proxy.bells.take(5))
    await proxy.passed(b"BRPOP")

    await doorbell.bells.ring([Hint(task_id, Tier.LOW)])

    assert await taking == [task_id]


@pytest.mark.usefixtures("long_silence")
async def test_two_takes_at_once_do_not_wait_for_one_another(doorbell: Doorbell) -> None:
    ids = some_ids(2)
    takes = [asyncio.create_task(doorbell.bells.take(1)) for _ in range(2)]

    await doorbell.bells.ring(Hint(task_id, Tier.NORMAL) for task_id in ids)

    assert sorted([taken for take in takes for taken in await take]) == sorted(ids)


async def test_a_take_works_on_a_server_that_has_forgotten_the_scripts(doorbell: Doorbell, ask: Ask) -> None:
    ids = some_ids(5)
    await doorbell.bells.ring(Hint(task_id, Tier.NORMAL) for task_id in ids)
    await ask("SCRIPT", "FLUSH")

    assert await doorbell.bells.take(5) == ids


async def test_ringing_nothing_does_nothing(own_doorbell: Doorbell, server: OwnServer) -> None:
    server.kill()

    assert await own_doorbell.bells.ring([])
    assert own_doorbell.availability.available


@pytest.mark.usefixtures("long_silence")
@pytest.mark.parametrize("moment", ["before the ring", "with the ring", "with the reply"])
async def test_a_cancelled_take_loses_nothing(
    through_proxy: Doorbell, proxy: FaultProxy, doorbell: Doorbell, ask: Ask, keys: Keyspace, moment: str
) -> None:
    """Left alone, redis-py loses a quarter of the ids here."""
    for round_number in range(60):
        proxy.forget()
        proxy.delay_seconds = 0.004
        task_id, tier = an_id(), Tier(round_number % 4)
        taking = asyncio.create_task(through_proxy.bells.take(1 + round_number % 2))
        await proxy.passed(b"BRPOP")

        if moment == "before the ring":
            taking.cancel()
        if moment == "with the ring":
            # The hint may be on its way before the ring is answered; it does not arrive before the take is cancelled.
            proxy.hold(Direction.REPLIES)
        await doorbell.bells.ring([Hint(task_id, tier)])
        if moment == "with the reply":
            await proxy.passed(task_id.encode(), Direction.REPLIES)
        taking.cancel()
        if moment == "with the ring":
            await proxy.heal()

        with pytest.raises(asyncio.CancelledError):
            await taking
        await through_proxy.bells.aclose()
        assert await ask("LRANGE", keys.hint_list(tier), "0", "-1") == [task_id]
        await ask("DEL", keys.hint_list(tier))


@pytest.mark.usefixtures("long_silence")
async def test_what_a_cancelled_take_brings_returns_to_its_own_list(
    through_proxy: Doorbell, proxy: FaultProxy, doorbell: Doorbell
) -> None:
    urgent, waiting = an_id(), an_id()
    taking = asyncio.create_task(through_proxy.bells.take(1))
    await proxy.passed(b"BRPOP")
    proxy.hold(Direction.REPLIES)
    await doorbell.bells.ring([Hint(urgent, Tier.CRITICAL)])
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)
    await doorbell.bells.ring([Hint(waiting, Tier.CRITICAL)])
    await proxy.heal()

    await through_proxy.bells.aclose()

    assert (await doorbell.bells.tails())[DEFAULT, Tier.CRITICAL] == [urgent, waiting]


async def test_closing_waits_for_what_a_cancelled_take_still_brings(
    settings: Settings, proxy: FaultProxy, doorbell: Doorbell
) -> None:
    task_id = an_id()
    async with open_doorbell(settings.model_copy(update={"redis_url": proxy.url(settings.redis_url)})) as leaving:
        taking = asyncio.create_task(leaving.bells.take(1))
        await proxy.passed(b"BRPOP")
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)
        await doorbell.bells.ring([Hint(task_id, Tier.HIGH)])

    assert await doorbell.bells.take(1) == [task_id]


async def test_hints_given_back_are_the_next_to_be_popped(doorbell: Doorbell) -> None:
    ids = some_ids(6)
    tiers = [Tier.HIGH, Tier.HIGH, Tier.NORMAL, Tier.NORMAL, Tier.LOW, Tier.LOW]
    await doorbell.bells.ring(map(Hint, ids, tiers))
    in_hand = await doorbell.bells.take(5)

    assert await doorbell.bells.give_back(in_hand)

    assert await doorbell.bells.depths() == {Tier.CRITICAL: 0, Tier.HIGH: 2, Tier.NORMAL: 2, Tier.LOW: 2}
    assert await doorbell.bells.take(6) == ids


@pytest.mark.parametrize("up_to", [1, 10])
async def test_garbage_on_a_list_is_dropped_and_counted(
    doorbell: Doorbell, ask: Ask, keys: Keyspace, up_to: int
) -> None:
    good = an_id()
    garbage = ["", "null", "{}", good.upper(), good[:-1], f"{good}\n", f" {good}", "x" * 100_000, good.replace("-", "")]
    await ask("LPUSH", keys.hint_list(Tier.NORMAL), *garbage)
    await ask("EVAL", "return redis.call('LPUSH', KEYS[1], '\\0\\255')", "1", keys.hint_list(Tier.NORMAL))
    await doorbell.bells.ring([Hint(good, Tier.NORMAL)])

    with capture_logs() as logs:
        taken: list[str] = []
        while not taken:
            taken = await doorbell.bells.take(up_to)
            if up_to > 1 and not taken:
                taken = await doorbell.bells.take(up_to)

    assert taken == [good]
    assert sum(entry["dropped"] for entry in logs) == len(garbage) + 1
    assert all(entry["event"] == "hint.garbage" and len(entry["example"]) <= 40 for entry in logs)
    assert len(logs) <= (len(garbage) + 1 if up_to == 1 else 2)


@pytest.mark.parametrize("tier", list(Tier))
async def test_a_list_that_is_no_list_is_put_aside_and_work_goes_on(
    doorbell: Doorbell, ask: Ask, keys: Keyspace, tier: Tier
) -> None:
    await ask("SET", keys.hint_list(tier), "not a list")
    task_id = an_id()
    assert not await doorbell.bells.ring([Hint(task_id, tier)])

    with capture_logs() as logs:
        await doorbell.bells.take(1)

    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["hint.list_replaced"]
    assert await ask("GET", keys.set_aside) == "not a list"
    assert await doorbell.bells.ring([Hint(task_id, tier)])
    assert await doorbell.bells.take(1) == [task_id]


async def test_the_tails_are_what_will_be_popped_next(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    ids = some_ids(15)
    await doorbell.bells.ring(Hint(task_id, Tier.NORMAL) for task_id in ids)
    await ask("SET", keys.hint_list(Tier.LOW), "not a list", "PX", "60000")

    assert await doorbell.bells.tails() == {(DEFAULT, tier): ids[:10] if tier is Tier.NORMAL else [] for tier in Tier}
    assert await doorbell.bells.depths() == {Tier.CRITICAL: 0, Tier.HIGH: 0, Tier.NORMAL: 15, Tier.LOW: 0}


@pytest.mark.usefixtures("in_a_hurry")
async def test_a_ring_into_a_black_hole_is_over_in_200_milliseconds(through_proxy: Doorbell, proxy: FaultProxy) -> None:
    proxy.hold()

    with deadline_watch() as seconds:
        assert not await through_proxy.bells.ring([Hint(an_id(), Tier.NORMAL)])

        assert seconds() < 0.35
    assert not through_proxy.availability.available


@pytest.mark.usefixtures("in_a_hurry")
async def test_while_redis_is_lost_rings_cost_nothing(through_proxy: Doorbell, proxy: FaultProxy) -> None:
    proxy.hold()
    await through_proxy.bells.ring([Hint(an_id(), Tier.NORMAL)])

    with deadline_watch() as seconds:
        for _ in range(200):
            assert not await through_proxy.bells.ring([Hint(an_id(), Tier.NORMAL)])

        assert seconds() < 0.5


async def test_a_ring_that_arrives_ends_the_outage(server: OwnServer, own_doorbell: Doorbell) -> None:
    server.kill()
    assert not await own_doorbell.bells.ring([Hint(an_id(), Tier.NORMAL)])
    await server.start()

    async def rung() -> bool:
        return await own_doorbell.bells.ring([Hint(an_id(), Tier.NORMAL)])

    await eventually(rung)

    assert own_doorbell.availability.available


@pytest.mark.usefixtures("long_silence")
async def test_a_take_without_redis_raises_and_the_first_after_it_is_back_succeeds(
    server: OwnServer, own_doorbell: Doorbell
) -> None:
    server.kill()
    for _ in range(2):
        with pytest.raises(RedisUnavailable):
            await own_doorbell.bells.take(1)
    assert not own_doorbell.availability.available
    await server.start()
    taking = asyncio.create_task(own_doorbell.bells.take(1))
    await own_doorbell.availability.wait_regained()
    task_id = an_id()
    await own_doorbell.bells.ring([Hint(task_id, Tier.NORMAL)])

    assert await taking == [task_id]


async def test_a_take_from_a_frozen_server_raises_within_three_seconds(
    server: OwnServer, own_doorbell: Doorbell
) -> None:
    await own_doorbell.connection.probe()
    server.freeze()

    with deadline_watch() as seconds:
        with pytest.raises(RedisUnavailable):
            await own_doorbell.bells.take(1)

        assert seconds() < 3
    server.thaw()


@pytest.mark.usefixtures("long_silence")
async def test_a_connection_killed_while_it_blocks_raises(server: OwnServer, own_doorbell: Doorbell) -> None:
    taking = asyncio.create_task(own_doorbell.bells.take(1))

    async def killed() -> bool:
        (reply,) = await own_doorbell.connection.ask([packed("CLIENT", "LIST")])
        blocked = [line for line in str(reply).splitlines() if "officeplane-blocking" in line and "cmd=brpop" in line]
        for line in blocked:
            await own_doorbell.connection.ask([packed("CLIENT", "KILL", "ID", line.split()[0].removeprefix("id="))])
        return bool(blocked)

    await eventually(killed)

    with pytest.raises(RedisUnavailable):
        await taking
    assert server.port


async def test_a_full_server_does_not_flap_between_lost_and_regained(server: OwnServer, own_doorbell: Doorbell) -> None:
    """A BRPOP succeeds on a server that takes no writes, so it must not count as proof of health."""
    await own_doorbell.connection.ask([packed("CONFIG", "SET", "maxmemory", "1")])

    with capture_logs() as logs:
        assert not await own_doorbell.bells.ring([Hint(an_id(), Tier.NORMAL)])
        for _ in range(5):
            with pytest.raises(RedisUnavailable):
                await own_doorbell.bells.take(1)

    assert [entry["event"] for entry in logs] == ["redis.lost"]
    assert server.port


async def test_without_a_url_nothing_is_rung_and_taking_raises() -> None:
    async with open_doorbell(Settings()) as silent:
        assert not await silent.bells.ring([Hint(an_id(), Tier.NORMAL)])
        assert not await silent.bells.give_back([an_id()])
        with pytest.raises(RedisUnavailable):
            await silent.bells.take(1)
        with pytest.raises(RedisUnavailable):
            await silent.bells.tails()
        assert not silent.availability.available


ACME, EVIL = Space("acme"), Space("evil")


async def test_spaces_take_turns_within_a_tier(doorbell: Doorbell) -> None:
    own, flood, one = some_ids(10), some_ids(50), some_ids(1)
    await doorbell.bells.ring(Hint(task_id, Tier.NORMAL, EVIL) for task_id in flood)
    await doorbell.bells.ring(Hint(task_id, Tier.NORMAL) for task_id in own)
    await doorbell.bells.ring(Hint(task_id, Tier.NORMAL, ACME) for task_id in one)

    taken = [(await doorbell.bells.take(1))[0] for _ in range(5)]

    assert taken == [flood[0], one[0], own[0], flood[1], own[1]]
    assert await doorbell.bells.take(4) == [*flood[2:4], *own[2:4]]


async def test_a_flood_of_the_default_space_hides_nobody_either(doorbell: Doorbell) -> None:
    flood, one = some_ids(500), an_id()
    await doorbell.bells.ring(Hint(task_id, Tier.NORMAL) for task_id in flood)
    await doorbell.bells.ring([Hint(one, Tier.NORMAL, ACME)])

    assert one in await doorbell.bells.take(2)


async def test_urgent_work_of_one_space_goes_before_less_urgent_work_of_another(doorbell: Doorbell) -> None:
    low, high, own = an_id(), an_id(), an_id()
    await doorbell.bells.ring([Hint(low, Tier.LOW, ACME), Hint(own, Tier.NORMAL), Hint(high, Tier.HIGH, EVIL)])

    assert await doorbell.bells.take(10) == [high, own, low]


async def test_a_worker_that_waits_is_woken_by_a_hint_of_another_space(doorbell: Doorbell) -> None:
    task_id = an_id()
    taking = asyncio.create_task(doorbell.bells.take(1))
    await asyncio.sleep(0)

    await doorbell.bells.ring([Hint(task_id, Tier.LOW, ACME)])

    assert await taking == [task_id]


async def test_hints_of_a_space_are_given_back_to_its_list(doorbell: Doorbell) -> None:
    ids = some_ids(3)
    await doorbell.bells.ring(Hint(task_id, Tier.HIGH, ACME) for task_id in ids)
    in_hand = await doorbell.bells.take(2)

    assert await doorbell.bells.give_back(in_hand)

    assert (await doorbell.bells.tails())[ACME, Tier.HIGH] == ids
    assert await doorbell.bells.take(3) == ids


async def test_nothing_is_left_of_spaces_that_have_no_work(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    await doorbell.bells.ring([Hint(an_id(), Tier.LOW, ACME), Hint(an_id(), Tier.LOW)])

    await doorbell.bells.take(2)

    assert await ask("KEYS", f"{keys.prefix}:*") == []


async def test_a_silenced_hint_of_a_space_is_off_its_list(doorbell: Doorbell) -> None:
    one, other = some_ids(2)
    hints = [Hint(task_id, Tier.NORMAL, ACME) for task_id in (one, other)]
    await doorbell.bells.ring(hints)

    await doorbell.bells.silence(hints[:1])

    assert await doorbell.bells.take(2) == [other]


async def test_a_lost_call_keeps_no_space_waiting_for_long(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    ids = some_ids(2)
    await doorbell.bells.ring(Hint(task_id, Tier.LOW, ACME) for task_id in ids)
    await ask("DEL", *keys.wakes)

    # A worker that waited for it in vain looks at the turns when its second is over.
    assert await doorbell.bells.take(1) + await doorbell.bells.take(1) == ids


async def test_a_list_that_lost_its_turn_is_told_as_empty(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    ids = some_ids(2)
    await doorbell.bells.ring([Hint(ids[0], Tier.LOW, ACME), Hint(ids[1], Tier.HIGH, ACME)])
    await ask("DEL", keys.turns[Tier.LOW])

    tails = await doorbell.bells.tails()

    assert (tails[ACME, Tier.LOW], tails[ACME, Tier.HIGH]) == ([], [ids[1]])
    assert await doorbell.bells.ring([Hint(ids[0], Tier.LOW, ACME)])
    assert await doorbell.bells.take(3) == [ids[1], ids[0], ids[0]]


@pytest.mark.parametrize("name", ["turns", "wakes", "list"])
async def test_a_key_of_turns_that_is_no_list_is_put_aside_and_work_goes_on(
    doorbell: Doorbell, ask: Ask, keys: Keyspace, name: str
) -> None:
    key = {"turns": keys.turns[2], "wakes": keys.wakes[2], "list": keys.hint_list(Tier.NORMAL, ACME)}[name]
    hint = Hint(an_id(), Tier.NORMAL, ACME)
    await ask("SET", key, "not a list")
    await doorbell.bells.ring([hint])

    with capture_logs() as logs:
        await doorbell.bells.take(1)
        await doorbell.bells.take(1)

    assert ("hint.list_replaced", key) in [(entry["event"], entry.get("key")) for entry in logs]
    assert await ask("GET", keys.set_aside) == "not a list"
    assert await doorbell.bells.ring([hint])
    assert await doorbell.bells.take(1) == [hint.task_id]


async def test_names_among_the_turns_that_are_none_of_our_lists_are_dropped(
    doorbell: Doorbell, ask: Ask, keys: Keyspace
) -> None:
    task_id, foreign = an_id(), f"{keys.prefix}:foreign"
    await ask("RPUSH", foreign, an_id())
    await doorbell.bells.ring([Hint(task_id, Tier.NORMAL, ACME)])
    await ask("RPUSH", keys.turns[Tier.NORMAL], foreign, "")

    assert await doorbell.bells.take(5) == [task_id]

    assert await ask("LLEN", foreign) == 1
    await ask("DEL", foreign)


async def test_an_installation_with_one_space_asks_redis_for_nothing_more(own_doorbell: Doorbell) -> None:
    # A server counts for all who ask it, and workers that other tests leave idle ask the run's own twice a second.
    connection, bells = own_doorbell.connection, own_doorbell.bells

    async def work_off(count: int) -> None:
        ids = some_ids(count)
        await bells.ring(Hint(task_id, Tier.NORMAL) for task_id in ids)
        assert await bells.take(5) == ids

    # The first take teaches the server the scripts.
    await work_off(1)
    await connection.ask([packed("CONFIG", "RESETSTAT")])

    await work_off(1)
    await work_off(5)

    (stats,) = await connection.ask([packed("INFO", "commandstats")])
    calls = {
        line.split(":")[0].removeprefix("cmdstat_"): int(line.split("calls=")[1].split(",")[0])
        for line in str(stats).splitlines()
        if line.startswith("cmdstat_")
    }
    assert (calls["lpush"], calls["brpop"], calls["evalsha"]) == (2, 2, 2)
    # Of the first take only one look; of the second two and a pop for each tier.
    assert (calls["exists"], calls["rpop"]) == (3, 4)
    assert not calls.keys() & {"lpos", "llen", "lindex"}
