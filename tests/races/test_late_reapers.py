"""Reapers that come too late: what they read as lapsed has moved on, and they leave it alone."""

from tests.races.actions import COMPLETE, REAP
from tests.races.arena import Arena, Gate
from tests.races.scenes import lapsed


async def test_a_reaper_that_comes_too_late_calls_no_attempt_fenced_that_ended_well(arena: Arena) -> None:
    await arena.clear()
    wave = await lapsed("first").arrange(arena, 1)

    await arena.race(wave, (COMPLETE, REAP), Gate.ROW, ahead="first")

    assert await arena.standing(wave) == ["COMPLETED of first"]
    assert await arena.counted() == {"completed": 1}
