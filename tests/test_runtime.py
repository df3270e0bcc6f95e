"""The composition root: what runs in which process."""

import asyncio

import pytest

from officeplane.config import Settings
from officeplane.runtime import open_runtime

LOOPS_OF_THE_API = {"Group.run", "LongPoll.listen", "LongPoll.poll", "Events.read"}


@pytest.mark.parametrize(("for_worker", "expected"), [(False, LOOPS_OF_THE_API), (True, set[str]())])
async def test_the_loops_of_the_api_run_in_the_api_alone(
    database_url: str, redis_url: str, *, for_worker: bool, expected: set[str]
) -> None:
    settings = Settings(database_url=database_url, redis_url=redis_url)
    before = asyncio.all_tasks()

    async with open_runtime(settings, for_worker=for_worker):
        running = [repr(task.get_coro()) for task in asyncio.all_tasks() - before]

    assert {name for name in LOOPS_OF_THE_API if any(f" {name} " in loop for loop in running)} == expected
