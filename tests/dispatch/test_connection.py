"""The traps of redis-py, and how failures become one error."""

import asyncio
import time

import pytest

from officeplane.dispatch import Availability, Connection, Doorbell, Keyspace, RedisUnavailable
from officeplane.dispatch.commands import packed
from officeplane.dispatch.pools import open_pool
from tests.dispatch.fixtures import Ask
from tests.dispatch.own_server import OwnServer
from tests.fault_proxy import Direction, FaultProxy
from tests.support import deadline_watch, eventually, stopwatch

PING = packed("PING")


async def test_replies_come_in_order_and_as_lists(redis: Connection) -> None:
    key = f"{redis.keys.prefix}:tasks"

    replies = await redis.ask(
        [packed("LPUSH", key, "a", "b"), packed("BRPOP", key, "1"), packed("LRANGE", key, "0", "-1"), PING]
    )

    assert replies == [2, [key, "a"], ["b"], "PONG"]


async def test_replies_keep_their_shape_whatever_protocol_the_url_asks_for(redis_url: str, keys: Keyspace) -> None:
    connection = Connection(f"{redis_url}?protocol=3", keys, Availability())

    replies = await connection.ask(
        [packed("LPUSH", keys.hint_lists[0], "a"), packed("BRPOP", keys.hint_lists[0], "1"), packed("GET", "absent")]
    )

    assert replies == [1, [keys.hint_lists[0], "a"], None]
    await connection.aclose()


async def test_a_blocking_command_may_block_longer_than_commands_and_the_urls_timeout(
    redis_url: str, keys: Keyspace
) -> None:
    connection = Connection(f"{redis_url}?socket_timeout=0.05&retry_on_timeout=true", keys, Availability())

    assert await connection.wait([packed("BRPOP", keys.hint_lists[0], "1.2")], within_seconds=2.2) == [None]

    await connection.aclose()


async def test_a_command_whose_reply_was_lost_is_not_repeated(
    through_proxy: Doorbell, proxy: FaultProxy, ask: Ask, keys: Keyspace
) -> None:
    await through_proxy.connection.probe()
    await ask("LPUSH", keys.hint_lists[0], "a", "b")
    proxy.forget()
    proxy.drop(Direction.REPLIES)

    with pytest.raises(RedisUnavailable):
        await through_proxy.connection.ask([packed("RPOP", keys.hint_lists[0])])

    await proxy.heal()
    assert await through_proxy.connection.ask([PING]) == ["PONG"]
    assert proxy.count(b"RPOP") == 1
    assert await ask("LRANGE", keys.hint_lists[0], "0", "-1") == ["b"]


async def test_a_cancelled_command_leaves_no_reply_to_the_next_one(through_proxy: Doorbell, proxy: FaultProxy) -> None:
    connection = through_proxy.connection
    await connection.probe()
    proxy.delay_seconds = 0.004
    for round_number in range(120):
        proxy.forget()
        cancelled = asyncio.create_task(connection.ask([packed("ECHO", f"cancelled-{round_number}")]))
        # Half of them are cancelled on the way there, half on the way back.
        direction = Direction.REQUESTS if round_number % 2 else Direction.REPLIES
        await proxy.passed(b"cancelled-", direction)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled

        assert await connection.ask([packed("ECHO", f"mine-{round_number}")]) == [f"mine-{round_number}"]


async def test_an_overdue_command_leaves_no_reply_to_the_next_one(through_proxy: Doorbell, proxy: FaultProxy) -> None:
    connection = through_proxy.connection
    await connection.probe()
    proxy.hold()

    with pytest.raises(RedisUnavailable, match="no answer"):
        await connection.ask([packed("ECHO", "late")], within_seconds=0.05)

    await proxy.heal()
    assert await connection.ask([packed("ECHO", "mine")]) == ["mine"]


async def test_an_answer_counts_that_came_while_the_loop_was_held_up(
    through_proxy: Doorbell, proxy: FaultProxy
) -> None:
    connection = through_proxy.connection
    await connection.probe()
    asking = asyncio.create_task(connection.ask([packed("ECHO", "there")], within_seconds=0.1))
    await proxy.passed(b"there")

    # As long as that it is waited for once more, and meanwhile the machine may stand still as well.
    time.sleep(1.1)

    assert await asking == ["there"]
    assert through_proxy.availability.available


async def test_a_connection_counts_that_was_made_while_the_loop_was_held_up(redis: Connection) -> None:
    asking = asyncio.create_task(redis.ask([packed("ECHO", "there")], within_seconds=30))
    asyncio.get_running_loop().call_soon(time.sleep, 1.2)

    assert await asking == ["there"]
    assert redis.availability.available


async def test_a_black_hole_is_noticed_within_the_deadline(through_proxy: Doorbell, proxy: FaultProxy) -> None:
    proxy.hold()

    with deadline_watch() as seconds:
        with pytest.raises(RedisUnavailable):
            await through_proxy.connection.probe()

        assert seconds() < 1.5
    assert not through_proxy.availability.available


@pytest.mark.parametrize("count", [1, 30, 31, 200])
async def test_replies_cut_short_are_unavailable(through_proxy: Doorbell, proxy: FaultProxy, count: int) -> None:
    await through_proxy.connection.probe()
    proxy.cut_after(Direction.REPLIES, count)

    with pytest.raises(RedisUnavailable):
        await through_proxy.connection.ask([packed("ECHO", "x" * 50)] * 10)


async def test_a_refused_connection_is_noticed_at_once_and_the_next_call_recovers(
    through_proxy: Doorbell, proxy: FaultProxy
) -> None:
    await through_proxy.connection.probe()
    await proxy.refuse()

    with stopwatch() as seconds:
        with pytest.raises(RedisUnavailable):
            await through_proxy.connection.probe()

        assert seconds() < 0.5
    await proxy.heal()
    await through_proxy.connection.probe()
    assert through_proxy.availability.available


async def test_a_restarted_server_is_found_by_the_first_call(server: OwnServer, own_doorbell: Doorbell) -> None:
    await own_doorbell.connection.probe()
    server.kill()
    await server.start()

    assert await own_doorbell.connection.ask([PING]) == ["PONG"]
    assert own_doorbell.availability.available


async def test_a_frozen_server_is_unavailable_and_a_thawed_one_available(
    server: OwnServer, own_doorbell: Doorbell
) -> None:
    await own_doorbell.connection.probe()
    server.freeze()

    with pytest.raises(RedisUnavailable):
        await own_doorbell.connection.probe()

    server.thaw()
    await own_doorbell.connection.probe()


async def test_a_server_that_answers_with_refusals_is_unavailable(server: OwnServer, own_doorbell: Doorbell) -> None:
    """Full, a replica, or without enough replicas: each says so in its own error."""
    admin = Connection(server.url, Keyspace("x"), Availability())
    troubles = [
        (["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"]),
        (["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]),
        (["CONFIG", "SET", "min-replicas-to-write", "1"], ["CONFIG", "SET", "min-replicas-to-write", "0"]),
    ]
    for break_it, mend_it in troubles:
        await own_doorbell.connection.probe()
        assert own_doorbell.availability.available

        await admin.ask([packed(*break_it)])
        with pytest.raises(RedisUnavailable):
            await own_doorbell.connection.probe()
        assert not own_doorbell.availability.available

        await admin.ask([packed(*mend_it)])
    await own_doorbell.connection.probe()
    await admin.aclose()


async def test_a_server_that_refuses_is_dialled_anew(own_doorbell: Doorbell, server: OwnServer) -> None:
    """After a failover the same name may lead to another server."""
    connection, who_am_i = own_doorbell.connection, packed("CLIENT", "ID")
    first = await connection.ask([who_am_i])
    assert await connection.ask([who_am_i]) == first
    await connection.ask([packed("REPLICAOF", "127.0.0.1", "1")])

    with pytest.raises(RedisUnavailable, match="ReadOnly"):
        await connection.probe()

    assert await connection.ask([who_am_i]) != first
    assert server.port


async def test_a_server_that_wants_a_password_is_unavailable(server: OwnServer, own_doorbell: Doorbell) -> None:
    await own_doorbell.connection.ask([packed("CONFIG", "SET", "requirepass", "secret")])
    await own_doorbell.connection.aclose()

    with pytest.raises(RedisUnavailable, match="Auth"):
        await own_doorbell.connection.probe()


async def test_one_refusal_among_many_replies_makes_all_of_them_void(redis: Connection) -> None:
    with pytest.raises(RedisUnavailable):
        await redis.ask([PING, packed("NO-SUCH-COMMAND"), PING])

    assert await redis.ask([PING]) == ["PONG"]


async def test_a_key_of_the_wrong_type_reads_as_absent(redis: Connection, ask: Ask) -> None:
    key = redis.keys.lock("d")
    await ask("SET", key, "x", "PX", "60000")

    assert await redis.ask([packed("LLEN", key), packed("GET", key)]) == [None, "x"]
    assert redis.availability.available


async def test_bytes_that_are_no_text_do_not_raise(redis: Connection, ask: Ask) -> None:
    key = redis.keys.hint_lists[0]
    await ask("EVAL", "return redis.call('LPUSH', KEYS[1], '\\255\\254')", "1", key)

    assert await redis.ask([packed("RPOP", key)]) == ["\ufffd\ufffd"]


async def test_many_callers_wait_for_a_connection_instead_of_failing(redis: Connection, ask: Ask) -> None:
    others = await command_lines(ask)

    replies = await asyncio.gather(
        *(redis.ask([packed("ECHO", str(number))], within_seconds=30) for number in range(500))
    )

    assert replies == [[str(number)] for number in range(500)]
    assert 0 < len(await command_lines(ask) - others) < 100


async def test_without_a_url_every_call_is_unavailable() -> None:
    connection = Connection("", Keyspace("x"), Availability(configured=False))

    with pytest.raises(RedisUnavailable, match="no Redis"):
        await connection.probe()
    with pytest.raises(RedisUnavailable, match="no Redis"):
        await connection.wait([PING], within_seconds=1)
    with pytest.raises(RedisUnavailable, match="no Redis"):
        connection.line()
    await connection.aclose()


def test_a_url_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="scheme"):
        open_pool("http://localhost", "x")


async def test_nothing_stays_connected_after_closing(server: OwnServer, own_doorbell: Doorbell) -> None:
    await asyncio.gather(*(own_doorbell.connection.ask([PING]) for _ in range(20)), own_doorbell.bells.take(1))

    await own_doorbell.connection.aclose()

    admin = Connection(server.url, Keyspace("x"), Availability())

    async def alone() -> bool:
        (clients,) = await admin.ask([packed("CLIENT", "LIST")])
        return isinstance(clients, str) and len(clients.splitlines()) == 1

    await eventually(alone)
    await admin.aclose()


async def command_lines(ask: Ask) -> set[str]:
    """Return the ids of all connections for commands; processes that other tests leave running have some as well."""
    clients = await ask("CLIENT", "LIST")
    assert isinstance(clients, str)
    return {line.split()[0] for line in clients.splitlines() if "name=officeplane-commands" in line}
