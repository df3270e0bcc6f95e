"""Grouping: what arrives while one round trip is under way goes with the next."""

import asyncio
from collections.abc import Sequence

import pytest

from officeplane.grouping import Group, background


class Flushes:
    """A flush that answers when it is let, and remembers what it was given."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.begun = asyncio.Event()

    async def __call__(self, items: Sequence[int]) -> Sequence[int | Exception]:
        self.groups.append(list(items))
        self.begun.set()
        await self.open.wait()
        return [ValueError(item) if item < 0 else 10 * item for item in items]


async def test_what_arrives_together_goes_together() -> None:
    flush = Flushes()
    group = Group[int, int](flush, limit=100)
    async with background(group.run):
        assert await asyncio.gather(*map(group.add, range(5))) == [0, 10, 20, 30, 40]

    assert flush.groups == [[0, 1, 2, 3, 4]]


async def test_what_arrives_during_a_flush_goes_with_the_next_and_no_more_than_the_limit() -> None:
    flush = Flushes()
    flush.open.clear()
    group = Group[int, int](flush, limit=3)
    async with background(group.run):
        first = asyncio.create_task(group.add(0))
        await flush.begun.wait()
        others = [asyncio.create_task(group.add(number)) for number in range(1, 6)]
        await asyncio.sleep(0)
        flush.open.set()

        assert await asyncio.gather(first, *others) == [0, 10, 20, 30, 40, 50]

    assert flush.groups == [[0], [1, 2, 3], [4, 5]]


async def test_each_caller_gets_its_own_refusal() -> None:
    group = Group[int, int](Flushes(), limit=100)
    async with background(group.run):
        answers = await asyncio.gather(*map(group.add, [1, -2, 3]), return_exceptions=True)

    assert [str(answer) for answer in answers] == ["10", "-2", "30"]
    assert isinstance(answers[1], ValueError)


async def test_what_breaks_a_flush_reaches_every_caller_and_not_the_next_group() -> None:
    async def flush(items: Sequence[int]) -> Sequence[int | Exception]:
        if 0 in items:
            raise LookupError("broken")
        return list(items)

    group = Group[int, int](flush, limit=100)
    async with background(group.run):
        answers = await asyncio.gather(group.add(0), group.add(1), return_exceptions=True)
        assert [type(answer) for answer in answers] == [LookupError, LookupError]

        assert await group.add(7) == 7


async def test_callers_left_when_the_group_ends_are_not_left_waiting() -> None:
    """One is in the flush that is cut short, the other has not been sent."""
    flush = Flushes()
    flush.open.clear()
    group = Group[int, int](flush, limit=100)
    async with background(group.run):
        sent = asyncio.create_task(group.add(1))
        await flush.begun.wait()
        unsent = asyncio.create_task(group.add(2))
        await asyncio.sleep(0)

    done, _ = await asyncio.wait([sent, unsent], timeout=20)
    assert done == {sent, unsent}


async def test_what_the_block_raises_reaches_its_caller_as_it_is() -> None:
    async def endless() -> None:
        await asyncio.Event().wait()

    with pytest.raises(LookupError):
        async with background(endless, endless):
            raise LookupError


async def test_a_loop_that_fails_ends_the_block() -> None:
    async def failing() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        async with background(failing):
            await asyncio.Event().wait()
