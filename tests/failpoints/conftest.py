"""The sweep: all cases at once, as many as there are sites, while the tests wait for theirs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import NewDatabase
from tests.failpoints.cases import Case
from tests.failpoints.crashes import run_case
from tests.failpoints.forks import forks
from tests.failpoints.site import Site, open_site

SITES: Final = 10


class Sweep:
    """Cases under way, and how they went."""

    def __init__(self, cases: list[Case], folder: Path) -> None:
        self._left = cases[::-1]
        self._folder = folder
        self._done: dict[Case, asyncio.Future[None]] = {
            case: asyncio.get_running_loop().create_future() for case in cases
        }

    async def done(self, case: Case) -> None:
        """Return once a case went well, or raise what went wrong."""
        await self._done[case]

    async def work(self, site: Site) -> None:
        """Take one case after the other to a site."""
        while self._left:
            case = self._left.pop()
            try:
                await run_case(site, case, self._folder / f"{case.name}-{case.action}")
            except Exception as error:  # noqa: BLE001 - it is the case's own test that fails
                self._done[case].set_exception(error)
            else:
                self._done[case].set_result(None)


@pytest.fixture(scope="session")
async def sweep(
    request: pytest.FixtureRequest,
    new_database: NewDatabase,
    redis_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Sweep]:
    """Begin with every case that was asked for."""
    asked = [item for item in request.session.items if isinstance(item, pytest.Function)]
    given = [item.callspec.params["case"] for item in asked if "sweep" in item.fixturenames]
    wanted = [case for case in given if isinstance(case, Case)]
    folder = tmp_path_factory.mktemp("sweep")
    made = Sweep(wanted, folder)
    async with AsyncExitStack() as leaving:
        ordering = await leaving.enter_async_context(forks(folder))
        sites = [
            await leaving.enter_async_context(open_site(await new_database(), redis_url, ordering))
            for _ in range(min(SITES, len(wanted)))
        ]
        working = [asyncio.create_task(made.work(site)) for site in sites]
        yield made
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
