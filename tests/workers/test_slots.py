import asyncio

from workers.slots import Slots


async def test_no_more_slots_are_given_than_there_are() -> None:
    slots = Slots(3)

    assert await slots.reserve(500) == 3


async def test_no_more_slots_are_given_than_were_asked_for() -> None:
    slots = Slots(3)

    assert await slots.reserve(2) == 2
    assert await slots.reserve(2) == 1


async def test_who_finds_none_free_gets_the_first_that_is_given_back() -> None:
    slots = Slots(2)
    await slots.reserve(2)
    waiting = asyncio.create_task(slots.reserve(2))
    await asyncio.sleep(0)
    assert not waiting.done()

    slots.release()

    assert await waiting == 1


async def test_each_slot_given_back_serves_one_who_waits() -> None:
    slots = Slots(1)
    await slots.reserve(1)
    waiting = {asyncio.create_task(slots.reserve(1)) for _ in range(3)}

    for left in (2, 1, 0):
        slots.release()
        served, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        assert len(served) == 1
        assert len(waiting) == left


async def test_closed_slots_are_given_to_nobody_and_wake_who_waits() -> None:
    slots = Slots(1)
    await slots.reserve(1)
    waiting = asyncio.create_task(slots.reserve(1))
    await asyncio.sleep(0)

    slots.close()

    assert await waiting == 0
    slots.release()
    assert await slots.reserve(1) == 0
