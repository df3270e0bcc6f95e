"""Races: two actions at one task, in every order that locks allow; only what the table allows may come of it."""

import os
from itertools import combinations_with_replacement, cycle, product
from typing import Final

import pytest

from tests.races.actions import NAMED, REAP
from tests.races.arena import WAVE, Arena, Gate, Who
from tests.races.table import RACES, Outcome, Race

ROUNDS: Final = int(os.environ.get("PROVE_ROUNDS", "30"))
_ORDERS: Final[tuple[Who, Who]] = ("first", "second")


def test_every_pair_of_actions_is_raced() -> None:
    raced = {frozenset((race.first.name, race.second.name)) for race in RACES}

    wanted = {frozenset((one.name, other.name)) for one, other in combinations_with_replacement(NAMED, 2)}
    assert wanted <= raced
    assert len({race.name for race in RACES}) == len(RACES)


@pytest.mark.timeout(180 + ROUNDS)
@pytest.mark.parametrize("race", RACES, ids=[race.name for race in RACES])
async def test_whoever_comes_first_the_outcome_is_one_of_those_allowed(arena: Arena, race: Race) -> None:
    seen: dict[Outcome, int] = {}
    ways = list(product(race.gates, _ORDERS))
    size = min(WAVE, -(-ROUNDS // len(ways)))
    for (gate, ahead), _ in zip(cycle(ways), range(0, ROUNDS, size), strict=False):
        for outcome in await _wave(arena, race, size, gate, ahead):
            seen[outcome] = seen.get(outcome, 0) + 1

    assert set(seen) <= race.allowed, seen


async def _wave(arena: Arena, race: Race, number: int, gate: Gate, ahead: Who) -> list[Outcome]:
    await arena.clear()
    wave = await race.scene.arrange(arena, number)
    got = await arena.race(wave, (race.first, race.second), gate, ahead)
    outcomes = [Outcome(*one) for one in zip(await arena.standing(wave), *got, strict=True)]
    if race.first is REAP and race.second is REAP:
        assert arena.reaped == number
    await arena.finish(wave)
    await arena.check(wave)
    return outcomes
