"""All chores: each does a round on an empty plane and says when the next is due."""

import pkgutil

import pytest

from tests.workbench import Workbench
from workers import maintenance
from workers.maintenance.all_chores import all_chores
from workers.maintenance.chore import Chore

NO_CHORES = {"all_chores", "chore", "leader"}


def name_of(chore: Chore) -> str:
    return chore.name


def test_every_file_of_the_folder_is_one_chore_of_that_name() -> None:
    files = {module.name for module in pkgutil.iter_modules(maintenance.__path__)} - NO_CHORES

    assert [chore.name for chore in all_chores()] == sorted(files)


@pytest.mark.parametrize("chore", all_chores(), ids=name_of)
async def test_a_round_on_an_empty_plane_finds_nothing_and_says_when_the_next_is_due(
    bench: Workbench, chore: Chore
) -> None:
    next_in_seconds = await chore.round(bench.worker, bench.runtime.settings)

    assert 0 < next_in_seconds <= 60
    assert await bench.rung() == []


@pytest.mark.parametrize("chore", all_chores(), ids=name_of)
async def test_two_leaders_at_once_do_no_harm(bench: Workbench, chore: Chore) -> None:
    running = await bench.a_running_task(document_id="contract")
    waiting = await bench.a_task(document_id="contract")
    other = bench.another_worker()

    for hands in (bench, other, bench, other):
        await chore.round(hands.worker, bench.runtime.settings)

    assert await bench.states(running, waiting) == ["RUNNING", "QUEUED"]
    await bench.complete(running)
    (following,) = await other.claim(waiting)
    assert following.id == waiting.id


@pytest.mark.parametrize("chore", [chore for chore in all_chores() if not chore.needs_redis], ids=name_of)
async def test_a_chore_that_needs_no_redis_does_without(bench: Workbench, chore: Chore) -> None:
    bench.runtime.doorbell.availability.lost(OSError("gone"))

    assert await chore.round(bench.worker, bench.runtime.settings) > 0
