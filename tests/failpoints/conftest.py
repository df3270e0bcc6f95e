"""The sweep: as many cases at once as there are sites, while the tests wait for theirs."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

import pytest

from tests.conftest import NewDatabase
from tests.failpoints.cases import Case
from tests.failpoints.crashes import run_case
from tests.failpoints.lookahead import LaneCase, run_lane_case
from tests.failpoints.site import Site, open_site
from tests.forks import Forks

# A crash is mostly waited for, a lane of edits is mostly worked on.
SITES: Final = 10
LANE_SITES: Final = 3


class _Named(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def action(self) -> str: ...


C = TypeVar("C", bound=_Named)
Run = Callable[[Site, C, Path], Awaitable[None]]


class Sweep(Generic[C]):
    """Cases under way, and how they went."""

    def __init__(self, cases: Sequence[C], run: Run[C], folder: Path) -> None:
        self._left = [*reversed(cases)]
        self._run = run
        self._folder = folder
        self._done: dict[C, asyncio.Future[None]] = {case: asyncio.get_running_loop().create_future() for case in cases}

    async def done(self, case: C) -> None:
        """Return once a case went well, or raise what went wrong."""
        await self._done[case]

    async def work(self, site: Site) -> None:
        """Take one case after the other to a site."""
        while self._left:
            case = self._left.pop()
            try:
                await self._run(site, case, self._folder / f"{case.name}-{case.action}")
            except Exception as error:  # noqa: BLE001 - it is the case's own test that fails
                self._done[case].set_exception(error)
            else:
                self._done[case].set_result(None)


@asynccontextmanager
async def swept(
    cases: Sequence[C],
    run: Run[C],
    folder: Path,
    new_database: NewDatabase,
    redis_url: str,
    forks: Forks,
    *,
    sites: int,
) -> AsyncGenerator[Sweep[C], None]:
    """Begin with all of these cases."""
    made = Sweep(cases, run, folder)
    async with AsyncExitStack() as leaving:
        opened = [
            await leaving.enter_async_context(open_site(await new_database(), redis_url, forks))
            for _ in range(min(sites, len(cases)))
        ]
        working = [asyncio.create_task(made.work(site)) for site in opened]
        yield made
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)


def asked_for(request: pytest.FixtureRequest, kind: type[C], fixture: str) -> list[C]:
    """Return the cases of the tests that are to be run with this fixture."""
    asked = [item for item in request.session.items if isinstance(item, pytest.Function)]
    given = [item.callspec.params["case"] for item in asked if fixture in item.fixturenames]
    return [case for case in given if isinstance(case, kind)]


@pytest.fixture(scope="session")
async def sweep(
    request: pytest.FixtureRequest,
    new_database: NewDatabase,
    redis_url: str,
    forks: Forks,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Sweep[Case]]:
    """Begin with every case that was asked for."""
    wanted = asked_for(request, Case, "sweep")
    async with swept(
        wanted, run_case, tmp_path_factory.mktemp("sweep"), new_database, redis_url, forks, sites=SITES
    ) as made:
        yield made


@pytest.fixture(scope="module")
async def lane_sweep(
    request: pytest.FixtureRequest,
    new_database: NewDatabase,
    redis_url: str,
    forks: Forks,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Sweep[LaneCase]]:
    """Begin with every lane of edits that was asked for."""
    wanted = asked_for(request, LaneCase, "lane_sweep")
    async with swept(
        wanted, run_lane_case, tmp_path_factory.mktemp("lanes"), new_database, redis_url, forks, sites=LANE_SITES
    ) as made:
        yield made
