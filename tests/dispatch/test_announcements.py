import asyncio

import pytest
from structlog.testing import capture_logs

from officeplane.config import Settings
from officeplane.dispatch import Announcement, Doorbell, Keyspace, Listener, Reconnected, open_doorbell
from officeplane.dispatch.commands import packed
from tests.dispatch.fixtures import Ask, an_id, some_ids
from tests.dispatch.own_server import OwnServer
from tests.fault_proxy import FaultProxy
from tests.support import deadline_watch, eventually


async def listening(listener: Listener) -> None:
    """Return once the listener hears everything from now on."""
    assert isinstance(await asyncio.wait_for(anext(listener), 20), Reconnected)


async def hear(listener: Listener) -> Announcement | Reconnected:
    return await asyncio.wait_for(anext(listener), 20)


async def connections(doorbell: Doorbell) -> int:
    (reply,) = await doorbell.connection.ask([packed("CLIENT", "LIST", "TYPE", "pubsub")])
    return len(str(reply).splitlines())


async def test_what_is_announced_is_heard_in_order_by_all(doorbell: Doorbell) -> None:
    first, second = some_ids(400), some_ids(1)
    announcements = doorbell.announcements
    async with announcements.listen_events() as one, announcements.listen_events() as other:
        await asyncio.gather(listening(one), listening(other))

        assert await announcements.announce("finished", first)
        assert await announcements.announce("queued", second)

        for listener in (one, other):
            assert await hear(listener) == Announcement(kind="finished", ids=tuple(first))
            assert await hear(listener) == Announcement(kind="queued", ids=tuple(second))


async def test_the_channels_do_not_mix(doorbell: Doorbell) -> None:
    stopped, finished = some_ids(2)
    announcements = doorbell.announcements
    async with announcements.listen_events() as events, announcements.listen_control() as control:
        await asyncio.gather(listening(events), listening(control))

        await announcements.request_stop([stopped])
        await announcements.announce("finished", [finished])

        assert await hear(events) == Announcement(kind="finished", ids=(finished,))
        assert await hear(control) == Announcement(kind="stop", ids=(stopped,))


async def test_garbage_on_a_channel_is_skipped(doorbell: Doorbell, ask: Ask, keys: Keyspace) -> None:
    async with doorbell.announcements.listen_events() as listener:
        await listening(listener)
        with capture_logs() as logs:
            for text in ("", "null", "{", '{"kind":1,"ids":[]}', '{"kind":"x","ids":"y"}', '["message"]'):
                await ask("PUBLISH", keys.events, text)
            await doorbell.announcements.announce("finished", ["x"])

            assert await hear(listener) == Announcement(kind="finished", ids=("x",))

    assert [entry["event"] for entry in logs] == ["announcement.garbage"] * 6


async def test_a_cut_is_reported_as_a_gap(through_proxy: Doorbell, proxy: FaultProxy, doorbell: Doorbell) -> None:
    async with through_proxy.announcements.listen_events() as listener:
        await listening(listener)
        await doorbell.announcements.announce("finished", ["before"])
        assert await hear(listener) == Announcement(kind="finished", ids=("before",))

        proxy.cut()

        assert isinstance(await hear(listener), Reconnected)
        await doorbell.announcements.announce("finished", ["after"])
        assert await hear(listener) == Announcement(kind="finished", ids=("after",))


async def test_a_silent_connection_is_found_and_replaced(
    through_proxy: Doorbell, proxy: FaultProxy, keys: Keyspace
) -> None:
    async with Listener(through_proxy.connection, keys.events, quiet_seconds=0.05) as listener:
        await listening(listener)
        # Before it asks for the first time: from here on nothing can be answered.
        proxy.hold()
        accepted = proxy.connections_accepted
        hearing = asyncio.create_task(hear(listener))
        await proxy.passed(b"PING")
        await eventually(lambda: proxy.connections_accepted > accepted)
        await proxy.heal()

        assert isinstance(await hearing, Reconnected)


async def test_quiet_alone_is_no_gap(
    through_proxy: Doorbell, proxy: FaultProxy, doorbell: Doorbell, keys: Keyspace
) -> None:
    # An answer that takes longer than this would be a gap.
    async with Listener(through_proxy.connection, keys.events, quiet_seconds=0.5) as listener:
        await listening(listener)
        hearing = asyncio.create_task(hear(listener))
        await eventually(lambda: proxy.count(b"PING") >= 3)

        await doorbell.announcements.announce("finished", ["x"])

        assert await hearing == Announcement(kind="finished", ids=("x",))


async def test_a_listener_may_start_before_redis_does(server: OwnServer, own_doorbell: Doorbell) -> None:
    server.kill()
    async with own_doorbell.announcements.listen_events() as listener:
        hearing = asyncio.create_task(hear(listener))
        await asyncio.sleep(0)

        await server.start()

        assert isinstance(await hearing, Reconnected)


async def test_a_listener_survives_a_restart(server: OwnServer, own_doorbell: Doorbell) -> None:
    async with own_doorbell.announcements.listen_events() as listener:
        await listening(listener)
        server.kill()
        await server.start()

        assert isinstance(await hear(listener), Reconnected)


async def test_a_cancelled_listener_leaves_no_connection(own_doorbell: Doorbell) -> None:
    listener = own_doorbell.announcements.listen_events()
    await listening(listener)
    assert await connections(own_doorbell) == 1
    hearing = asyncio.create_task(hear(listener))
    await asyncio.sleep(0)

    hearing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing

    async def gone() -> bool:
        return await connections(own_doorbell) == 0

    await eventually(gone)


async def test_closing_ends_an_iteration_under_way(own_doorbell: Doorbell) -> None:
    async def read_on(listener: Listener) -> list[Announcement | Reconnected]:
        return [heard async for heard in listener]

    listener = own_doorbell.announcements.listen_events()
    await listening(listener)
    reading = asyncio.create_task(read_on(listener))
    await asyncio.sleep(0)

    await own_doorbell.announcements.aclose()

    assert await asyncio.wait_for(reading, 20) == []


@pytest.mark.usefixtures("in_a_hurry")
async def test_announcing_into_a_black_hole_is_over_in_200_milliseconds(
    through_proxy: Doorbell, proxy: FaultProxy
) -> None:
    proxy.hold()

    with deadline_watch() as seconds:
        assert not await through_proxy.announcements.announce("finished", [an_id()])
        assert not await through_proxy.announcements.request_stop([an_id()])

        assert seconds() < 0.35


async def test_announcing_nothing_does_nothing(own_doorbell: Doorbell, server: OwnServer) -> None:
    server.kill()

    assert await own_doorbell.announcements.announce("finished", [])


async def test_without_a_url_nothing_is_heard_until_closed() -> None:
    async with open_doorbell(Settings()) as silent:
        listener = silent.announcements.listen_control()
        hearing = asyncio.create_task(anext(listener, None))
        await asyncio.sleep(0)
        assert not await silent.announcements.announce("finished", [an_id()])
        assert not hearing.done()

        await silent.announcements.aclose()

        assert await hearing is None
